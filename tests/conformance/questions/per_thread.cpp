// Stream 0 through the entry points of the per-thread default stream.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "questions.h"

#include <dlfcn.h>

namespace lastref::conformance {
namespace {

template <class Function>
Function* plain(char const* symbol, Function*) {
    return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), symbol));
}

void per_thread_tokens() {
    CUcontext const context = start();
    unsigned long long zero = 0, mine = 0, legacy = 0, plain_zero = 0, plain_mine = 0, theirs = 0;
    auto* const plain_id = plain("cuStreamGetId", &cuStreamGetId);
    ASK(cuStreamGetId(nullptr, &zero));
    ASK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    ASK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    ask("plain: zero", plain_id(nullptr, &plain_zero));
    ask("plain: per-thread token", plain_id(CU_STREAM_PER_THREAD, &plain_mine));
    elsewhere_in(context, [&] { cuStreamGetId(nullptr, &theirs); });
    ask("zero is the per-thread stream", zero == mine);
    ask("zero is the legacy stream", zero == legacy);
    ask("plain zero is the legacy stream", plain_zero == legacy);
    ask("plain token is the same stream", plain_mine == mine);
    ask("another thread has another", theirs != zero);
}

void per_thread_stream_by_context() {
    CUcontext const context = start();
    CUcontext other = nullptr;
    unsigned long long here = 0, there = 0, again = 0;
    ASK(cuStreamGetId(nullptr, &here));
    ASK(cuCtxCreate(&other, nullptr, 0, 0));
    ASK(cuStreamGetId(nullptr, &there));
    ASK(cuCtxSetCurrent(context));
    ASK(cuStreamGetId(nullptr, &again));
    ask("another context has another", here != there);
    ask("the first context has the same again", here == again);
}

void per_thread_frees() {
    CUcontext const context = start();
    CUdeviceptr memory = 0;
    ASK(cuMemAllocAsync(&memory, 4096, nullptr));
    elsewhere([&] { ask("no context: zero", cuMemFreeAsync(memory, nullptr)); });
    elsewhere([&] { ask("no context: token", cuMemFreeAsync(memory, CU_STREAM_PER_THREAD)); });
    elsewhere_in(context, [&] { ask("another thread: zero", cuMemFreeAsync(memory, nullptr)); });
    ASK(cuMemAllocAsync(&memory, 4096, nullptr));
    ASK(cuMemFreeAsync(memory, CU_STREAM_PER_THREAD));
    ASK(cuMemAllocAsync(&memory, 4096, nullptr));
    ASK(cuMemFreeAsync(memory, CU_STREAM_LEGACY));
    ASK(cuStreamSynchronize(nullptr));
}

void per_thread_capture() {
    start();
    CUgraph graph = nullptr;
    CUstreamCaptureStatus status{};
    ASK(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status));
    ask_number("status of the token", status);
    ASK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    ASK(cuStreamDestroy(nullptr));
}

void per_thread_stream_of_new_thread() {
    CUcontext const context = start();
    unsigned long long first = 0, second = 0;
    elsewhere_in(context, [&] { cuStreamGetId(nullptr, &first); });
    elsewhere_in(context, [&] { cuStreamGetId(nullptr, &second); });
    ask("a later thread has another number", first != second);
}

}  // namespace

group const per_thread_groups[] = {{"per_thread_tokens", per_thread_tokens},
                                   {"per_thread_stream_by_context", per_thread_stream_by_context},
                                   {"per_thread_frees", per_thread_frees},
                                   {"per_thread_capture", per_thread_capture},
                                   {"per_thread_stream_of_new_thread", per_thread_stream_of_new_thread},
                                   {nullptr, nullptr}};

}  // namespace lastref::conformance
