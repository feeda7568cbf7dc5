// The way of libcudart, CuPy, cuda-bindings and Numba: cuGetProcAddress.
//
//   way_get_proc_address v1|v2 legacy|per-thread|default
//
// v1 is the ABI without symbolStatus; v2 is called with a status for every other function and with null for the rest,
// as programs do both.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "sequence.h"

namespace {

using namespace lastref::workload;

class resolver {
  public:
    resolver(void* library, bool first_version, cuuint64_t flags)
        : flags_(flags),
          v1_(first_version ? reinterpret_cast<decltype(v1_)>(dlsym(library, "cuGetProcAddress")) : nullptr),
          v2_(reinterpret_cast<decltype(v2_)>(dlsym(library, "cuGetProcAddress_v2"))) {}

    void* find(char const* name, int version) {
        void* address = nullptr;
        CUdriverProcAddressQueryResult status{};
        bool const ask_status = ++asked_ % 2;
        CUresult const result = v1_ ? v1_(name, &address, version, flags_)
                                    : v2_(name, &address, version, flags_, ask_status ? &status : nullptr);
        if (result != CUDA_SUCCESS || !address) std::printf("%s: not found\n", name);
        return address;
    }

  private:
    cuuint64_t flags_;
    decltype(&::cuGetProcAddress) v1_;
    decltype(&::cuGetProcAddress_v2) v2_;
    int asked_ = 0;
};

cuuint64_t flags_of(std::string const& word) {
    if (word == "per-thread") return CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return word == "legacy" ? CU_GET_PROC_ADDRESS_LEGACY_STREAM : CU_GET_PROC_ADDRESS_DEFAULT;
}

}  // namespace

int main(int argc, char** argv) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::printf("no driver\n");
        return 2;
    }
    resolver names(library, argc > 1 && std::string(argv[1]) == "v1", flags_of(argc > 2 ? argv[2] : "default"));
    driver_functions call{};
#define WAY(name, symbol, version, suffix) \
    call.name = reinterpret_cast<decltype(call.name)>(names.find(#name, version));
#include "entry_points.def"
    return run_sequence(call);
}
