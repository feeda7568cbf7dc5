// A program with functions of CPython's names and a queue of its own behind them: more pending calls than CPython would
// take, from many threads at once, some of them dropped, as at the end of an interpreter.
//
//     no_python many FILLER      1500 calls wait at one time; every third is dropped, the others run
//     no_python threads FILLER   eight threads add and run calls at the same time, and are refused when 32 wait
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

using function = int (*)(void*);
using add_function = int (*)(function, void*);

std::mutex lock;
std::vector<std::pair<function, void*>> waiting;
std::size_t most = 32;

void check(bool good, char const* what) {
    if (good) return;
    std::fprintf(stderr, "FAILED: %s\n", what);
    std::exit(1);
}

std::vector<std::pair<function, void*>> take() {
    std::lock_guard const guard(lock);
    return std::exchange(waiting, {});
}

constexpr int number_of_threads = 8, calls_of_each = 5000;
std::atomic<int> ran[number_of_threads * calls_of_each];

int count(void* which) {
    return ++ran[reinterpret_cast<std::uintptr_t>(which)] == 1 ? 0 : -1;
}

void* number(std::uintptr_t value) {
    return reinterpret_cast<void*>(value);
}

void many(add_function add) {
    most = 1500;
    for (std::uintptr_t i = 0; i < most; ++i) check(add(count, number(i)) == 0, "accepted");
    check(add(count, nullptr) == -1, "refused");
    auto const calls = take();
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (i % 3 != 0) check(calls[i].first(calls[i].second) == 0, "ran once");
    for (std::size_t i = 0; i < most; ++i) check(ran[i] == (i % 3 != 0), "each as often as it should");
    check(add(count, number(0)) == 0 && take().front().first != nullptr, "goes on");
}

void add_and_run(add_function add, int thread, std::atomic<int>& refused) {
    for (int i = 0; i < calls_of_each; ++i) {
        auto const which = static_cast<std::uintptr_t>(thread * calls_of_each + i);
        while (add(count, number(which)) != 0) {
            ++refused;
            for (auto const& [each, argument] : take()) check(each(argument) == 0, "ran once");
        }
    }
}

void threads(add_function add) {
    std::atomic<int> refused{0};
    std::vector<std::thread> all;
    for (int i = 0; i < number_of_threads; ++i) all.emplace_back([&, i] { add_and_run(add, i, refused); });
    for (auto& each : all) each.join();
    for (auto const& [each, argument] : take()) check(each(argument) == 0, "ran once");
    for (auto const& each : ran) check(each == 1, "each once");
    std::printf("refused %d\n", refused > 0);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
int Py_AddPendingCall(function what, void* argument) {
    std::lock_guard const guard(lock);
    if (waiting.size() >= most) return -1;
    waiting.emplace_back(what, argument);
    return 0;
}
int Py_IsInitialized() {
    return 1;
}
}
#pragma GCC visibility pop

int main(int argc, char** argv) {
    check(argc == 3 && cuInit(0) == CUDA_SUCCESS, "set-up");
    void* const library = dlopen(argv[2], RTLD_NOW);
    check(library != nullptr, "the library loads");
    auto const add = reinterpret_cast<add_function>(dlsym(library, "add"));
    check(add != nullptr, "add");
    // Whoever watches looks again at a driver call some time after.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    int devices = 0;
    CUcontext context = nullptr;
    check(cuDeviceGetCount(&devices) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS,
          "driver");
    std::strcmp(argv[1], "many") == 0 ? many(add) : threads(add);
    std::puts("good");
}
