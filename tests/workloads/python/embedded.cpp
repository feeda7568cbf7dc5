// A program with an interpreter inside: linked with it, or (given its path) loaded and unloaded again. The frees of
// cuMemAlloc stand for what is released before, while and after it ends.
//
//     embedded [LIBPYTHON]
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct functions {
    void (*initialize)(int);
    int (*run)(char const*, void*);
    int (*finalize)();
    int (*add_pending_call)(int (*)(void*), void*);
    int (*is_initialized)();
};

void check(bool good, char const* what) {
    if (good) return;
    std::fprintf(stderr, "FAILED: %s\n", what);
    std::exit(1);
}

// One allocation a step, of a size by which the test knows it.
void step(std::size_t bytes) {
    CUdeviceptr memory = 0;
    check(cuMemAlloc(&memory, bytes) == CUDA_SUCCESS && cuMemFree(memory) == CUDA_SUCCESS, "memory");
}

int ran = 0;
int free_inside(void* memory) {
    ++ran;
    return cuMemFree(reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS ? 0 : -1;
}

void live(functions const& python, std::size_t bytes) {
    step(bytes);
    python.initialize(0);
    check(python.is_initialized() != 0, "initialized");
    step(bytes + 1);
    CUdeviceptr memory = 0;
    check(cuMemAlloc(&memory, bytes + 2) == CUDA_SUCCESS, "memory");
    ran = 0;
    check(python.add_pending_call(free_inside, reinterpret_cast<void*>(memory)) == 0, "accepted");
    check(python.run("import time; time.sleep(0)\nfor _ in range(1000): pass", nullptr) == 0, "Python code");
    check(ran == 1, "the pending call ran");
    check(python.finalize() == 0, "finalized");
    step(bytes + 3);
}

#ifndef WORKLOAD_LINKED
template <class Function>
void find(void* in, char const* name, Function& to) {
    to = reinterpret_cast<Function>(dlsym(in, name));
    check(to != nullptr, name);
}

functions load(void* in) {
    functions out;
    find(in, "Py_InitializeEx", out.initialize);
    find(in, "PyRun_SimpleStringFlags", out.run);
    find(in, "Py_FinalizeEx", out.finalize);
    find(in, "Py_AddPendingCall", out.add_pending_call);
    find(in, "Py_IsInitialized", out.is_initialized);
    return out;
}
#endif

}  // namespace

#ifdef WORKLOAD_LINKED
extern "C" {
void Py_InitializeEx(int);
int PyRun_SimpleStringFlags(char const*, void*);
int Py_FinalizeEx();
int Py_AddPendingCall(int (*)(void*), void*);
int Py_IsInitialized();
}
#endif

int main(int argc, char** argv) {
    CUcontext context = nullptr;
    check(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
              cuCtxSetCurrent(context) == CUDA_SUCCESS,
          "set-up");
#ifdef WORKLOAD_LINKED
    static_cast<void>(argc), static_cast<void>(argv);
    functions const linked{Py_InitializeEx, PyRun_SimpleStringFlags, Py_FinalizeEx, Py_AddPendingCall,
                           Py_IsInitialized};
    live(linked, 100);
    live(linked, 200);
#else
    check(argc == 2, "a library");
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    check(library != nullptr, "the library loads");
    live(load(library), 100);
    dlclose(library);
    step(200);
#endif
    std::puts("good");
    return 0;
}
