// The ways in, what always works, injected failures, the end of the driver.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

void* library() {
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
}

void* found(char const* name, int version, cuuint64_t flags = 0) {
    void* address = nullptr;
    cuGetProcAddress(name, &address, version, flags, nullptr);
    return address;
}

TEST(entry_points, every_symbol_of_the_tables_is_exported_once) {
    std::set<std::string> names;
    int known = 0;
    unsigned index = 0;
    for (; char const* const name = lastref_simdriver_symbol(index, &known); ++index) {
        EXPECT_TRUE(dlsym(library(), name)) << name;
        EXPECT_TRUE(names.insert(name).second) << name;
    }
    EXPECT_GT(index, 600u);
}

TEST(entry_points, what_has_no_behaviour_says_so) {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(reinterpret_cast<CUresult (*)(void**)>(dlsym(library(), "cuTexRefCreate"))(nullptr),
              CUDA_ERROR_NOT_SUPPORTED);
}

TEST(entry_points, lookup_gives_the_newest_abi_that_the_version_knows) {
    EXPECT_EQ(found("cuMemAlloc", 2000), dlsym(library(), "cuMemAlloc"));
    EXPECT_EQ(found("cuMemAlloc", 12000), dlsym(library(), "cuMemAlloc_v2"));
    EXPECT_EQ(found("cuGraphInstantiate", 12000), dlsym(library(), "cuGraphInstantiate_v2"));
    EXPECT_EQ(found("cuStreamGetCaptureInfo", 11030), dlsym(library(), "cuStreamGetCaptureInfo_v2"));
    EXPECT_EQ(found("cuStreamGetCaptureInfo", 13000), dlsym(library(), "cuStreamGetCaptureInfo_v3"));
}

TEST(entry_points, per_thread_lookup_gives_the_variant_or_else_the_plain_symbol) {
    constexpr cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    EXPECT_EQ(found("cuMemFreeAsync", 12000, per_thread), dlsym(library(), "cuMemFreeAsync_ptsz"));
    EXPECT_EQ(found("cuMemsetD8", 12000, per_thread), dlsym(library(), "cuMemsetD8_v2_ptds"));
    EXPECT_EQ(found("cuMemFree", 12000, per_thread), dlsym(library(), "cuMemFree_v2"));
    EXPECT_EQ(found("cuMemFreeAsync", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM), dlsym(library(), "cuMemFreeAsync"));
}

TEST(entry_points, lookup_says_why_it_found_nothing) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status{};
    EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &address, 12000, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(cuGetProcAddress("cuMemAllocAsync", &address, 11000, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT_EQ(cuGetProcAddress("cuInit", &address, 12000, 64, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST(entry_points, texts_of_errors) {
    char const* text = nullptr;
    EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "CUDA_ERROR_INVALID_CONTEXT");
    EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text, nullptr);
}

TEST(entry_points, injected_failure_hits_the_call_with_its_number_and_has_no_effect) {
    CUcontext context = nullptr;
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    ASSERT_EQ(lastref_simdriver_set("LASTREF_SIM_FAIL", "cuMemFree:2:201,nonsense,cuMemAlloc:0:2"), 0);
    EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
    ASSERT_EQ(lastref_simdriver_set("LASTREF_SIM_FAIL", nullptr), 0);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_EQ(lastref_simdriver_set("LASTREF_SIM_NO_SUCH_THING", "1"), 1);
    EXPECT_EQ(lastref_simdriver_set("LASTREF_SIM_KERNEL_US", "-1"), 1);
    ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

// Each of these runs in a program of its own, for the sake of its environment or its end.
class own_process : public ::testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

[[noreturn]] void exit_with(bool good) {
    std::exit(good ? 0 : 1);
}

void two_devices_less_one() {
    int devices = 0;
    setenv("LASTREF_SIM_DEVICES", "1", 1);
    setenv("LASTREF_SIM_FAIL", "cuDeviceGetCount:2:999", 1);
    cuInit(0);
    bool const first = cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices == 1;
    exit_with(first && cuDeviceGetCount(&devices) == CUDA_ERROR_UNKNOWN);
}

TEST_F(own_process, environment_sets_devices_and_failures) {
    EXPECT_EXIT(two_devices_less_one(), ::testing::ExitedWithCode(0), "");
}

void call_before_init() {
    int value = 0;
    bool const refused = cuDeviceGetCount(&value) == CUDA_ERROR_NOT_INITIALIZED;
    exit_with(refused && cuDriverGetVersion(&value) == CUDA_SUCCESS && value == 13000);
}

TEST_F(own_process, before_init_every_call_is_refused_but_the_version) {
    EXPECT_EXIT(call_before_init(), ::testing::ExitedWithCode(0), "");
}

CUresult result_late = CUDA_SUCCESS;

void check_teardown() {
    CUdeviceptr memory = 0;
    bool const gone = result_late == CUDA_SUCCESS && cuMemAlloc(&memory, 64) == CUDA_ERROR_DEINITIALIZED &&
                      cuMemFree(0) == CUDA_ERROR_DEINITIALIZED && cuInit(0) == CUDA_ERROR_DEINITIALIZED;
    _exit(gone ? 0 : 1);
}

void call_after_teardown() {
    std::atexit(check_teardown);
    cuInit(0);
    std::atexit([] {
        int count = 0;
        result_late = cuDeviceGetCount(&count);
    });
    std::exit(2);
}

TEST_F(own_process, after_teardown_every_call_says_deinitialized) {
    EXPECT_EXIT(call_after_teardown(), ::testing::ExitedWithCode(0), "");
}

void fork_after_init() {
    cuInit(0);
    int count = 0, status = 0;
    if (pid_t const child = fork()) {
        waitpid(child, &status, 0);
        exit_with(status == 0 && cuDeviceGetCount(&count) == CUDA_SUCCESS);
    }
    exit_with(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
}

TEST_F(own_process, forked_child_is_refused) {
    EXPECT_EXIT(fork_after_init(), ::testing::ExitedWithCode(0), "");
}

void leave_destructor_due() {
    CUuserObject object = nullptr;
    cuInit(0);
    lastref_simdriver_set("LASTREF_SIM_CALLBACK_US", "50000");
    cuUserObjectCreate(
        &object, nullptr, [](void*) { _exit(1); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    cuUserObjectRelease(object, 1);
    std::atexit([] { usleep(100); });
    std::exit(0);
}

TEST_F(own_process, nothing_that_is_due_runs_at_exit) {
    EXPECT_EXIT(leave_destructor_due(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lastref::simdriver::test
