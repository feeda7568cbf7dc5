#include <unistd.h>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

class virtual_memory : public driver_test {
  protected:
    void SetUp() override {
        driver_test::SetUp();
        props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        OK(cuMemGetAllocationGranularity(&size, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        OK(cuMemAddressReserve(&range, 2 * size, 0, 0, 0));
    }
    void TearDown() override {
        OK(cuMemAddressFree(range, 2 * size));
        driver_test::TearDown();
    }
    CUmemGenericAllocationHandle create() {
        CUmemGenericAllocationHandle handle = 0;
        EXPECT_EQ(cuMemCreate(&handle, size, &props, 0), CUDA_SUCCESS);
        return handle;
    }
    void allow(CUdeviceptr at) {
        CUmemAccessDesc const access{props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        EXPECT_EQ(cuMemSetAccess(at, size, &access, 1), CUDA_SUCCESS);
    }
    unsigned char first_byte(CUdeviceptr at) {
        unsigned char value = 0;
        EXPECT_EQ(cuMemcpyDtoH(&value, at, 1), CUDA_SUCCESS);
        return value;
    }
    std::size_t free_bytes() {
        std::size_t free = 0, total = 0;
        EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
        return free;
    }
    CUmemAllocationProp props{};
    std::size_t size = 0;
    CUdeviceptr range = 0;
};

TEST_F(virtual_memory, two_mappings_show_the_same_memory) {
    auto const handle = create();
    OK(cuMemMap(range, size, 0, handle, 0));
    OK(cuMemMap(range + size, size, 0, handle, 0));
    allow(range);
    allow(range + size);
    OK(cuMemsetD8(range, 7, size));
    EXPECT_EQ(first_byte(range + size), 7);
    OK(cuMemUnmap(range, 2 * size));
    OK(cuMemRelease(handle));
}

TEST_F(virtual_memory, lives_while_it_is_mapped) {
    std::size_t const before = free_bytes();
    auto const handle = create();
    OK(cuMemMap(range, size, 0, handle, 0));
    OK(cuMemRelease(handle));
    EXPECT_EQ(before - free_bytes(), size);
    OK(cuMemsetD8(range, 3, 16));
    EXPECT_EQ(first_byte(range), 3);
    OK(cuMemUnmap(range, size));
    EXPECT_EQ(free_bytes(), before);
}

TEST_F(virtual_memory, handle_can_be_had_from_an_address) {
    CUmemGenericAllocationHandle again = 0;
    auto const handle = create();
    OK(cuMemMap(range, size, 0, handle, 0));
    OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range + 5)));
    EXPECT_EQ(again, handle);
    OK(cuMemRelease(handle));
    OK(cuMemRelease(again));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
    OK(cuMemUnmap(range, size));
}

TEST_F(virtual_memory, arguments_are_checked) {
    CUmemGenericAllocationHandle handle = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, size + 1, &props, 0));
    OK(cuMemUnmap(range, size)) << "nothing is mapped there, which is no error";
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, size));
    handle = create();
    OK(cuMemMap(range, size, 0, handle, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, size, 0, handle, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(range)) << "unmapped, not freed";
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 2 * size)) << "still mapped";
    OK(cuMemUnmap(range, size));
    OK(cuMemRelease(handle));
}

TEST_F(virtual_memory, exported_and_imported_is_the_same_memory) {
    CUmemGenericAllocationHandle imported = 0;
    int file = -1;
    auto const handle = create();
    OK(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(std::intptr_t{file}),
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    OK(cuMemMap(range, size, 0, handle, 0));
    OK(cuMemMap(range + size, size, 0, imported, 0));
    OK(cuMemsetD8(range, 9, size));
    EXPECT_EQ(first_byte(range + size), 9);
    OK(cuMemUnmap(range, 2 * size));
    OK(cuMemRelease(handle));
    OK(cuMemRelease(imported));
}

}  // namespace
}  // namespace lastref::simdriver::test
