// Memory of one process used by another: the test program starts itself again, and the second process finds in its
// environment what the first has exported.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

constexpr char variable[] = "SIMDRIVER_TEST_EXPORT";
constexpr std::size_t bytes = 4096;

template <class Value>
void publish(Value const& value) {
    std::string text;
    auto const* const raw = reinterpret_cast<unsigned char const*>(&value);
    for (std::size_t index = 0; index < sizeof value; ++index) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", raw[index]);
        text += digits;
    }
    setenv(variable, text.c_str(), 1);
}

template <class Value>
Value published() {
    Value value{};
    std::string const text = std::getenv(variable);
    for (std::size_t index = 0; index < sizeof value; ++index)
        reinterpret_cast<unsigned char*>(&value)[index] =
            static_cast<unsigned char>(std::stoi(text.substr(2 * index, 2), nullptr, 16));
    return value;
}

bool second_process() {
    return std::getenv(variable) != nullptr;
}

class sharing : public driver_test {
  protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        driver_test::SetUp();
    }
    void TearDown() override {
        unsetenv(variable);
        driver_test::TearDown();
    }
};

// Reads what the exporter wrote, writes something else, and says whether all went well.
void use_and_exit(CUdeviceptr memory, CUresult (*give_back)(CUdeviceptr)) {
    unsigned char seen = 0;
    bool const read = cuMemcpyDtoH(&seen, memory, 1) == CUDA_SUCCESS && seen == 5;
    bool const written = cuMemsetD8(memory, 6, bytes) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS;
    std::exit(read && written && give_back(memory) == CUDA_SUCCESS ? 0 : 1);
}

void open_twice() {
    CUdeviceptr first = 0, second = 0;
    auto const handle = published<CUipcMemHandle>();
    cuIpcOpenMemHandle(&first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    cuIpcOpenMemHandle(&second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (!first || first != second || cuIpcCloseMemHandle(second) != CUDA_SUCCESS) std::exit(2);
    use_and_exit(first, cuIpcCloseMemHandle);
}

unsigned char first_byte(CUdeviceptr at) {
    unsigned char value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, at, 1), CUDA_SUCCESS);
    return value;
}

TEST_F(sharing, legacy_handle_opens_in_another_process) {
    CUdeviceptr memory = 0, opened = 0;
    OK(cuMemAlloc(&memory, bytes));
    if (!second_process()) {
        CUipcMemHandle handle{};
        OK(cuIpcGetMemHandle(&handle, memory));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        OK(cuMemsetD8(memory, 5, bytes));
        OK(cuCtxSynchronize());
        publish(handle);
    }
    EXPECT_EXIT(open_twice(), ::testing::ExitedWithCode(0), "");
    EXPECT_EQ(first_byte(memory), 6);
    OK(cuMemFree(memory));
}

struct exported_pool {
    int file;
    CUmemPoolPtrExportData pointer;
};

void import_pool() {
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0, made = 0;
    auto exported = published<exported_pool>();
    if (cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(std::intptr_t{exported.file}),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) != CUDA_SUCCESS)
        std::exit(2);
    if (cuMemAllocFromPoolAsync(&made, bytes, pool, CU_STREAM_LEGACY) == CUDA_SUCCESS) std::exit(3);
    if (cuMemPoolImportPointer(&memory, pool, &exported.pointer) != CUDA_SUCCESS) std::exit(4);
    use_and_exit(memory, [](CUdeviceptr gone) { return cuMemFreeAsync(gone, CU_STREAM_LEGACY); });
}

CUmemoryPool make_exportable_pool() {
    CUmemPoolProps props{};
    CUmemoryPool pool = nullptr;
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    EXPECT_EQ(cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
    return pool;
}

TEST_F(sharing, pool_and_pointer_are_imported_by_another_process) {
    CUdeviceptr memory = 0;
    CUmemoryPool const pool = make_exportable_pool();
    OK(cuMemAllocFromPoolAsync(&memory, bytes, pool, stream));
    OK(cuMemsetD8Async(memory, 5, bytes, stream));
    OK(cuStreamSynchronize(stream));
    exported_pool exported{-1, {}};
    if (!second_process()) {
        OK(cuMemPoolExportToShareableHandle(&exported.file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        OK(cuMemPoolExportPointer(&exported.pointer, memory));
        fcntl(exported.file, F_SETFD, 0);  // for the second process
        publish(exported);
    }
    EXPECT_EXIT(import_pool(), ::testing::ExitedWithCode(0), "");
    EXPECT_EQ(first_byte(memory), 6);
    close(exported.file);
    OK(cuMemFreeAsync(memory, stream));
    OK(cuMemPoolDestroy(pool));
}

TEST_F(sharing, only_a_pool_made_for_it_is_exported) {
    CUmemoryPool standard = nullptr;
    int file = -1;
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuMemPoolExportToShareableHandle(&file, standard, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

TEST_F(sharing, external_memory_is_mapped_and_outlives_its_import) {
    CUexternalMemory imported = nullptr;
    CUdeviceptr memory = 0;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC from{};
    from.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    from.handle.fd = memfd_create("external", MFD_CLOEXEC);
    from.size = 2 * bytes;
    ASSERT_EQ(ftruncate(from.handle.fd, 2 * bytes), 0);
    OK(cuImportExternalMemory(&imported, &from));
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC what{};
    what.offset = bytes;
    what.size = bytes;
    OK(cuExternalMemoryGetMappedBuffer(&memory, imported, &what));
    OK(cuDestroyExternalMemory(imported));
    OK(cuMemsetD8(memory, 4, bytes));
    EXPECT_EQ(first_byte(memory), 4);
    OK(cuMemFree(memory));
}

TEST_F(sharing, event_is_seen_by_another_process) {
    CUevent event = nullptr;
    CUipcEventHandle handle{};
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    gate held(stream);
    OK(cuEventRecord(event, stream));
    if (!second_process()) {
        OK(cuIpcGetEventHandle(&handle, event));
        publish(handle);
    }
    EXPECT_EXIT(
        {
            CUevent opened = nullptr;
            bool const found = cuIpcOpenEventHandle(&opened, published<CUipcEventHandle>()) == CUDA_SUCCESS;
            std::exit(found && cuEventQuery(opened) == CUDA_ERROR_NOT_READY ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
    held.open();
    OK(cuEventSynchronize(event));
    EXPECT_EXIT(
        {
            CUevent opened = nullptr;
            bool const found = cuIpcOpenEventHandle(&opened, published<CUipcEventHandle>()) == CUDA_SUCCESS;
            std::exit(found && cuStreamWaitEvent(CU_STREAM_LEGACY, opened, 0) == CUDA_SUCCESS &&
                              cuStreamSynchronize(CU_STREAM_LEGACY) == CUDA_SUCCESS &&
                              cuEventQuery(opened) == CUDA_SUCCESS
                          ? 0
                          : 1);
        },
        ::testing::ExitedWithCode(0), "");
    OK(cuEventDestroy(event));
}

}  // namespace
}  // namespace lastref::simdriver::test
