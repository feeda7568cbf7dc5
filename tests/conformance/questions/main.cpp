// questions --list      prints the names of the groups
// questions GROUP       asks the questions of one group
// questions --driver    prints the version of the driver; exit status 77 where it has no device
#include <unistd.h>

#include <cstring>

#include "questions.h"

namespace lastref::conformance {
namespace {

constexpr group const* families[] = {
    context_groups,     device_groups,      stream_groups,  ordering_groups,     memory_groups, pool_groups,
    graph_groups,       update_groups,      conditional_groups, user_object_groups, capture_groups, capture_mode_groups,
    module_groups,      process_groups,     exit_groups,    lookup_groups,       per_thread_groups};

template <class Visit>
void each_group(Visit visit) {
    for (group const* family : families)
        for (; family->name; ++family) visit(*family);
}

}  // namespace

void answer(char const* question, std::string const& value) {
    // One write a line: a child's lines and a callback thread's do not mix with others.
    std::string const line = std::string(question) + " = " + value + "\n";
    [[maybe_unused]] auto const written = write(STDOUT_FILENO, line.data(), line.size());
}

CUcontext start() {
    CUcontext context = nullptr;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    return context;
}

CUstream make_stream(unsigned flags) {
    CUstream stream = nullptr;
    cuStreamCreate(&stream, flags);
    return stream;
}

unsigned volatile* pinned_word() {
    void* memory = nullptr;
    if (cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) {
        ask_text("pinned memory", "not to be had");
        _exit(1);
    }
    auto* const word = static_cast<unsigned volatile*>(memory);
    *word = 0;
    return word;
}

gate::gate(CUstream stream, std::chrono::milliseconds patience) : word_(pinned_word()) {
    auto const address = reinterpret_cast<CUdeviceptr>(word_);
    if (CUresult const result = cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_GEQ)) ask("gate", result);
    watchdog_ = std::thread([this, until = std::chrono::steady_clock::now() + patience] {
        while (!dismissed_ && std::chrono::steady_clock::now() < until) settle(1);
        *word_ = 1;
    });
}

gate::~gate() {
    open();
    watchdog_.join();
}

void gate::open() {
    *word_ = 1;
    dismissed_ = true;
}

bool gate::closed() const {
    return *word_ == 0;
}

mark::mark() : word_(pinned_word()) {}

CUresult mark::set_by(CUstream stream) {
    return cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(word_), 1, 0);
}

bool mark::set() const {
    return *word_ == 1;
}

bool mark::set_soon(int milliseconds) const {
    for (int waited = 0; !set() && waited < milliseconds; ++waited) settle(1);
    return set();
}

}  // namespace lastref::conformance

int main(int argc, char** argv) {
    using namespace lastref::conformance;
    std::string const wanted = argc > 1 ? argv[1] : "--list";
    if (wanted == "--list") each_group([](group const& one) { std::puts(one.name); });
    if (wanted == "--driver") {
        int version = 0, devices = 0;
        cuDriverGetVersion(&version);
        std::printf("%d\n", version);
        return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices > 0 ? 0 : 77;
    }
    each_group([&](group const& one) {
        if (one.name != wanted) return;
        one.ask();
        _exit(0);  // without teardown: the group for that asks for it
    });
    return wanted.starts_with("--") ? 0 : 2;
}
