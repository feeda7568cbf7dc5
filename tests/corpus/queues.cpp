// Deferred queues that speak of themselves, and ranges: queue-contract, context-not-restored, and warm-up as programs
// mark it.
#include "lastref/range.h"
#include "lastref/reference/nvtx/annotator.h"
#include "tests/corpus/corpus.h"

namespace lastref::corpus {
namespace {

namespace r = lastref::reference;

// Speaks as any program can, from the documented layout alone.
class speaker {
  public:
    void say(std::uint32_t kind, std::uint64_t object = 0, std::uint64_t value = 0) const {
        std::uint64_t const words[6] = {std::uint64_t{kind} << 32 | 1, reinterpret_cast<std::uintptr_t>(this), object,
                                        value};
        nvtxPayloadData_t const data{NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 0x1a57, sizeof words, words};
        nvtxEventAttributes_t attributes{};
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        attributes.reserved0 = 1;
        attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
        attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
        attributes.message.ascii = "queue";
        nvtxDomainMarkEx(domain_, &attributes);
    }

  private:
    nvtxDomainHandle_t domain_ = nvtxDomainCreateA("lastref");
};

// A queue as a program might write it, with a choice of faults.
class handmade_queue {
  public:
    bool forgets_the_last = false;
    bool wakes_for_each = false;

    void enqueue(void* item) {
        marks_.say(2, reinterpret_cast<std::uintptr_t>(item));
        bool const was_empty = items_.empty();
        items_.push_back(item);
        if (!was_empty && !wakes_for_each) return;
        marks_.say(3);
        marks_.say(4, 0, 1);
    }
    void drain() {
        marks_.say(5);
        std::size_t const count = items_.size() - (forgets_the_last ? 1 : 0);
        for (std::size_t i = 0; i < count; ++i) marks_.say(6, reinterpret_cast<std::uintptr_t>(items_[i]));
        items_.clear();
        marks_.say(7, 0, count);
    }

  private:
    speaker marks_;
    std::vector<void*> items_;
};

handmade_queue* in_use = nullptr;
std::atomic<int> destroyed{0};

// Payloads of user objects, whose destructors hand them on.
void destroy_into_the_queue(void* data) {
    in_use->enqueue(data);
    ++destroyed;
}
void drop_payloads(handmade_queue& queue, int count) {
    static int payloads[8];
    in_use = &queue;
    for (int i = 0; i < count; ++i) {
        CUuserObject object = nullptr;
        MUST(cuUserObjectCreate(&object, &payloads[i], destroy_into_the_queue, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        MUST(cuUserObjectRelease(object, 1));
    }
    workload::becomes(destroyed, count);
}

struct waking final : r::waker {
    explicit waking(int refusals) : refusals_(refusals) {}
    bool wake(r::deferred_cleanup_queue&) noexcept override { return refusals_-- <= 0; }
    int refusals_;
};

CUcontext another_context() {
    CUcontext out = nullptr;
    CUdevice device = 0;
    MUST(cuDeviceGet(&device, 0));
    MUST(cuCtxCreate(&out, nullptr, 0, device));
    MUST(cuCtxSetCurrent(context()));
    return out;
}

}  // namespace

FAULT(queue_contract, forgets_the_last_of_a_batch) {
    handmade_queue queue;
    queue.forgets_the_last = true;
    drop_payloads(queue, 4);
    queue.drain();
}

FAULT(queue_contract, asks_for_a_wake_up_each) {
    handmade_queue queue;
    queue.wakes_for_each = true;
    drop_payloads(queue, 4);
    queue.drain();
}

HEALTHY(queue_contract, asks_when_it_was_empty) {
    handmade_queue queue;
    drop_payloads(queue, 4);
    queue.drain();
}

HEALTHY(queue_contract, refused_retried_and_stopped) {
    waking wakes(1);
    r::deferred_cleanup_queue queue(wakes, r::annotator::attach());
    for (int i = 0; i < 3; ++i) queue.enqueue(r::make_cleanup_ticket(i).release());
    queue.retry();
    queue.drain();
    queue.enqueue(r::make_cleanup_ticket(3).release());
    queue.stop();
    queue.enqueue(r::make_cleanup_ticket(4).release());
}

FAULT(context_not_restored, early_return) {
    auto const other = another_context();
    {
        range const named("evaluate");
        MUST(cuCtxPushCurrent(other));
        MUST(cuCtxSynchronize());
    }
    MUST(cuCtxPopCurrent(nullptr));
    MUST(cuCtxDestroy(other));
}

FAULT(context_not_restored, nvtx_range_that_sets_another) {
    auto const other = another_context();
    nvtxRangePushA("step");
    nvtxRangePushA("copy");
    MUST(cuCtxSetCurrent(other));
    nvtxRangePop();
    nvtxRangePop();
    MUST(cuCtxSetCurrent(context()));
    MUST(cuCtxDestroy(other));
}

HEALTHY(context_not_restored, pushed_and_popped) {
    auto const other = another_context();
    nvtxRangePushA("evaluate");
    MUST(cuCtxPushCurrent(other));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(nullptr));
    nvtxRangePop();
    MUST(cuCtxDestroy(other));
}

HEALTHY(context_not_restored, first_context_of_a_thread) {
    on_bare_thread([] {
        nvtxRangePushA("set up");
        MUST(cuCtxSetCurrent(context()));
        nvtxRangePop();
        range const named("work");
        MUST(cuCtxSynchronize());
    });
}

// Warm-up that a range of the program says the end of; the runner asks for "prepare" where the name says so.
FAULT(steady_state_allocation, after_the_range) {
    nvtxRangePushA("warm-up");
    stage_a_batch();
    nvtxRangePop();
    for (int i = 0; i < 3; ++i) stage_a_batch();
}

HEALTHY(steady_state_allocation, within_the_range) {
    nvtxRangePushA("warm-up");
    for (int i = 0; i < 3; ++i) stage_a_batch();
    nvtxRangePop();
    take_from_the_pool();
}

HEALTHY(steady_state_allocation, within_a_later_range) {
    for (int i = 0; i < 2; ++i) {
        nvtxRangePushA("warm-up");
        stage_a_batch();
        nvtxRangePop();
        take_from_the_pool();
    }
}

FAULT(late_module_load, after_the_asked_range) {
    {
        range const named("prepare");
        take_from_the_pool();
    }
    load_code();
}

HEALTHY(late_module_load, within_the_asked_range) {
    take_from_the_pool();
    {
        range const named("prepare");
        load_code();
    }
    take_from_the_pool();
}

}  // namespace lastref::corpus
