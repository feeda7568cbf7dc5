// Speaks the annotation protocol of docs/annotations.md: the NVTX domain `lastref`.
//
//     queue.emplace(waker, annotator::attach());
//
// Needs the headers of NVTX 3 and -ldl. When no tool listens, attach() returns null, and nothing is ever called.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>

#include "lastref/reference/deallocation_recipe.h"
#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/queue_observer.h"

namespace lastref::reference {

// The binary payload of every mark. Layout and numbers never change; a later version only adds kinds, or has another
// schema.
struct annotation {
    static constexpr std::uint64_t schema = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 0x1a57;
    enum kinds : std::uint32_t {
        recipe = 1,
        enqueue,
        schedule,
        schedule_result,
        drain_begin,
        clean,
        drain_end,
        decline,
        stop,
        intended_leak,
        adopt,
        owner_begin,
        owner_end,
    };
    static constexpr std::size_t kind_count = 13;

    std::uint32_t version;  // 1
    std::uint32_t kind;
    std::uint64_t queue;   // its address, 0 where no queue is concerned
    std::uint64_t object;  // device pointer, item, or handle
    std::uint64_t value[3];
};
static_assert(sizeof(annotation) == 48);

// Ownership   Never destroyed.
// Threads     Any. What a listening tool does in a mark is the tool's affair: under the rules of CUDA's callback it
// must neither wait
//             nor call CUDA.
class annotator final : public queue_observer, public recipe_observer {
  public:
    // The annotator, or null when no tool listens. From now on recipes are annotated too.
    static annotator* attach() {
        static annotator* const made = make();
        return made;
    }

    // What the program means never to free: reported as intended.
    static void intend_leak(std::uint64_t object) {
        if (auto* const made = attach()) made->mark(annotation::intended_leak, 0, object);
    }

    // A pointer that was allocated elsewhere, with the stream and context that its new owner knows.
    static void adopted(std::uint64_t pointer, std::uint64_t stream, std::uint64_t context) {
        if (auto* const made = attach()) made->mark(annotation::adopt, 0, pointer, stream, context);
    }

    // What this thread does in between is done for `owner`, a number of the program's own.
    static void owner_begins(std::uint64_t owner) {
        if (auto* const made = attach()) made->mark(annotation::owner_begin, 0, owner);
    }
    static void owner_ends(std::uint64_t owner) {
        if (auto* const made = attach()) made->mark(annotation::owner_end, 0, owner);
    }

    void captured(device_pointer pointer, any_recipe const& recipe) noexcept override {
        mark(annotation::recipe, 0, pointer, reinterpret_cast<std::uintptr_t>(stream_of(recipe)),
             reinterpret_cast<std::uintptr_t>(context_of(recipe)), order_of(recipe) == ordering::exact ? 0 : 1);
    }

    void enqueued(deferred_cleanup_queue const& queue, cleanup_item const* item) noexcept override {
        mark(annotation::enqueue, name_of(queue), reinterpret_cast<std::uintptr_t>(item));
    }
    void schedule_begin(deferred_cleanup_queue const& queue) noexcept override {
        mark(annotation::schedule, name_of(queue));
    }
    void schedule_end(deferred_cleanup_queue const& queue, bool accepted) noexcept override {
        mark(annotation::schedule_result, name_of(queue), 0, accepted);
    }
    void drain_begin(deferred_cleanup_queue const& queue) noexcept override {
        mark(annotation::drain_begin, name_of(queue));
    }
    void cleaning(deferred_cleanup_queue const& queue, cleanup_item const* item) noexcept override {
        mark(annotation::clean, name_of(queue), reinterpret_cast<std::uintptr_t>(item));
    }
    void drain_end(deferred_cleanup_queue const& queue, std::size_t cleaned) noexcept override {
        mark(annotation::drain_end, name_of(queue), 0, cleaned);
    }
    void declined(deferred_cleanup_queue const& queue) noexcept override { mark(annotation::decline, name_of(queue)); }
    void stopped(deferred_cleanup_queue const& queue) noexcept override { mark(annotation::stop, name_of(queue)); }

  private:
    // NVTX gives no domain where no tool is loaded.
    static annotator* make() {
        auto const domain = nvtxDomainCreateA("lastref");
        if (!domain) return nullptr;
        auto* const made = new annotator(domain);
        recipe_observer_in_use.store(made, std::memory_order_release);
        return made;
    }

    explicit annotator(nvtxDomainHandle_t domain) : domain_(domain) {
        register_schema();
        char const* const names[annotation::kind_count] = {
            "recipe",  "enqueue", "schedule",      "schedule_result", "drain_begin", "clean",    "drain_end",
            "decline", "stop",    "intended_leak", "adopt",           "owner_begin", "owner_end"};
        for (std::size_t i = 0; i < annotation::kind_count; ++i)
            names_[i] = nvtxDomainRegisterStringA(domain, names[i]);
    }

    // For tools that show payloads of domains that they do not know.
    void register_schema() {
        auto const entry = [](std::uint64_t type, char const* name) {
            return nvtxPayloadSchemaEntry_t{0, type, name, nullptr, 0, 0, nullptr, nullptr};
        };
        nvtxPayloadSchemaEntry_t const entries[] = {
            entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "version"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "kind"),
            entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "queue"),   entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "object"),
            entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "value 0"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "value 1"),
            entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "value 2")};
        nvtxPayloadSchemaAttr_t attributes{};
        attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
        attributes.name = "lastref.annotation.v1";
        attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
        attributes.entries = entries;
        attributes.numEntries = sizeof entries / sizeof entries[0];
        attributes.payloadStaticSize = sizeof(annotation);
        attributes.schemaId = annotation::schema;
        nvtxPayloadSchemaRegister(domain_, &attributes);
    }

    static std::uint64_t name_of(deferred_cleanup_queue const& queue) noexcept {
        return reinterpret_cast<std::uintptr_t>(&queue);
    }

    void mark(annotation::kinds kind, std::uint64_t queue, std::uint64_t object = 0, std::uint64_t first = 0,
              std::uint64_t second = 0, std::uint64_t third = 0) const noexcept {
        annotation const said{1, kind, queue, object, {first, second, third}};
        nvtxPayloadData_t const data{annotation::schema, sizeof said, &said};
        nvtxEventAttributes_t attributes{};
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        attributes.message.registered = names_[kind - 1];
        attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        attributes.reserved0 = 1;  // one payload
        attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
        nvtxDomainMarkEx(domain_, &attributes);
    }

    nvtxDomainHandle_t const domain_;
    nvtxStringHandle_t names_[annotation::kind_count];
};

}  // namespace lastref::reference
