// questions --list      prints the groups, a line for those that one process asks
// questions GROUP       asks those of that group's line
// questions --driver    prints the version of the driver; exit status 77 where it has no device
#include <unistd.h>

#include <vector>

#include "questions.h"

namespace lastref::conformance {
namespace {

constexpr group const* families[] = {
    context_groups,      device_groups, stream_groups,      ordering_groups,    memory_groups,     pool_groups,
    graph_groups,        update_groups, conditional_groups, user_object_groups, destructor_groups, capture_groups,
    capture_mode_groups, module_groups, process_groups,     exit_groups,        lookup_groups,     per_thread_groups};

// What one process asks: a group that stands alone, or the others of a family.
using batch = std::vector<group const*>;

std::vector<batch> batches() {
    std::vector<batch> all;
    for (group const* family : families) {
        batch together;
        for (; family->name; ++family)
            if (family->alone)
                all.push_back({family});
            else
                together.push_back(family);
        if (!together.empty()) all.push_back(together);
    }
    return all;
}

void list() {
    for (batch const& one : batches())
        for (group const* each : one) std::printf("%s%c", each->name, each == one.back() ? '\n' : ' ');
}

// Ends the process without teardown: there are groups that ask about that.
void ask_all_of(batch const& one) {
    for (group const* each : one) {
        answer("group", each->name);
        if (each->alone)
            each->ask();
        else
            elsewhere(each->ask);
    }
    _exit(0);
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
    if (wanted == "--list") list();
    if (wanted == "--driver") {
        int version = 0, devices = 0;
        cuDriverGetVersion(&version);
        std::printf("%d\n", version);
        return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices > 0 ? 0 : 77;
    }
    for (batch const& one : batches())
        for (group const* each : one)
            if (each->name == wanted) ask_all_of(one);
    return wanted.starts_with("--") ? 0 : 2;
}
