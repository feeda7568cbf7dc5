// dlsym keeps its caller: RTLD_NEXT means the next object after the one that calls, RTLD_DEFAULT the first of all, an
// explicit handle that library, whether the symbol asked for is the driver's or another.
#include <dlfcn.h>

#include "layers.h"
#include "tests/workloads/common/facts.h"

extern "C" int workload_layer() {
    return 1;
}

namespace {

using namespace lastref::workload;

int call(void* address) {
    return address ? reinterpret_cast<int (*)()>(address)() : 0;
}

void check_layers() {
    fact("program: next", call(dlsym(RTLD_NEXT, "workload_layer")), 2);
    fact("program: default", call(dlsym(RTLD_DEFAULT, "workload_layer")), 1);
    fact("outer: next", next_of_outer(), 3);
    fact("outer: default", default_of_outer(), 1);
    fact("inner: next", next_of_inner(), 0);
    fact("inner: default", default_of_inner(), 1);
}

CUresult call_init(void* address) {
    return address ? reinterpret_cast<CUresult (*)(unsigned)>(address)(0) : CUDA_ERROR_NOT_FOUND;
}

void check_driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    fact("driver loaded", library != nullptr, 1);
    fact("cuInit by handle", call_init(dlsym(library, "cuInit")), CUDA_SUCCESS);
    fact("cuInit by RTLD_DEFAULT", call_init(dlsym(RTLD_DEFAULT, "cuInit")), CUDA_SUCCESS);
    fact("cuInit by RTLD_NEXT", call_init(dlsym(RTLD_NEXT, "cuInit")), CUDA_SUCCESS);
    fact("a name that the driver lacks", dlsym(library, "cuNoSuchEntryPoint") != nullptr, 0);
    fact("an error text for it", dlerror() != nullptr, 1);
    fact("and only once", dlerror() != nullptr, 0);
}

void check_lookup_in_self() {
    void* const self = dlopen(nullptr, RTLD_NOW);
    fact("program's own handle", call(dlsym(self, "workload_layer")), 1);
    fact("libc through it", dlsym(self, "puts") != nullptr, 1);
}

}  // namespace

int main() {
    MUST(cuInit(0));
    check_layers();
    check_driver();
    check_lookup_in_self();
    return finish();
}
