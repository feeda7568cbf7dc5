// Devices: two or more of a plausible kind.
#include <cstdio>
#include <cstring>
#include <map>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

constexpr char device_name[] = "Simulated GPU";

int attribute_value(device const& of, CUdevice_attribute which) {
    static std::map<CUdevice_attribute, int> const values{
#define SIMDRIVER_ATTRIBUTE(name, value) {CU_DEVICE_ATTRIBUTE_##name, value},
#include "device_attributes.def"
#undef SIMDRIVER_ATTRIBUTE
    };
    if (which == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) return of.ordinal + 1;
    auto const found = values.find(which);
    return found == values.end() ? 0 : found->second;
}

void make_uuid(device const& of, CUuuid& out) {
    std::memcpy(out.bytes, "simulated-gpu-\0", sizeof out.bytes);
    out.bytes[15] = static_cast<char>(of.ordinal);
}

}  // namespace

namespace api {

CUresult cuDeviceGet(call const&, CUdevice* out, int ordinal) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(call const&, int* count) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(driver().devices.size());
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(call const&, char* name, int length, CUdevice dev) {
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", device_name);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(call const&, CUuuid* uuid, CUdevice dev) {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    device const* const of = find_device(dev);
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    make_uuid(*of, *uuid);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(call const&, std::size_t* bytes, CUdevice dev) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = driver().set.memory_bytes;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(call const&, int* value, CUdevice_attribute which, CUdevice dev) {
    if (!value || which <= 0 || which >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    device const* const of = find_device(dev);
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute_value(*of, which);
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(call const&, int* major, int* minor, CUdevice dev) {
    if (any_null(major, minor)) return CUDA_ERROR_INVALID_VALUE;
    device const* const of = find_device(dev);
    if (!of) return CUDA_ERROR_INVALID_DEVICE;
    *major = attribute_value(*of, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute_value(*of, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(call const&, char* id, int length, CUdevice dev) {
    if (!id || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(dev + 1));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(call const&, CUdevice* dev, char const* id) {
    if (any_null(dev, id)) return CUDA_ERROR_INVALID_VALUE;
    unsigned bus = 0;
    bool const read = std::sscanf(id, "%*x:%x:", &bus) == 1 && find_device(static_cast<int>(bus) - 1);
    if (!read) return CUDA_ERROR_INVALID_DEVICE;
    *dev = static_cast<int>(bus) - 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(call const&, int* can, CUdevice dev, CUdevice peer) {
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(dev) || !find_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = dev != peer;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetLuid(call const&, char*, unsigned int*, CUdevice) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace api
}  // namespace lastref::simdriver
