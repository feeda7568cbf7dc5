// The reference and a CUDA driver: the simulated one in every build; the same program runs on a real one (it links
// libcuda.so.1).
#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "lastref/reference/cuda/cuda_driver.h"
#include "lastref/reference/device_error_word.h"
#include "lastref/reference/graph_attachment.h"
#include "lastref/reference/pinned_staging.h"
#include "lastref/reference/pool_resource.h"
#include "lastref/reference/posix/thread_waker.h"
#include "lastref/reference/process_lifetime.h"
#include "lastref/reference/stream_ordered_buffer.h"
#include "lastref/reference/user_object.h"

namespace lastref::reference {
namespace {

constinit process_lifetime<thread_waker> waker_in_use;
constinit process_lifetime<deferred_cleanup_queue> queue_in_use;

// A kernel's place in a graph: waits until the test lets it go.
struct gate {
    static void CUDA_CB wait(void* opened) {
        while (!static_cast<std::atomic<bool>*>(opened)->load()) std::this_thread::yield();
    }
    std::atomic<bool> is_open{false};
};

void expect_success(CUresult result) {
    char const* name = "unknown";
    cuGetErrorName(result, &name);
    EXPECT_EQ(result, CUDA_SUCCESS) << name;
}

struct driver_test : ::testing::Test {
    driver_test() {
        if (cuInit(0) != CUDA_SUCCESS) return;
        if (!queue_in_use.get()) {
            auto& wakes = waker_in_use.emplace();
            wakes.start(queue_in_use.emplace(wakes));
        }
        CUdevice device;
        expect_success(cuDeviceGet(&device, 0));
        expect_success(cuDevicePrimaryCtxRetain(&primary, device));
        expect_success(cuCtxSetCurrent(primary));
        expect_success(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        expect_success(cuDeviceGetDefaultMemPool(&default_pool, device));
    }
    ~driver_test() override {
        if (stream) expect_success(cuStreamDestroy(stream));
        cuCtxSetCurrent(nullptr);
        if (primary) expect_success(cuDevicePrimaryCtxRelease(0));
    }

    void SetUp() override {
        if (!primary) GTEST_SKIP() << "no driver or no device";
        // The clean-up thread has no current context, and must not need one.
    }

    static bool soon(auto&& condition) {
        auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    std::uint64_t used() const {
        cuuint64_t bytes = 0;
        expect_success(cuMemPoolGetAttribute(default_pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
        return bytes;
    }

    user_object make(std::shared_ptr<int> owned) {
        return user_object::create(cuda(), make_cleanup_ticket(std::move(owned)), &enqueue_cleanup<queue_in_use>);
    }

    // A graph of one host node that waits for `is_open`.
    CUgraph make_graph(gate& held) {
        CUgraph made = nullptr;
        CUgraphNode node;
        CUDA_HOST_NODE_PARAMS parameters{&gate::wait, &held.is_open};
        expect_success(cuGraphCreate(&made, 0));
        expect_success(cuGraphAddHostNode(&node, made, nullptr, 0, &parameters));
        return made;
    }

    bool is_kept() { return payload.use_count() > 1; }
    bool is_gone_soon() {
        return soon([this] { return payload.use_count() == 1; });
    }
    // Not a proof that nothing comes later, but what came too early is seen.
    bool is_kept_for_a_while() {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return is_kept();
    }

    CUcontext primary = nullptr;
    CUstream stream = nullptr;
    CUmemoryPool default_pool = nullptr;
    std::shared_ptr<int> payload = std::make_shared<int>(1);
};

TEST_F(driver_test, a_clone_keeps_the_payload) {
    gate held;
    auto const graph = make_graph(held);
    make(payload).move_to(graph);
    CUgraph clone;
    expect_success(cuGraphClone(&clone, graph));
    expect_success(cuGraphDestroy(graph));
    EXPECT_TRUE(is_kept_for_a_while());
    expect_success(cuGraphDestroy(clone));
    EXPECT_TRUE(is_gone_soon());
}

TEST_F(driver_test, an_executable_graph_destroyed_in_flight_keeps_the_payload_until_it_has_run) {
    gate held;
    auto const graph = make_graph(held);
    make(payload).move_to(graph);
    CUgraphExec exec;
    expect_success(cuGraphInstantiate(&exec, graph, 0));
    expect_success(cuGraphDestroy(graph));
    expect_success(cuGraphLaunch(exec, stream));
    expect_success(cuGraphExecDestroy(exec));
    EXPECT_TRUE(is_kept_for_a_while());
    held.is_open = true;
    expect_success(cuStreamSynchronize(stream));
    EXPECT_TRUE(is_gone_soon());
}

TEST_F(driver_test, an_update_exchanges_the_payloads) {
    gate held;
    held.is_open = true;
    auto const second_payload = std::make_shared<int>(2);
    auto const first = make_graph(held);
    auto const second = make_graph(held);
    make(payload).move_to(first);
    make(second_payload).move_to(second);
    CUgraphExec exec;
    expect_success(cuGraphInstantiate(&exec, first, 0));
    expect_success(cuGraphDestroy(first));
    EXPECT_TRUE(is_kept_for_a_while());
    CUgraphExecUpdateResultInfo info{};
    expect_success(cuGraphExecUpdate(exec, second, &info));
    EXPECT_TRUE(is_gone_soon());
    expect_success(cuGraphDestroy(second));
    EXPECT_EQ(second_payload.use_count(), 2);
    expect_success(cuGraphExecDestroy(exec));
    EXPECT_TRUE(soon([&] { return second_payload.use_count() == 1; }));
}

TEST_F(driver_test, buffers_of_a_bundle_are_freed_by_a_thread_without_context) {
    auto const before = used();
    gate held;
    auto const graph = make_graph(held);
    graph_attachment attachment(cuda(), graph, &enqueue_cleanup<queue_in_use>);
    attachment_bundle first;
    first.keep(stream_ordered_buffer::allocate(cuda(), 1 << 20, stream));
    first.keep(stream_ordered_buffer::allocate(cuda(), 1 << 20, legacy_stream()));
    first.keep(stream_ordered_buffer::allocate(cuda(), 1 << 20, per_thread_stream()));
    attachment.replace(std::move(first));
    CUgraphExec exec;
    expect_success(cuGraphInstantiate(&exec, graph, 0));
    attachment.replace(attachment_bundle());
    EXPECT_GE(used(), before + (3 << 20)) << "the executable graph needs the first bundle";
    expect_success(cuGraphLaunch(exec, stream));
    expect_success(cuGraphExecDestroy(exec));
    held.is_open = true;
    expect_success(cuStreamSynchronize(stream));
    EXPECT_TRUE(soon([&] {
        cuCtxSynchronize();
        return used() == before;
    }));
    expect_success(cuGraphDestroy(graph));
}

TEST_F(driver_test, a_recipe_is_replayed_on_a_thread_without_context) {
    auto const before = used();
    for (auto const token : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, stream}) {
        auto buffer = stream_ordered_buffer::allocate(cuda(), 1 << 20, token);
        std::thread([&] {
            EXPECT_EQ(buffer.free(), status::success);
            CUcontext left = primary;
            expect_success(cuCtxGetCurrent(&left));
            EXPECT_EQ(left, nullptr) << "left as found";
        }).join();
        EXPECT_TRUE(soon([&] { return cuCtxSynchronize() == CUDA_SUCCESS && used() == before; }));
    }
}

// The measured fact behind the recipe: without it, the same free fails and the memory stays.
TEST_F(driver_test, without_a_recipe_a_token_fails_there) {
    auto buffer = stream_ordered_buffer::allocate(cuda(), 1 << 20, legacy_stream());
    std::thread([&] {
        EXPECT_EQ(cuMemFreeAsync(buffer.pointer(), CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT);
    }).join();
    EXPECT_EQ(buffer.free(), status::success);
}

TEST_F(driver_test, the_per_thread_token_says_that_it_loses_its_order) {
    auto const own = stream_ordered_buffer::allocate(cuda(), 64, CU_STREAM_PER_THREAD);
    auto const legacy = stream_ordered_buffer::allocate(cuda(), 64, CU_STREAM_LEGACY);
    EXPECT_EQ(order_of(own.recipe()), ordering::replaying_thread);
    EXPECT_EQ(order_of(legacy.recipe()), ordering::exact);
}

TEST_F(driver_test, a_buffer_moves_to_another_stream_behind_the_work_of_its_own) {
    gate held;
    CUstream other;
    expect_success(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    {
        auto buffer = stream_ordered_buffer::allocate(cuda(), 1 << 20, stream);
        expect_success(cuLaunchHostFunc(stream, &gate::wait, &held.is_open));
        buffer.move_to(other);
        EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
        held.is_open = true;
    }
    expect_success(cuStreamSynchronize(other));
    expect_success(cuStreamDestroy(other));
}

TEST_F(driver_test, pinned_memory_is_freed_after_the_work_on_it) {
    gate held;
    std::atomic<bool> freed{false};
    auto staging = std::make_unique<pinned_staging>(cuda(), 4096);
    staging->begin_use(stream);
    expect_success(cuLaunchHostFunc(stream, &gate::wait, &held.is_open));
    staging->end_use(stream);
    std::thread freer([&] {
        cuCtxSetCurrent(primary);
        staging.reset();
        freed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(freed.load());
    held.is_open = true;
    freer.join();
    EXPECT_TRUE(freed.load());
}

TEST_F(driver_test, an_error_word_starts_clear) {
    device_error_word word(cuda(), stream);
    expect_success(cuMemsetD32Async(word.pointer(), 3, 1, stream));  // a kernel's atomicOr
    word.enqueue_read(stream);
    expect_success(cuStreamSynchronize(stream));
    EXPECT_EQ(word.bits(), 3u);
    word.enqueue_clear(stream);
    word.enqueue_read(stream);
    expect_success(cuStreamSynchronize(stream));
    EXPECT_EQ(word.bits(), 0u);
}

constinit process_lifetime<pool_resource> pool_in_use;

TEST_F(driver_test, a_pool_of_its_own_keeps_what_is_freed) {
    auto& pool = pool_in_use.emplace(cuda(), 0);
    { auto const buffer = pool.allocate(1 << 20, stream); }
    expect_success(cuStreamSynchronize(stream));
    cuuint64_t reserved = 0;
    expect_success(cuMemPoolGetAttribute(pool.handle(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    EXPECT_GE(reserved, 1u << 20);
}

// The process ends with payloads in a graph, in flight and in the queue. In a process of its own; its end is looked at.
[[noreturn]] void exit_with_everything_left() {
    cuInit(0);
    CUcontext context;
    CUstream stream;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    auto& wakes = waker_in_use.emplace();
    auto& queue = queue_in_use.emplace(wakes);
    wakes.start(queue);
    static std::shared_ptr<stream_ordered_buffer> late;  // freed by a static destructor, after the driver's teardown
    late = std::make_shared<stream_ordered_buffer>(stream_ordered_buffer::allocate(cuda(), 64, stream));
    CUgraph graph;
    cuGraphCreate(&graph, 0);
    graph_attachment attachment(cuda(), graph, &enqueue_cleanup<queue_in_use>);
    attachment_bundle bundle;
    bundle.keep(stream_ordered_buffer::allocate(cuda(), 64, stream));
    attachment.replace(std::move(bundle));
    std::thread([] {  // releases on and on, through the whole exit
        for (;;) {
            try {
                user_object::create(cuda(), make_cleanup_ticket(1), &enqueue_cleanup<queue_in_use>).release();
            } catch (driver_error const&) {
                std::this_thread::yield();
            }
        }
    })
        .detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    queue.stop();
    wakes.stop();
    std::exit(7);
}

TEST(driver_exit_test, callbacks_during_exit) {
    if (cuInit(0) != CUDA_SUCCESS) GTEST_SKIP() << "no driver or no device";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_with_everything_left(), ::testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace lastref::reference
