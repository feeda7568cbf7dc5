#include <vector>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

class memory : public driver_test {
  protected:
    static CUdeviceptr allocate(std::size_t bytes) {
        CUdeviceptr made = 0;
        EXPECT_EQ(cuMemAlloc(&made, bytes), CUDA_SUCCESS);
        return made;
    }
    static std::size_t free_bytes() {
        std::size_t free = 0, total = 0;
        EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
        return free;
    }
};

TEST_F(memory, copies_and_sets_really_happen) {
    CUdeviceptr const a = allocate(64), b = allocate(64);
    std::vector<unsigned char> in(64, 7), out(64, 0);
    OK(cuMemcpyHtoD(a, in.data(), 64));
    OK(cuMemsetD16(a, 0x0102, 4));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuMemcpyDtoDAsync(b, a, 64, stream));
    OK(cuMemcpyDtoHAsync(out.data(), b, 64, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(out[0], 2);
    EXPECT_EQ(out[1], 1);
    EXPECT_EQ(out[8], 7);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

TEST_F(memory, two_dimensions) {
    CUdeviceptr image = 0;
    std::size_t pitch = 0;
    OK(cuMemAllocPitch(&image, &pitch, 3, 4, 4));
    EXPECT_GE(pitch, 3u);
    OK(cuMemsetD2D8(image, pitch, 5, 3, 4));
    std::vector<unsigned char> packed(12, 0);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = image;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = packed.data();
    copy.dstPitch = 3;
    copy.WidthInBytes = 3;
    copy.Height = 4;
    OK(cuMemcpy2D(&copy));
    EXPECT_EQ(packed, std::vector<unsigned char>(12, 5));
    OK(cuMemFree(image));
}

TEST_F(memory, bad_frees) {
    int on_stack = 0;
    CUdeviceptr const a = allocate(4096);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(a + 256));
    GIVES(CUDA_SUCCESS, cuMemFree(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));
    GIVES(CUDA_SUCCESS, cuMemFree(0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(&on_stack));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(&on_stack));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(&on_stack), stream));
}

TEST_F(memory, plain_free_needs_no_context) {
    CUdeviceptr const a = allocate(64);
    on_thread([a] { GIVES(CUDA_SUCCESS, cuMemFree(a)); });
}

TEST_F(memory, free_waits_for_work) {
    CUdeviceptr const a = allocate(64);
    std::atomic<int> freed{0};
    gate held(stream);
    std::thread other([&] {
        EXPECT_EQ(cuMemFree(a), CUDA_SUCCESS);
        freed = 1;
    });
    give_it_time();
    EXPECT_EQ(freed, 0);
    held.open();
    other.join();
}

TEST_F(memory, is_accounted_for) {
    std::size_t const before = free_bytes();
    CUdeviceptr const a = allocate(1 << 20);
    EXPECT_EQ(before - free_bytes(), std::size_t{1} << 20);
    OK(cuMemFree(a));
    EXPECT_EQ(free_bytes(), before);
    CUdeviceptr too_large = 0;
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&too_large, before + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&too_large, 0));
}

TEST_F(memory, addresses_are_recycled) {
    CUdeviceptr const a = allocate(12345);
    OK(cuMemFree(a));
    EXPECT_EQ(allocate(12345), a);
    OK(cuMemFree(a));
}

TEST_F(memory, registered_and_pinned) {
    std::vector<char> buffer(8192);
    void* pinned = nullptr;
    CUdeviceptr seen = 0;
    OK(cuMemHostRegister(buffer.data(), buffer.size(), 0));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(buffer.data() + 100, 10, 0));
    OK(cuMemHostUnregister(buffer.data()));
    OK(cuMemHostAlloc(&pinned, 100, 0));
    OK(cuMemHostGetDevicePointer(&seen, pinned, 0));
    EXPECT_EQ(seen, reinterpret_cast<CUdeviceptr>(pinned));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(seen));
    OK(cuMemFreeHost(pinned));
}

TEST_F(memory, pointers_can_be_asked_about) {
    CUdeviceptr const a = allocate(4096);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    unsigned long long first = 0, second = 0;
    unsigned type = 0;
    OK(cuMemGetAddressRange(&base, &size, a + 100));
    EXPECT_EQ(base, a);
    EXPECT_EQ(size, 4096u);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
    OK(cuMemFree(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    ASSERT_EQ(allocate(4096), a);
    OK(cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
    EXPECT_NE(first, second) << "an id is never given twice, an address is";
    OK(cuMemFree(a));
}

}  // namespace
}  // namespace lastref::simdriver::test
