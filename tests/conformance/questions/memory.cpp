#include <cstdlib>
#include <cstring>

#include "questions.h"

namespace lastref::conformance {
namespace {

void plain() {
    start();
    CUdeviceptr a = 0, managed = 0, base = 0;
    std::size_t pitch = 0, size = 0;
    CUstream const stream = make_stream();
    ASK(cuMemAlloc(&a, 0));
    ASK(cuMemAlloc(&a, std::size_t{1} << 50));
    ASK(cuMemAlloc(&a, 4096));
    ASK(cuMemGetAddressRange(&base, &size, a + 100));
    ask_number("size of the range", static_cast<long long>(size));
    ASK(cuMemFree(a + 256));
    ASK(cuMemFreeAsync(a + 256, stream));
    ASK(cuMemFreeHost(reinterpret_cast<void*>(a)));
    ASK(cuMemFree(a));
    ASK(cuMemFree(a));
    ASK(cuMemGetAddressRange(&base, &size, a));
    ASK(cuMemFree(0));
    ASK(cuMemAllocPitch(&a, &pitch, 100, 10, 4));
    ask_number("pitch of 100 bytes", static_cast<long long>(pitch));
    ASK(cuMemAllocPitch(&a, &pitch, 100, 10, 3));
    ASK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    ASK(cuMemFree(managed));
    ASK(cuMemAllocManaged(&managed, 4096, 0));
}

void freed_as_stream_ordered() {
    start();
    CUdeviceptr a = 0;
    CUstream const stream = make_stream();
    ASK(cuMemAlloc(&a, 4096));
    ASK(cuMemFreeAsync(a, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemFree(a));
}

void host() {
    start();
    void *a = nullptr, *page = std::aligned_alloc(4096, 8192);
    CUdeviceptr seen = 0;
    unsigned flags = 0;
    CUstream const stream = make_stream();
    ASK(cuMemHostAlloc(&a, 0, 0));
    ASK(cuMemHostAlloc(&a, 4096, 0));
    ASK(cuMemHostGetDevicePointer(&seen, a, 0));
    ASK(seen == reinterpret_cast<CUdeviceptr>(a));
    ASK(cuMemHostGetFlags(&flags, a));
    ask_number("flags", flags);
    ASK(cuMemFree(reinterpret_cast<CUdeviceptr>(a)));
    ASK(cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(a), stream));
    ASK(cuMemFreeHost(static_cast<char*>(a) + 64));
    ASK(cuMemHostUnregister(a));
    ASK(cuMemHostRegister(a, 4096, 0));
    elsewhere([a] { ask("cuMemFreeHost without a context", cuMemFreeHost(a)); });
    ASK(cuMemFreeHost(a));
    ASK(cuMemHostRegister(page, 8192, 0));
    ASK(cuMemHostRegister(page, 8192, 0));
    ASK(cuMemHostRegister(static_cast<char*>(page) + 4096, 4096, 0));
    ASK(cuMemHostUnregister(static_cast<char*>(page) + 64));
    elsewhere([page] { ask("cuMemHostUnregister without a context", cuMemHostUnregister(page)); });
    ASK(cuMemHostUnregister(page));
    ASK(cuMemHostRegister(page, 0, 0));
}

void pointers() {
    start();
    CUdeviceptr a = 0;
    int on_stack = 0, ordinal = 7;
    unsigned type = 9, managed = 9;
    CUcontext context = nullptr;
    CUmemoryPool pool = nullptr;
    CUstream const stream = make_stream();
    auto const unknown = reinterpret_cast<CUdeviceptr>(&on_stack);
    ASK(cuMemAllocAsync(&a, 4096, stream));
    ASK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    ask_number("type of stream-ordered memory", type);
    ASK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    ASK(context == nullptr);
    ASK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
    ASK(pool != nullptr);
    ASK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown));
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* to[] = {&type, &ordinal, &managed};
    ASK(cuPointerGetAttributes(3, which, to, unknown));
    ask_number("type of an unknown pointer", type);
    ask_number("ordinal of an unknown pointer", ordinal);
    ask_number("managed of an unknown pointer", managed);
}

cuuint64_t read(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    cuMemPoolGetAttribute(pool, which, &value);
    return value;
}

CUmemoryPool make_pool() {
    CUmemoryPool pool = nullptr;
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    cuMemPoolCreate(&pool, &props);
    return pool;
}

