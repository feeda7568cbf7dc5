// Modules, libraries, functions.
#include <fstream>
#include <iterator>

#include "tests/simdriver/api/common.h"
#include "tests/simdriver/core/modules.h"

namespace lastref::simdriver {
namespace {

CUresult load(call const& c, CUmodule* out, void const* data) {
    context_ptr current;
    if (any_null(out, data)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(current_context(c, current));
    SIM_TRY(unsafe(c));
    auto made = std::make_shared<module>();
    if (!read_image(data, made->code)) return CUDA_ERROR_INVALID_IMAGE;
    made->owner = current;
    *out = modules().add(made);
    return CUDA_SUCCESS;
}

CUresult read_file(char const* name, std::string& out) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(name, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    out.assign(std::istreambuf_iterator<char>(file), {});
    return CUDA_SUCCESS;
}

CUresult load_library(CUlibrary* out, void const* data) {
    if (any_null(out, data)) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<library>();
    if (!read_image(data, made->code)) return CUDA_ERROR_INVALID_IMAGE;
    *out = libraries().add(made);
    return CUDA_SUCCESS;
}

std::shared_ptr<module> module_in(library& of, context_ptr const& current) {
    CUmodule& handle = of.modules[current->handle];
    if (auto const loaded = modules().find(handle)) return loaded;
    auto made = std::make_shared<module>();
    made->code = of.code;
    made->owner = current;
    handle = modules().add(made);
    return made;
}

CUresult global_in(module& of, char const* name, CUdeviceptr* address, std::size_t* bytes) {
    auto const size = of.code.globals.find(name);
    if (size == of.code.globals.end()) return CUDA_ERROR_NOT_FOUND;
    auto found = of.globals.find(name);
    if (found == of.globals.end()) {
        std::uintptr_t base = 0;
        SIM_TRY(allocate(*of.owner, memory_kind::device, size->second, 0, base));
        memory().at(base)->permanent = true;
        found = of.globals.emplace(name, global_variable{base, size->second}).first;
    }
    put(address, found->second.base);
    put(bytes, found->second.bytes);
    return CUDA_SUCCESS;
}

int default_attribute(CUfunction_attribute which) {
    switch (which) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return 1024;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            return 32;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            return 90;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            return 49152;
        default:
            return 0;
    }
}

}  // namespace

namespace api {

CUresult cuModuleLoadData(call const& c, CUmodule* out, void const* data) {
    return load(c, out, data);
}

CUresult cuModuleLoadDataEx(call const& c, CUmodule* out, void const* data, unsigned int, CUjit_option*, void**) {
    return load(c, out, data);
}

CUresult cuModuleLoadFatBinary(call const& c, CUmodule* out, void const* data) {
    return load(c, out, data);
}

CUresult cuModuleLoad(call const& c, CUmodule* out, char const* name) {
    std::string data;
    SIM_TRY(read_file(name, data));
    return load(c, out, data.c_str());
}

CUresult cuModuleUnload(call const& c, CUmodule handle) {
    auto const gone = modules().find(handle);
    if (!gone) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(unsafe(c));
    if (*gone->owner->fault != CUDA_SUCCESS) return *gone->owner->fault;
    synchronize(c, *gone->owner);
    if (modules().find(handle) == gone) unload(gone);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(call const&, CUfunction* out, CUmodule handle, char const* name) {
    auto const in = modules().find(handle);
    if (any_null(out, name)) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    if (!has_kernel(in->code, name)) return CUDA_ERROR_NOT_FOUND;
    *out = function_of(in, name);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(call const&, unsigned int* count, CUmodule handle) {
    auto const in = modules().find(handle);
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    *count = static_cast<unsigned>(in->code.kernels.size());
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(call const&, CUdeviceptr* address, std::size_t* bytes, CUmodule handle, char const* name) {
    auto const in = modules().find(handle);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    return in ? global_in(*in, name, address, bytes) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleGetLoadingMode(call const&, CUmoduleLoadingMode* mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(call const&, int* value, CUfunction_attribute which, CUfunction handle) {
    auto const of = functions().find(handle);
    if (!value || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    auto const in = of->of.lock();
    if (which == CU_FUNC_ATTRIBUTE_PTX_VERSION && in) {
        *value = in->code.version;
        return CUDA_SUCCESS;
    }
    auto const set = of->attributes.find(which);
    *value = set == of->attributes.end() ? default_attribute(which) : set->second;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(call const&, CUfunction handle, CUfunction_attribute which, int value) {
    auto const of = functions().find(handle);
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    if (which < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || which >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    of->attributes[which] = value;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(call const&, CUfunction handle, CUfunc_cache) {
    return functions().find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetModule(call const&, CUmodule* out, CUfunction handle) {
    auto const of = functions().find(handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    auto const in = of ? of->of.lock() : nullptr;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    *out = in->handle;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(call const&, char const** name, CUfunction handle) {
    auto const of = functions().find(handle);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    *name = of->name.c_str();
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(call const&, CUfunction handle) {
    return functions().find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncIsLoaded(call const&, CUfunctionLoadingState* state, CUfunction handle) {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    if (!functions().find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(call const&, CUlibrary* out, void const* code, CUjit_option*, void**, unsigned int,
                           CUlibraryOption*, void**, unsigned int) {
    return load_library(out, code);
}

CUresult cuLibraryLoadFromFile(call const&, CUlibrary* out, char const* name, CUjit_option*, void**, unsigned int,
                               CUlibraryOption*, void**, unsigned int) {
    std::string data;
    SIM_TRY(read_file(name, data));
    return load_library(out, data.c_str());
}

CUresult cuLibraryUnload(call const&, CUlibrary handle) {
    auto const gone = libraries().find(handle);
    if (!gone) return CUDA_ERROR_INVALID_HANDLE;
    for (auto const& [context, loaded] : gone->modules)
        if (auto const each = modules().find(loaded)) unload(each);
    for (auto const& [name, each] : gone->kernels) kernels().remove(each);
    libraries().remove(handle);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(call const&, CUkernel* out, CUlibrary handle, char const* name) {
    auto const in = libraries().find(handle);
    if (any_null(out, name)) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    if (!has_kernel(in->code, name)) return CUDA_ERROR_NOT_FOUND;
    CUkernel& known = in->kernels[name];
    if (!known) {
        auto made = std::make_shared<kernel>();
        made->name = name;
        made->of = in;
        known = kernels().add(made);
    }
    *out = known;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(call const&, unsigned int* count, CUlibrary handle) {
    auto const in = libraries().find(handle);
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    *count = static_cast<unsigned>(in->code.kernels.size());
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(call const& c, CUmodule* out, CUlibrary handle) {
    context_ptr current;
    auto const in = libraries().find(handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(current_context(c, current));
    *out = module_in(*in, current)->handle;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(call const& c, CUdeviceptr* address, std::size_t* bytes, CUlibrary handle,
                            char const* name) {
    context_ptr current;
    auto const in = libraries().find(handle);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(current_context(c, current));
    return global_in(*module_in(*in, current), name, address, bytes);
}

CUresult cuKernelGetFunction(call const& c, CUfunction* out, CUkernel handle) {
    context_ptr current;
    auto const of = kernels().find(handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    auto const in = of ? of->of.lock() : nullptr;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(current_context(c, current));
    *out = function_of(module_in(*in, current), of->name);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(call const&, char const** name, CUkernel handle) {
    auto const of = kernels().find(handle);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    *name = of->name.c_str();
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(call const&, CUlibrary* out, CUkernel handle) {
    auto const of = kernels().find(handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    auto const in = of ? of->of.lock() : nullptr;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    *out = in->handle;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(call const&, int* value, CUfunction_attribute which, CUkernel handle, CUdevice) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!kernels().find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    *value = default_attribute(which);
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(call const&, CUfunction* out, unsigned int count, CUmodule handle) {
    auto const in = modules().find(handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned index = 0; index < count && index < in->code.kernels.size(); ++index)
        out[index] = function_of(in, in->code.kernels[index]);
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(call const& c, CUkernel* out, unsigned int count, CUlibrary handle) {
    auto const in = libraries().find(handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!in) return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned index = 0; index < count && index < in->code.kernels.size(); ++index)
        SIM_TRY(cuLibraryGetKernel(c, &out[index], handle, in->code.kernels[index].c_str()));
    return CUDA_SUCCESS;
}

CUresult cuKernelSetAttribute(call const&, CUfunction_attribute, int, CUkernel handle, CUdevice dev) {
    if (!find_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    return kernels().find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelSetCacheConfig(call const&, CUkernel handle, CUfunc_cache, CUdevice) {
    return kernels().find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace api
}  // namespace lastref::simdriver
