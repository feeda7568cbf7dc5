// Says through NVTX all that can be said, beside a few driver calls: `nvtx PART`.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "lastref/reference/nvtx/annotator.h"
#include "tests/workloads/common/facts.h"

namespace {

using lastref::workload::fact;
using lastref::workload::use_first_device;

nvtxEventAttributes_t said(char const* message) {
    nvtxEventAttributes_t out{};
    out.version = NVTX_VERSION;
    out.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    out.messageType = NVTX_MESSAGE_TYPE_ASCII;
    out.message.ascii = message;
    return out;
}

nvtxEventAttributes_t said(nvtxStringHandle_t message) {
    auto out = said("");
    out.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    out.message.registered = message;
    return out;
}

void allocate_and_free() {
    CUdeviceptr memory = 0;
    MUST(cuMemAlloc(&memory, 4096));
    MUST(cuMemFree(memory));
}

// Ranges that are open before the first driver call, ranges that nest, and a range that another thread ends.
void ranges() {
    nvtxRangePushA("closed before");
    nvtxRangePop();
    nvtxMarkA("before recording");
    fact("level of the first", nvtxRangePushA("warm-up"), 0);
    auto const early = nvtxRangeStartA("early");
    auto const context = use_first_device();
    allocate_and_free();
    fact("level of the second", nvtxRangePushA("inner"), 1);
    allocate_and_free();
    fact("level after it", nvtxRangePop(), 1);
    fact("level after the first", nvtxRangePop(), 0);
    fact("nothing left", nvtxRangePop() < 0, 1);
    nvtxRangeEnd(early);
    auto const across = nvtxRangeStartW(L"wide \u00e9\u4e2d");
    std::thread([across, context] {
        MUST(cuCtxSetCurrent(context));
        nvtxRangePushA("on the thread");
        allocate_and_free();
        nvtxRangeEnd(across);
        nvtxRangePop();
    }).join();
    nvtxRangePushA("never popped");
}

void leave_contexts() {
    auto const first = use_first_device();
    CUcontext made = nullptr;
    CUdevice device = 0;
    MUST(cuDeviceGet(&device, 0));
    MUST(cuCtxCreate(&made, nullptr, 0, device));
    MUST(cuCtxSetCurrent(first));
    nvtxRangePushA("leaves another");
    MUST(cuCtxSetCurrent(made));
    nvtxRangePop();
    nvtxRangePushA("restores");
    MUST(cuCtxSetCurrent(first));
    MUST(cuCtxSetCurrent(made));
    nvtxRangePop();
    MUST(cuCtxDestroy(made));
}

void domains() {
    use_first_device();
    auto const domain = nvtxDomainCreateA("trainer");
    fact("a domain is made once", nvtxDomainCreateA("trainer") == domain, 1);
    auto const name = nvtxDomainRegisterStringA(domain, "registered");
    nvtxDomainNameCategoryA(domain, 7, "memory");
    nvtxNameCategoryA(7, "of the default domain");
    auto attributes = said(name);
    attributes.category = 7;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = -5;
    fact("level in the domain", nvtxDomainRangePushEx(domain, &attributes), 0);
    fact("level in the default one", nvtxRangePushA("default"), 0);
    allocate_and_free();
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    attributes.category = 8;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    attributes.payload.fValue = 0.5f;
    nvtxDomainMarkEx(domain, &attributes);
    nvtxMarkEx(nullptr);
    auto const long_one = std::string(3000, 'm');
    nvtxMarkA(long_one.c_str());
    auto const started = nvtxDomainRangeStartEx(domain, &attributes);
    nvtxDomainRangeEnd(domain, started);
    nvtxDomainRangeEnd(domain, 12345);
    nvtxDomainDestroy(domain);
}

void resources() {
    auto const context = use_first_device();
    CUstream stream = nullptr;
    CUevent event = nullptr;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    nvtxNameCuContextA(context, "main context");
    nvtxNameCuStreamA(stream, "copy");
    nvtxNameCuEventA(event, "copied");
    nvtxNameCuDeviceA(0, "first device");
    nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), "trainer");
    int mutex = 0;
    nvtxResourceAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    attributes.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
    attributes.identifier.pValue = &mutex;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "a mutex";
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(nvtxDomainCreateA("trainer"), &attributes));
    allocate_and_free();
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(stream));
}