void pools() {
    start();
    CUstream const stream = make_stream(), other = make_stream();
    CUmemoryPool const pool = make_pool();
    CUdeviceptr a = 0, b = 0;
    cuuint64_t value = 5, all = UINT64_MAX;
    ASK(cuMemAllocFromPoolAsync(&a, 0, pool, stream));
    ASK(cuMemAllocFromPoolAsync(&a, 1, pool, stream));
    ask_number("used for 1 byte", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)));
    ask_number("reserved for 1 byte", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)));
    ASK(cuMemAllocFromPoolAsync(&b, 1000, pool, stream));
    ask_number("used for 1000 bytes more", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)));
    ASK(cuMemFreeAsync(b, stream));
    ASK(cuMemFreeAsync(a, stream));
    ASK(cuStreamSynchronize(stream));
    ask_number("reserved after synchronization",
               static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)));
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    ASK(cuMemAllocFromPoolAsync(&a, 1 << 20, pool, stream));
    ASK(cuMemFreeAsync(a, stream));
    ASK(cuMemAllocFromPoolAsync(&b, 1 << 20, pool, stream));
    ask("the same stream gets the same address", a == b);
    ASK(cuMemFreeAsync(b, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemAllocFromPoolAsync(&a, 1 << 20, pool, other));
    ask("another stream gets it after synchronization", a == b);
    ASK(cuMemFreeAsync(a, other));
    ASK(cuMemPoolTrimTo(pool, 0));
    ask("trim with the free unseen leaves memory", read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
    ASK(cuStreamSynchronize(other));
    ASK(cuMemPoolTrimTo(pool, 0));
    ask_number("reserved after trim", static_cast<long long>(read(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)));
    ASK(cuDeviceSetMemPool(0, pool));
    ASK(cuMemPoolDestroy(pool));
    CUmemoryPool now = nullptr, standard = nullptr;
    ASK(cuDeviceGetMemPool(&now, 0));
    ASK(cuDeviceGetDefaultMemPool(&standard, 0));
    ask("default pool is current after the current one was destroyed", now == standard);
    ASK(cuMemPoolDestroy(standard));
}

void ordered_frees() {
    CUcontext const context = start();
    CUstream const stream = make_stream();
    CUdeviceptr a = 0;
    ASK(cuMemAllocAsync(&a, 4096, stream));
    ASK(cuMemFreeAsync(a + 512, stream));
    elsewhere([&] {
        ask("no context: legacy", cuMemFreeAsync(a, CU_STREAM_LEGACY));
        ask("no context: per-thread", cuMemFreeAsync(a, CU_STREAM_PER_THREAD));
        ask("no context: zero", cuMemFreeAsync(a, nullptr));
        ask("no context: created", cuMemFreeAsync(a, stream));
        ask("no context: created, again", cuMemFreeAsync(a, stream));
    });
    ASK(cuMemAllocAsync(&a, 4096, stream));
    elsewhere([&] { ask("no context: cuMemFree", cuMemFree(a)); });
    ASK(cuMemFreeAsync(0, stream));
    CUcontext other = nullptr;
    ASK(cuMemAllocAsync(&a, 4096, stream));
    ASK(cuCtxCreate(&other, nullptr, 0, 0));
    ask("another context of the device current: free on legacy", cuMemFreeAsync(a, CU_STREAM_LEGACY));
    ASK(cuCtxDestroy(other));
    ASK(cuCtxSetCurrent(context));
}

void virtual_memory() {
    start();
    CUmemAllocationProp props{};
    props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    std::size_t size = 0;
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle handle = 0, again = 0;
    CUmemAccessDesc const access{props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASK(cuMemGetAllocationGranularity(&size, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ask_number("granularity", static_cast<long long>(size));
    ASK(cuMemCreate(&handle, size + 1, &props, 0));
    ASK(cuMemCreate(&handle, size, &props, 0));
    ASK(cuMemAddressReserve(&range, 2 * size, 0, 0, 0));
    ASK(cuMemMap(range, size, 0, handle, 0));
    ASK(cuMemMap(range, size, 0, handle, 0));
    ASK(cuMemMap(range + size, size, 0, handle, 0));
    ASK(cuMemSetAccess(range, 2 * size, &access, 1));
    ASK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range)));
    ASK(again == handle);
    ASK(cuMemRelease(handle));
    ASK(cuMemRelease(again));
    ASK(cuMemRelease(handle));
    ASK(cuMemFree(range));
    ASK(cuMemAddressFree(range, 2 * size));
    ASK(cuMemUnmap(range, size + 4096));
    ASK(cuMemUnmap(range, 2 * size));
    ASK(cuMemUnmap(range, 2 * size));
    ASK(cuMemAddressFree(range, size));
    ASK(cuMemAddressFree(range, 2 * size));
}

void sharing_in_one_process() {
    start();
    CUdeviceptr a = 0, ordered = 0, opened = 0;
    CUipcMemHandle handle{};
    CUstream const stream = make_stream();
    ASK(cuMemAlloc(&a, 4096));
    ASK(cuMemAllocAsync(&ordered, 4096, stream));
    ASK(cuIpcGetMemHandle(&handle, ordered));
    ASK(cuIpcGetMemHandle(&handle, a + 64));
    ASK(cuIpcGetMemHandle(&handle, a));
    ASK(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    ASK(cuIpcOpenMemHandle(&opened, handle, 0));
    ASK(cuIpcCloseMemHandle(a));
    CUmemoryPool standard = nullptr;
    int file = -1;
    ASK(cuDeviceGetDefaultMemPool(&standard, 0));
    ASK(cuMemPoolExportToShareableHandle(&file, standard, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

void arrays() {
    start();
    CUarray array = nullptr;
    CUmipmappedArray mipmapped = nullptr;
    CUDA_ARRAY_DESCRIPTOR flat{64, 16, CU_AD_FORMAT_UNSIGNED_INT8, 1}, read{};
    CUDA_ARRAY3D_DESCRIPTOR deep{};
    unsigned char bytes[64] = {9};
    ASK(cuArrayCreate(&array, &flat));
    ASK(cuArrayGetDescriptor(&read, array));
    ask_number("width", static_cast<long long>(read.Width));
    ASK(cuMemcpyHtoA(array, 0, bytes, 64));
    ASK(cuMemcpyAtoH(bytes, array, 0, 64));
    ASK(cuArrayDestroy(array));
    ASK(cuArrayCreate(nullptr, &flat));
    flat.Width = 0;
    ask("no width", cuArrayCreate(&array, &flat));
    flat = {64, 16, CU_AD_FORMAT_UNSIGNED_INT8, 3};
    ask("three channels", cuArrayCreate(&array, &flat));
    deep.Width = deep.Height = deep.Depth = 8;
    deep.Format = CU_AD_FORMAT_FLOAT;
    deep.NumChannels = 4;
    ASK(cuArray3DCreate(&array, &deep));
    ASK(cuArrayDestroy(array));
    ASK(cuMipmappedArrayCreate(&mipmapped, &deep, 2));
    ASK(cuMipmappedArrayGetLevel(&array, mipmapped, 1));
    ASK(cuMipmappedArrayGetLevel(&array, mipmapped, 5));
    ASK(cuMipmappedArrayDestroy(mipmapped));
    ASK(cuArrayDestroy(nullptr));
}

void kinds_of_pointers() {
    CUcontext const context = start();
    CUstream const stream = make_stream();
    CUdeviceptr device = 0, managed = 0, ordered = 0;
    void *host = nullptr, *page = std::aligned_alloc(4096, 4096);
    cuMemAlloc(&device, 4096);
    cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL);
    cuMemAllocAsync(&ordered, 4096, stream);
    cuMemHostAlloc(&host, 4096, 0);
    cuMemHostRegister(page, 4096, 0);
    auto const address = [](void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
    for (auto const& [name, pointer] :
         {std::pair{"device", device}, std::pair{"managed", managed}, std::pair{"stream-ordered", ordered},
          std::pair{"pinned", address(host)}, std::pair{"registered", address(page)}}) {
        std::string const of = name;
        unsigned type = 9, is_managed = 9, mapped = 9;
        int ordinal = 9;
        CUcontext in = nullptr;
        CUdeviceptr start_of_range = 0;
        std::size_t size = 0;
        ask((of + ": type").c_str(), cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
        ask_number((of + ": type is").c_str(), type);
        ask((of + ": managed").c_str(), cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer));
        ask_number((of + ": managed is").c_str(), is_managed);
        ask((of + ": ordinal").c_str(), cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
        ask_number((of + ": ordinal is").c_str(), ordinal);
        ask((of + ": context").c_str(), cuPointerGetAttribute(&in, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
        ask((of + ": context is current one").c_str(), in == context);
        ask((of + ": mapped").c_str(), cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, pointer));
        ask_number((of + ": mapped is").c_str(), mapped);
        ask((of + ": range").c_str(), cuMemGetAddressRange(&start_of_range, &size, pointer + 8));
        ask((of + ": range starts there").c_str(), start_of_range == pointer);
        ask_number((of + ": size of the range").c_str(), static_cast<long long>(size));
    }
    std::free(page);
}

}  // namespace

group const memory_groups[] = {{"plain", plain},
                               {"freed_as_stream_ordered", freed_as_stream_ordered},
                               {"host", host},
                               {"pointers", pointers},
                               {"pools", pools, alone},
                               {"ordered_frees", ordered_frees},
                               {"virtual_memory", virtual_memory},
                               {"sharing_in_one_process", sharing_in_one_process, alone},
                               {"arrays", arrays},
                               {"kinds_of_pointers", kinds_of_pointers},
                               {nullptr, nullptr}};

}  // namespace lastref::conformance
