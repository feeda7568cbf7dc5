#include "collector/nvtx/annotations.h"

#include <cstring>

#include "collector/preload/record/call.h"

namespace lastref::nvtx {
namespace {

using hooks::abi;

constexpr std::uint64_t schema = nvtx::abi::first_static_schema + 0x1a57;

struct annotation {
    std::uint32_t version;
    std::uint32_t kind;
    std::uint64_t queue;
    std::uint64_t object;
    std::uint64_t value[3];
};
static_assert(sizeof(annotation) == 48);

constexpr char const* const kinds[] = {
    "recipe",  "enqueue", "schedule",      "schedule_result", "drain_begin", "clean",    "drain_end",
    "decline", "stop",    "intended_leak", "adopt",           "owner_begin", "owner_end"};
constexpr std::uint32_t kind_count = sizeof kinds / sizeof kinds[0];
static_assert(static_cast<std::uint32_t>(abi::annotation_owner_end) -
                  static_cast<std::uint32_t>(abi::annotation_recipe) + 1 ==
              kind_count);

bool is_of_queue(std::uint32_t kind) {
    return kind >= 2 && kind <= 9;
}

template <abi id>
void record(annotation const& said, void* frame, void* caller) {
    constexpr preload::call_traits traits = preload::traits_of(id);
    preload::recorded_call call = preload::recorded_call::enter<traits>();
    if (!call.recording()) return;
    call.leave<traits>(0, frame, caller, [&](spool::call_record& r) {
        r.object = is_of_queue(said.kind) ? said.queue : said.object;
        r.other = is_of_queue(said.kind) ? said.object : said.value[1];
        r.stream = is_of_queue(said.kind) ? 0 : said.value[0];
        r.size = is_of_queue(said.kind) ? said.value[0] : 0;
        r.extra = is_of_queue(said.kind) ? 0 : said.value[2];
    });
}

using recorder = void (*)(annotation const&, void*, void*);
constexpr recorder recorders[] = {
    record<abi::annotation_recipe>,          record<abi::annotation_enqueue>,     record<abi::annotation_schedule>,
    record<abi::annotation_schedule_result>, record<abi::annotation_drain_begin>, record<abi::annotation_clean>,
    record<abi::annotation_drain_end>,       record<abi::annotation_decline>,     record<abi::annotation_stop>,
    record<abi::annotation_intended_leak>,   record<abi::annotation_adopt>,       record<abi::annotation_owner_begin>,
    record<abi::annotation_owner_end>};
static_assert(sizeof recorders / sizeof recorders[0] == kind_count);

// The extended payload; false if it is none of ours.
bool from_payload(nvtx::abi::event_attributes const& attributes, annotation& said) {
    if (attributes.payload_type != nvtx::abi::payload_extended || attributes.payloads < 1) return false;
    if (attributes.payload < 4096 || attributes.payload % alignof(nvtx::abi::payload_data) != 0) return false;
    nvtx::abi::payload_data data;
    memcpy(&data, reinterpret_cast<void const*>(attributes.payload), sizeof data);
    if (data.schema != schema || data.size != sizeof said || data.payload == nullptr) return false;
    memcpy(&said, data.payload, sizeof said);
    return said.version == 1 && said.kind >= 1 && said.kind <= kind_count;
}

// --- as text: "recipe object=0x7f00 stream=2 context=0x55", from languages without binary payloads
// -----------------------

struct words {
    char const* at;
    char const* end;

    text next() {
        while (at != end && *at == ' ') ++at;
        char const* const begin = at;
        while (at != end && *at != ' ') ++at;
        return {begin, static_cast<std::size_t>(at - begin)};
    }
};

bool is(text const& word, char const* name) {
    return word.length == strlen(name) && memcmp(word.bytes, name, word.length) == 0;
}

bool number_of(text const& word, std::uint64_t& number) {
    bool const hexadecimal = word.length > 2 && word.bytes[0] == '0' && (word.bytes[1] | 0x20) == 'x';
    std::uint64_t const base = hexadecimal ? 16 : 10;
    number = 0;
    for (std::size_t i = hexadecimal ? 2 : 0; i < word.length; ++i) {
        char const c = word.bytes[i];
        char const lower = static_cast<char>(c | 0x20);
        std::uint64_t digit = base;
        if (c >= '0' && c <= '9') digit = static_cast<std::uint64_t>(c - '0');
        if (hexadecimal && lower >= 'a' && lower <= 'f') digit = static_cast<std::uint64_t>(lower - 'a') + 10;
        if (digit >= base || number > (~std::uint64_t{0} - digit) / base) return false;
        number = number * base + digit;
    }
    return word.length != 0;
}

// "key=value"; false for an unknown key or no number.
bool take_field(text const& word, annotation& said) {
    auto const* const equals = static_cast<char const*>(memchr(word.bytes, '=', word.length));
    if (equals == nullptr) return false;
    text const key{word.bytes, static_cast<std::size_t>(equals - word.bytes)};
    text const value{equals + 1, word.length - key.length - 1};
    bool const queue = is_of_queue(said.kind);
    std::uint64_t* to = nullptr;
    if (is(key, "object") || is(key, queue ? "item" : "pointer")) to = &said.object;
    if (queue && is(key, "queue")) to = &said.queue;
    if (queue && (is(key, "accepted") || is(key, "items"))) to = &said.value[0];
    if (!queue && is(key, "stream")) to = &said.value[0];
    if (!queue && is(key, "context")) to = &said.value[1];
    if (!queue && is(key, "ordering")) to = &said.value[2];
    return to != nullptr && number_of(value, *to);
}

bool take_number(nvtx::abi::event_attributes const& attributes, annotation& said) {
    switch (attributes.payload_type) {
        case nvtx::abi::no_payload:
            return true;
        case nvtx::abi::payload_u64:
        case nvtx::abi::payload_i64:
            said.object = attributes.payload;
            return true;
        case nvtx::abi::payload_u32:
        case nvtx::abi::payload_i32:
            said.object = static_cast<std::uint32_t>(attributes.payload);
            return true;
        default:
            return false;
    }
}

bool from_text(nvtx::abi::event_attributes const& attributes, text const& message, annotation& said) {
    if (message.bytes == nullptr) return false;
    words rest{message.bytes, message.bytes + message.length};
    text const name = rest.next();
    said = {1, 0, 0, 0, {0, 0, 0}};
    for (std::uint32_t i = 0; i < kind_count; ++i)
        if (is(name, kinds[i])) said.kind = i + 1;
    if (said.kind == 0 || !take_number(attributes, said)) return false;
    for (text word = rest.next(); word.length != 0; word = rest.next())
        if (!take_field(word, said)) return false;
    return !is_of_queue(said.kind) || said.queue != 0;
}

}  // namespace

void annotate(nvtx::abi::event_attributes const& attributes, text const& message, void* frame, void* caller) {
    annotation said;
    if (from_payload(attributes, said) || from_text(attributes, message, said))
        return recorders[said.kind - 1](said, frame, caller);
    if (preload::rings::acquire() != nullptr) preload::process::count(spool::loss::annotations_unknown);
}

}  // namespace lastref::nvtx
