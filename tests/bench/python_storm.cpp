// Pairs of cuMemAllocAsync and cuMemFreeAsync, called from Python by `python_frames`: so that what is measured is what
// recording adds to a call below Python frames, and not Python.
#include <cuda.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>
#include <ctime>

namespace {

struct functions {
    CUresult (*allocate)(CUdeviceptr*, std::size_t, CUstream);
    CUresult (*free)(CUdeviceptr, CUstream);
};
functions recorded{}, bare{};
CUstream stream = nullptr;

// The address in the driver's own symbol table, whatever stands before it in the search order.
void* own_symbol(void* library, char const* wanted) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
    ElfW(Sym) const* symbols = nullptr;
    char const* names = nullptr;
    for (auto const* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<ElfW(Sym) const*>(entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<char const*>(entry->d_un.d_ptr);
    }
    if (symbols == nullptr || names == nullptr) return nullptr;
    // The string table lies behind the symbols in what linkers make.
    auto const* const end = reinterpret_cast<ElfW(Sym) const*>(names);
    for (auto const* symbol = symbols; symbol < end; ++symbol) {
        if (symbol->st_value != 0 && std::strcmp(names + symbol->st_name, wanted) == 0)
            return reinterpret_cast<void*>(map->l_addr + symbol->st_value);
    }
    return nullptr;
}

template <class Function>
bool find(void* library, char const* name, Function& through_recorder, Function& past_it) {
    through_recorder = reinterpret_cast<Function>(dlsym(library, name));
    past_it = reinterpret_cast<Function>(own_symbol(library, name));
    return through_recorder != nullptr && past_it != nullptr;
}

double thread_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

extern "C" {

// 0 where all went well.
int storm_open() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return 1;
    if (!find(library, "cuMemAllocAsync", recorded.allocate, bare.allocate)) return 2;
    if (!find(library, "cuMemFreeAsync", recorded.free, bare.free)) return 3;
    auto const init = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(library, "cuInit"));
    auto const retain =
        reinterpret_cast<CUresult (*)(CUcontext*, CUdevice)>(dlsym(library, "cuDevicePrimaryCtxRetain"));
    auto const set = reinterpret_cast<CUresult (*)(CUcontext)>(dlsym(library, "cuCtxSetCurrent"));
    auto const make = reinterpret_cast<CUresult (*)(CUstream*, unsigned)>(dlsym(library, "cuStreamCreate"));
    CUcontext context = nullptr;
    if (init(0) != CUDA_SUCCESS || retain(&context, 0) != CUDA_SUCCESS || set(context) != CUDA_SUCCESS) return 4;
    return make(&stream, 0) == CUDA_SUCCESS ? 0 : 5;
}

// Nanoseconds of this thread's processor time a call.
double storm_run(int through_recorder, int pairs) {
    functions const& use = through_recorder != 0 ? recorded : bare;
    double const begin = thread_time();
    for (int i = 0; i < pairs; ++i) {
        CUdeviceptr pointer = 0;
        use.allocate(&pointer, 256, stream);
        use.free(pointer, stream);
    }
    return (thread_time() - begin) / (2.0 * pairs);
}
}
