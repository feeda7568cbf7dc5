// cuInit, versions, error texts, and the ways in.
#include <algorithm>
#include <cstring>

#include "tests/simdriver/abi/lookup.h"
#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

constexpr int driver_version = 13000;
struct error_text {
    CUresult code;
    char const *name, *text;
};

constexpr error_text error_texts[] = {
#define SIMDRIVER_ERROR(code, text) {code, #code, text},
#include "errors.def"
#undef SIMDRIVER_ERROR
};

error_text const* find_error(CUresult code) {
    auto const* const found = std::find_if(std::begin(error_texts), std::end(error_texts),
                                           [code](error_text const& each) { return each.code == code; });
    return found == std::end(error_texts) ? nullptr : found;
}

}  // namespace

namespace api {

CUresult cuInit(call const&, unsigned int flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : initialise();
}

CUresult cuDriverGetVersion(call const&, int* version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = driver_version;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(call const&, CUresult error, char const** text) {
    error_text const* const found = find_error(error);
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = found ? found->name : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(call const&, CUresult error, char const** text) {
    error_text const* const found = find_error(error);
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = found ? found->text : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress(call const&, char const* symbol, void** address, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
    if (!symbol || !address || !known_lookup_flags(flags) || version > driver_version) return CUDA_ERROR_INVALID_VALUE;
    lookup const found = look_up(symbol, version, flags);
    *address = found.address;
    if (status)
        *status = found.address      ? CU_GET_PROC_ADDRESS_SUCCESS
                  : found.name_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;  // also for what there is not: the address is null, and the status tells why
}

CUresult cuGetProcAddress(call const& c, char const* symbol, void** address, int version, cuuint64_t flags) {
    SIM_TRY(cuGetProcAddress(c, symbol, address, version, flags, nullptr));
    return *address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// The tables behind it are private between the driver and NVIDIA's libraries, which go without when they are refused.
CUresult cuGetExportTable(call const&, void const** table, CUuuid const* id) {
    if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
    *table = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace api
}  // namespace lastref::simdriver