// Memory that is never freed, on a stream, on a thread and in ranges that have names; and pinned memory after warm-up.
void left_behind() {
    auto const context = use_first_device();
    CUstream stream = nullptr;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    nvtxNameCuStreamA(stream, "copy");
    nvtxRangePushA("warm-up");
    CUdeviceptr memory = 0;
    MUST(cuMemAllocAsync(&memory, 4096, stream));
    nvtxRangePop();
    std::thread([context] {
        MUST(cuCtxSetCurrent(context));
        nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), "loader");
        auto const step = said("load");
        auto const domain = nvtxDomainCreateA("trainer");
        nvtxDomainRangePushEx(domain, &step);
        void* staging = nullptr;
        MUST(cuMemAllocHost(&staging, 8192));
        nvtxDomainRangePop(domain);
    }).join();
}

using lastref::reference::annotation;

void annotate(annotation const& what, std::uint64_t schema = annotation::schema) {
    static auto const domain = nvtxDomainCreateA("lastref");
    nvtxPayloadData_t const data{schema, sizeof what, &what};
    auto attributes = said("by its payload");
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtxDomainMarkEx(domain, &attributes);
}

void annotate(char const* text, std::int64_t number = 0) {
    auto attributes = said(text);
    if (number != 0) {
        attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
        attributes.payload.llValue = number;
    }
    nvtxDomainMarkEx(nvtxDomainCreateA("lastref"), &attributes);
}

// Every kind in both forms, and what nobody understands.
void annotations() {
    use_first_device();
    for (std::uint32_t kind = 1; kind <= 13; ++kind) annotate(annotation{1, kind, 0x10, 0x20, {3, 4, 5}});
    annotate("recipe pointer=0x20 stream=3 context=4 ordering=5");
    annotate("adopt pointer=0x20 stream=3 context=4");
    for (auto const* text :
         {"enqueue queue=0x10 item=0x20", "schedule queue=16", "schedule_result queue=0x10 accepted=1",
          "drain_begin queue=0x10", "clean queue=0x10 item=32", "drain_end queue=0x10 items=1", "decline queue=0x10",
          "stop queue=0x10", "owner_end object=0x20"})
        annotate(text);
    annotate("intended_leak", 0x20);
    annotate("owner_begin", 0x20);
    // wrong ones
    annotate(annotation{1, 77, 0, 0, {}});
    annotate(annotation{2, 1, 0, 0, {}});
    annotate(annotation{1, 1, 0, 0, {}}, annotation::schema + 1);
    annotate("no such thing");
    annotate("enqueue item=0x20");
    annotate("recipe pointer=0x20 colour=3");
    annotate("recipe pointer=0xg");
    nvtxDomainMarkEx(nvtxDomainCreateA("lastref"), nullptr);
}

// The reference's own queue, as it speaks.
struct accepting final : lastref::reference::waker {
    bool wake(lastref::reference::deferred_cleanup_queue&) noexcept override { return true; }
};
void reference() {
    use_first_device();
    accepting wakes;
    lastref::reference::deferred_cleanup_queue queue(wakes, lastref::reference::annotator::attach());
    fact("a tool listens", lastref::reference::annotator::attach() != nullptr, 1);
    queue.enqueue(lastref::reference::make_cleanup_ticket(1).release());
    queue.drain();
    queue.stop();
}

}  // namespace

int main(int count, char** arguments) {
    std::map<std::string, void (*)()> const parts{
        {"ranges", ranges},           {"contexts", leave_contexts}, {"domains", domains}, {"resources", resources},
        {"annotations", annotations}, {"reference", reference},     {"left", left_behind}};
    auto const part = parts.find(count == 2 ? arguments[1] : "");
    if (part == parts.end()) return 2;
    part->second();
    return lastref::workload::finish();
}
