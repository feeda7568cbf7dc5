// A library as extension modules are: loaded by a CPython program, it makes user objects whose destructors hand their
// payloads to a queue, and drains that from a pending call. Nothing of it knows of lastref.
#include <cuda.h>
#include <unistd.h>

#include <atomic>
#include <vector>

extern "C" int Py_AddPendingCall(int (*function)(void*), void* argument);

namespace {

struct payload {
    CUdeviceptr memory;
    payload* next;
};

std::atomic<payload*> queue{nullptr};
std::atomic<bool> scheduled{false};
std::atomic<int> enqueued{0}, cleaned{0}, refused{0}, others{0};
std::vector<CUuserObject> objects;

int drain(void*) {
    scheduled = false;
    for (payload* item = queue.exchange(nullptr); item != nullptr;) {
        payload* const next = item->next;
        if (cuMemFree(item->memory) == CUDA_SUCCESS) ++cleaned;
        delete item;
        item = next;
    }
    return 0;
}

void schedule() {
    if (scheduled.exchange(true)) return;
    if (Py_AddPendingCall(drain, &queue) == 0) return;
    ++refused;
    scheduled = false;
}

void destroyed(void* argument) {
    auto* const item = static_cast<payload*>(argument);
    item->next = queue.load();
    while (!queue.compare_exchange_weak(item->next, item)) {
    }
    schedule();
    ++enqueued;
}

int count(void*) {
    return ++others == 0 ? 1 : 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int set_up() {
    CUcontext context = nullptr;
    return cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
           cuCtxSetCurrent(context) != CUDA_SUCCESS;
}

int make(int number) {
    for (int i = 0; i < number; ++i) {
        auto* const item = new payload{};
        CUuserObject object = nullptr;
        if (cuMemAlloc(&item->memory, 1024) != CUDA_SUCCESS ||
            cuUserObjectCreate(&object, item, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS)
            return 1;
        objects.push_back(object);
    }
    return 0;
}

// Gives up all that was made, and waits until every destructor has run.
int release() {
    int const due = enqueued + static_cast<int>(objects.size());
    for (auto const object : objects) cuUserObjectRelease(object, 1);
    objects.clear();
    for (int i = 0; i < 20000 && enqueued < due; ++i) usleep(1000);
    return enqueued < due;
}

// Takes every place that CPython has; returns how many there were.
int saturate() {
    int taken = 0;
    while (Py_AddPendingCall(count, nullptr) == 0) ++taken;
    return taken;
}

int saturate_and_release() {
    int const taken = saturate();
    return release() == 0 ? taken : -1;
}

int add_one() {
    return Py_AddPendingCall(count, nullptr);
}
// Adds one and forks before it can run; returns what fork does.
int add_and_fork() {
    return Py_AddPendingCall(count, nullptr) == 0 ? fork() : -1;
}

void retry() {
    if (queue.load() != nullptr) schedule();
}

int number_cleaned() {
    return cleaned;
}
int number_refused() {
    return refused;
}
int number_of_others() {
    return others;
}
}
#pragma GCC visibility pop
