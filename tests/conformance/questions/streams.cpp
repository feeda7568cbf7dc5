#include "questions.h"

namespace lastref::conformance {
namespace {

void handles() {
    start();
    CUstream const first = make_stream();
    unsigned long long id = 0, next_id = 0;
    ASK(cuStreamGetId(first, &id));
    ASK(cuStreamDestroy(first));
    CUstream const second = make_stream();
    ASK(cuStreamGetId(second, &next_id));
    ASK(first == second);
    ASK(id == next_id);
    ASK(cuStreamDestroy(nullptr));
    ASK(cuStreamDestroy(CU_STREAM_LEGACY));
    ASK(cuStreamDestroy(CU_STREAM_PER_THREAD));
}

void destroyed_query() {
    start();
    CUstream const gone = make_stream();
    ASK(cuStreamDestroy(gone));
    ASK(cuStreamQuery(gone));
}

void destroyed_destroy() {
    start();
    CUstream const gone = make_stream();
    ASK(cuStreamDestroy(gone));
    ASK(cuStreamDestroy(gone));
}

void attributes() {
    CUcontext const context = start();
    CUcontext of = nullptr;
    int least = 0, greatest = 0, priority = 0;
    unsigned flags = 0;
    CUstream stream = nullptr;
    ASK(cuCtxGetStreamPriorityRange(&least, &greatest));
    ask_number("least priority", least);
    ask_number("greatest priority", greatest);
    ASK(cuStreamCreateWithPriority(&stream, 0, -100));
    ASK(cuStreamGetPriority(stream, &priority));
    ask_number("clamped priority", priority);
    ASK(cuStreamGetFlags(CU_STREAM_LEGACY, &flags));
    ask_number("flags of the legacy stream", flags);
    ASK(cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags));
    ask_number("flags of the per-thread stream", flags);
    ASK(cuStreamGetCtx(CU_STREAM_LEGACY, &of));
    ASK(of == context);
    ASK(cuStreamCreate(&stream, 2));
}

void events() {
    start();
    CUstream const stream = make_stream();
    CUevent plain = nullptr, untimed = nullptr, other = nullptr;
    float time = 0;
    ASK(cuEventCreate(&plain, 0));
    ASK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    ASK(cuEventCreate(&other, 0));
    ASK(cuEventQuery(plain));
    ASK(cuEventSynchronize(plain));
    ASK(cuStreamWaitEvent(stream, plain, 0));
    ASK(cuEventElapsedTime(&time, plain, other));
    ASK(cuEventRecord(plain, stream));
    ASK(cuEventRecord(untimed, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuEventElapsedTime(&time, plain, untimed));
    ASK(cuEventElapsedTime(&time, plain, other));
    ASK(cuEventCreate(&other, CU_EVENT_INTERPROCESS));
    ASK(cuEventCreate(&other, 64));
}

void event_of_other_context() {
    CUcontext other = nullptr;
    start();
    CUstream const stream = make_stream();
    CUevent event = nullptr;
    ASK(cuCtxCreate(&other, nullptr, 0, 0));
    ASK(cuEventCreate(&event, 0));
    ASK(cuEventRecord(event, stream));
    CUstream const inside = make_stream();
    ASK(cuEventRecord(event, inside));
    ASK(cuStreamWaitEvent(stream, event, 0));
}

struct seen {
    std::atomic<int> runs{0};
    std::thread::id thread;
    CUresult results[8];
};

void look(void* data) {
    auto& into = *static_cast<seen*>(data);
    CUdeviceptr memory = 0;
    CUcontext context = nullptr;
    int value = 0;
    char const* text = nullptr;
    void* address = nullptr;
    unsigned long long id = 0;
    into.thread = std::this_thread::get_id();
    into.results[0] = cuMemAlloc(&memory, 64);
    into.results[1] = cuCtxGetCurrent(&context);
    into.results[2] = cuInit(0);
    into.results[3] = cuDriverGetVersion(&value);
    into.results[4] = cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text);
    into.results[5] = cuGetProcAddress("cuInit", &address, 12000, 0, nullptr);
    into.results[6] = cuMemFree(0);
    into.results[7] = cuStreamGetId(CU_STREAM_LEGACY, &id);
    ++into.runs;
}

void look_from_stream(CUstream, CUresult, void* data) {
    look(data);
}

void report(char const* which, seen const& what) {
    static char const* const calls[] = {"cuMemAlloc",     "cuCtxGetCurrent",  "cuInit",    "cuDriverGetVersion",
                                        "cuGetErrorName", "cuGetProcAddress", "cuMemFree", "cuStreamGetId"};
    char line[96];
    for (int index = 0; index < 8; ++index) {
        std::snprintf(line, sizeof line, "%s in a %s", calls[index], which);
        ask(line, what.results[index]);
    }
}

void callbacks() {
    static seen function, callback, destructor;
    start();
    CUstream const stream = make_stream();
    CUuserObject object = nullptr;
    ASK(cuLaunchHostFunc(stream, look, &function));
    ASK(cuStreamAddCallback(stream, look_from_stream, &callback, 0));
    ASK(cuStreamSynchronize(stream));
    ASK(cuUserObjectCreate(&object, &destructor, look, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ASK(cuUserObjectRelease(object, 1));
    for (int tries = 0; !destructor.runs && tries < 2000; ++tries) settle();
    report("host function", function);
    report("stream callback", callback);
    report("destructor", destructor);
    ASK(function.thread == callback.thread);
    ASK(function.thread == destructor.thread);
    ASK(destructor.thread == std::this_thread::get_id());
    ASK(cuLaunchHostFunc(stream, nullptr, nullptr));
    ASK(cuStreamAddCallback(stream, look_from_stream, nullptr, 1));
}

void tokens() {
    start();
    unsigned long long legacy = 0, zero = 0, mine = 0, theirs = 0;
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    ASK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    ASK(cuStreamGetId(nullptr, &zero));
    ASK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    elsewhere([&] {
        cuCtxSetCurrent(context);
        cuStreamGetId(CU_STREAM_PER_THREAD, &theirs);
    });
    ASK(legacy == zero);
    ASK(legacy == mine);
    ASK(mine == theirs);
}

}  // namespace

group const stream_groups[] = {{"handles", handles, alone},
                               {"destroyed_query", destroyed_query, alone},
                               {"destroyed_destroy", destroyed_destroy, alone},
                               {"attributes", attributes},
                               {"events", events},
                               {"event_of_other_context", event_of_other_context},
                               {"callbacks", callbacks},
                               {"tokens", tokens},
                               {nullptr, nullptr}};

}  // namespace lastref::conformance
