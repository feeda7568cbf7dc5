// Arrays, semaphores, green contexts, modules, kernels.
#include <vector>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

using arrays = driver_test;
using semaphores = driver_test;
using green_contexts = driver_test;
using kernels = driver_test;

TEST_F(arrays, hold_what_is_copied_into_them) {
    CUarray array = nullptr;
    CUDA_ARRAY_DESCRIPTOR const shape{8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    std::vector<unsigned char> in(32), out(32);
    for (std::size_t index = 0; index < in.size(); ++index) in[index] = static_cast<unsigned char>(index);
    OK(cuArrayCreate(&array, &shape));
    OK(cuMemcpyHtoA(array, 0, in.data(), in.size()));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = out.data();
    copy.dstPitch = 8;
    copy.WidthInBytes = 8;
    copy.Height = 3;
    OK(cuMemcpy2D(&copy));
    EXPECT_EQ(out[0], 8);
    EXPECT_EQ(out[23], 31);
    OK(cuArrayDestroy(array));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
}

TEST_F(arrays, mipmapped_levels_halve) {
    CUmipmappedArray array = nullptr;
    CUarray level = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR shape{}, read{};
    shape.Width = shape.Height = 16;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 4;
    OK(cuMipmappedArrayCreate(&array, &shape, 3));
    OK(cuMipmappedArrayGetLevel(&level, array, 2));
    OK(cuArray3DGetDescriptor(&read, level));
    EXPECT_EQ(read.Width, 4u);
    OK(cuMipmappedArrayDestroy(array));
}

TEST_F(semaphores, order_streams) {
    CUexternalSemaphore semaphore = nullptr;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC from{};
    from.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    from.handle.fd = -1;
    OK(cuImportExternalSemaphore(&semaphore, &from));
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait{};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal{};
    wait.params.fence.value = 2;
    OK(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream));
    give_it_time();
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    signal.params.fence.value = 3;
    OK(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, CU_STREAM_LEGACY));
    OK(cuStreamSynchronize(stream));
    OK(cuDestroyExternalSemaphore(semaphore));
}

TEST_F(green_contexts, are_contexts_of_their_own) {
    CUdevResource all{};
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr, read = nullptr;
    CUcontext inside = nullptr;
    CUstream in_green = nullptr;
    CUevent event = nullptr;
    std::atomic<int> ran{0};
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDevResourceGenerateDesc(&description, &all, 1));
    OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuCtxFromGreenCtx(&inside, green));
    EXPECT_NE(inside, primary);
    OK(cuGreenCtxStreamCreate(&in_green, green, CU_STREAM_NON_BLOCKING, 0));
    OK(cuStreamGetGreenCtx(in_green, &read));
    EXPECT_EQ(read, green);
    OK(cuCtxSetCurrent(inside));  // an event belongs to the context that is current when it is made
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    {
        gate held(in_green);
        OK(cuGreenCtxRecordEvent(green, event));
        OK(cuStreamWaitEvent(stream, event, 0));
        OK(cuLaunchHostFunc(stream, count, &ran));
        give_it_time();
        EXPECT_EQ(ran, 0);
    }
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(ran, 1);
    OK(cuEventDestroy(event));
    OK(cuCtxSetCurrent(primary));
    OK(cuGreenCtxDestroy(green));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(in_green));
}

constexpr char ptx[] = R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .b8 table[16];
.visible .entry first() { ret; }
.visible .entry second(.param .u64 p) { ret; }
)";

TEST_F(kernels, are_found_by_name_and_take_their_time) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr table = 0;
    std::size_t bytes = 0;
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "nonsense"));
    OK(cuModuleLoadData(&module, ptx));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "third"));
    OK(cuModuleGetFunction(&function, module, "second"));
    OK(cuModuleGetGlobal(&table, &bytes, module, "table"));
    EXPECT_EQ(bytes, 16u);
    ASSERT_EQ(lastref_simdriver_set("LASTREF_SIM_KERNEL_US", "20000"), 0);
    auto const begin = std::chrono::steady_clock::now();
    OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    OK(cuStreamSynchronize(stream));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, stream, nullptr, nullptr));
    OK(cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(table));
}

TEST_F(kernels, of_a_library_are_loaded_per_context) {
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    CUmodule module = nullptr;
    OK(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    OK(cuLibraryGetKernel(&kernel, library, "first"));
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuLibraryGetModule(&module, library));
    OK(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    OK(cuStreamSynchronize(stream));
    OK(cuLibraryUnload(library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&function, kernel));
}

}  // namespace
}  // namespace lastref::simdriver::test
