// Recipe and the owners that are built on it, against a driver of our own (fake_driver.h).
#include "lastref/reference/deallocation_recipe.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "fake_driver.h"
#include "kept_queue.h"
#include "lastref/reference/device_error_word.h"
#include "lastref/reference/graph_attachment.h"
#include "lastref/reference/manual_waker.h"
#include "lastref/reference/pinned_staging.h"
#include "lastref/reference/pool_resource.h"
#include "lastref/reference/process_lifetime.h"
#include "lastref/reference/stream_ordered_buffer.h"
#include "lastref/reference/user_object.h"
#include "lastref/reference/warm_up_registry.h"
#include "lastref/reference/workspace_fence.h"

namespace lastref::reference {
namespace {

using testing::context;
using testing::created_stream;
using testing::fake_driver;
using testing::graph;

struct recipe_test : ::testing::Test {
    recipe_test() {
        calls.streams = {{created_stream(7), context(1)}, {created_stream(8), context(2)}};
        fake_driver::current = context(1);
    }
    ~recipe_test() override { EXPECT_EQ(failures.heard(), expected_failures); }

    template <typename Body>
    void on_another_thread(Body body) {
        std::thread([&] {
            body();
            EXPECT_EQ(fake_driver::current, nullptr) << "the thread must be left as it was found";
        }).join();
    }

    fake_driver calls;
    testing::failure_listener failures;
    std::vector<std::string> expected_failures;
};

TEST_F(recipe_test, what_is_captured_for_each_kind_of_stream) {
    struct expectation {
        stream_handle given;
        null_stream null_means;
        stream_handle captured;
        context_handle bound;
        ordering order;
    };
    expectation const table[] = {
        {created_stream(8), null_stream::legacy, created_stream(8), context(2), ordering::exact},
        {legacy_stream(), null_stream::per_thread, legacy_stream(), context(1), ordering::exact},
        {per_thread_stream(), null_stream::legacy, per_thread_stream(), context(1), ordering::replaying_thread},
        {nullptr, null_stream::legacy, legacy_stream(), context(1), ordering::exact},
        {nullptr, null_stream::per_thread, per_thread_stream(), context(1), ordering::replaying_thread},
    };
    for (auto const& row : table) {
        calls.null_means = row.null_means;
        auto const recipe = capture_recipe(calls, row.given);
        EXPECT_EQ(stream_of(recipe), row.captured);
        EXPECT_EQ(context_of(recipe), row.bound);
        EXPECT_EQ(order_of(recipe), row.order);
    }
    static_assert(exact_recipe::order == ordering::exact);
    static_assert(!std::is_convertible_v<replaying_thread_recipe, exact_recipe>, "order is not lost by accident");
}

TEST_F(recipe_test, a_token_without_a_context_cannot_be_captured) {
    fake_driver::current = nullptr;
    EXPECT_THROW(capture_recipe(calls, legacy_stream()), driver_error);
    EXPECT_THROW(capture_recipe(calls, nullptr), driver_error);
    EXPECT_EQ(context_of(capture_recipe(calls, created_stream(7))), context(1));
}

TEST_F(recipe_test, a_buffer_is_freed_from_a_thread_without_context) {
    for (auto const stream : {created_stream(7), legacy_stream(), per_thread_stream(), stream_handle{}}) {
        auto buffer = stream_ordered_buffer::allocate(calls, 64, stream);
        calls.take_calls();
        on_another_thread([&] { EXPECT_EQ(buffer.free(), status::success); });
        EXPECT_TRUE(calls.allocated.empty());
    }
    auto buffer = stream_ordered_buffer::allocate(calls, 64, legacy_stream());
    calls.take_calls();
    on_another_thread([&] { buffer.free(); });
    EXPECT_EQ(calls.take_calls(), "current 1; free 1; current 0; ");
}

TEST_F(recipe_test, a_free_under_another_context_restores_it) {
    auto buffer = stream_ordered_buffer::allocate(calls, 64, legacy_stream());
    fake_driver::current = context(3);
    buffer.free();
    EXPECT_EQ(fake_driver::current, context(3));
    buffer = stream_ordered_buffer::allocate(calls, 64, legacy_stream());
    calls.take_calls();
    buffer.free();
    EXPECT_EQ(calls.take_calls(), "free 1; ") << "nothing is switched where the context is current already";
}

TEST_F(recipe_test, an_invalid_context_is_no_success) {
    auto buffer = stream_ordered_buffer::allocate(calls, 64, legacy_stream());
    calls.failures["free"] = status::invalid_context;
    EXPECT_EQ(buffer.free(), status::invalid_context);
    EXPECT_NE(buffer.pointer(), 0u) << "still owned: it can be tried again";
    calls.failures.clear();
    EXPECT_EQ(buffer.free(), status::success);
    EXPECT_TRUE(calls.allocated.empty());
    expected_failures = {"free_async: invalid context"};
}

TEST_F(recipe_test, a_destructor_that_fails_is_loud) {
    {
        auto const buffer = stream_ordered_buffer::allocate(calls, 64, legacy_stream());
        fake_driver::current = context(2);
        calls.failures["set_current_context"] = status::invalid_context;
    }
    EXPECT_EQ(calls.allocated.size(), 1u) << "freed under a wrong context";
    expected_failures = {"free_async: invalid context"};
}

TEST_F(recipe_test, a_failed_restoration_is_loud) {
    auto const recipe = capture_recipe(calls, legacy_stream());
    fake_driver::current = context(2);
    replay(recipe, calls, "test", 0, [&](stream_handle) {
        calls.failures["set_current_context"] = status::invalid_context;
        return status::success;
    });
    expected_failures = {"restoring the current context: invalid context"};
}

TEST_F(recipe_test, a_failed_allocation_or_adoption_owns_nothing) {
    calls.failures["allocate"] = status::out_of_memory;
    EXPECT_THROW(stream_ordered_buffer::allocate(calls, 64, created_stream(7)), driver_error);
    fake_driver::current = nullptr;
    EXPECT_THROW(stream_ordered_buffer::adopt(calls, 0x100, 64, legacy_stream()), driver_error);
    EXPECT_EQ(calls.take_calls(), "");
}

TEST_F(recipe_test, a_buffer_moves_between_owners_and_streams) {
    auto first = stream_ordered_buffer::allocate(calls, 64, created_stream(7));
    auto second = stream_ordered_buffer::allocate(calls, 64, created_stream(7));
    first = std::move(second);
    EXPECT_EQ(calls.allocated.size(), 1u);
    calls.take_calls();
    first.move_to(created_stream(8));
    first.free();
    EXPECT_EQ(calls.take_calls(), "record 7; current 2; wait 8; current 1; current 2; free 8; current 1; ");
    EXPECT_EQ(calls.events, 0);
    auto third = stream_ordered_buffer::adopt(calls, 0x100, 64, created_stream(7));
    EXPECT_EQ(third.release(), 0x100u);
}

TEST_F(recipe_test, a_fence_waits_only_where_another_stream_comes) {
    workspace_fence fence(calls);
    fence.begin_use(created_stream(7));
    EXPECT_EQ(calls.take_calls(), "") << "nothing to wait for";
    fence.end_use(created_stream(7));
    fence.begin_use(created_stream(7));
    EXPECT_EQ(calls.take_calls(), "record 7; ");
    fence.begin_use(created_stream(8));
    EXPECT_EQ(calls.take_calls(), "wait 8; ");
    fence.end_use(per_thread_stream());
    fence.begin_use(per_thread_stream());
    EXPECT_EQ(calls.take_calls(), "record 2; ");
    std::thread([&] {
        fake_driver::current = context(1);
        fence.begin_use(per_thread_stream());
    }).join();
    EXPECT_EQ(calls.take_calls(), "wait 2; ") << "another thread's default stream is another stream";
    EXPECT_EQ(fence.synchronize(), status::success);
    EXPECT_EQ(calls.take_calls(), "synchronize; ");
}

TEST_F(recipe_test, pinned_memory_is_freed_after_its_last_copy) {
    {
        pinned_staging staging(calls, 64);
        EXPECT_EQ(staging.bytes().size(), 64u);
        staging.begin_use(created_stream(7));
        staging.end_use(created_stream(7));
        calls.take_calls();
    }
    EXPECT_EQ(calls.take_calls(), "synchronize; free_pinned; ");
    EXPECT_EQ(calls.events, 0);
}

TEST_F(recipe_test, pinned_memory_is_leaked_rather_than_freed_in_use) {
    {
        pinned_staging staging(calls, 64);
        staging.end_use(created_stream(7));
        calls.failures["synchronize_event"] = status::deinitialized;
    }
    ASSERT_EQ(calls.pinned.size(), 1u);
    std::free(*calls.pinned.begin());
    expected_failures = {"freeing pinned memory: deinitialized"};
}

TEST_F(recipe_test, an_error_word_is_read_back) {
    device_error_word word(calls, created_stream(7));
    word.enqueue_read(created_stream(7));
    EXPECT_EQ(word.bits(), 0u);
    calls.device_word = 5;
    word.enqueue_read(created_stream(8));
    EXPECT_EQ(word.bits(), 5u);
    word.enqueue_clear(created_stream(8));
    word.enqueue_read(created_stream(8));
    EXPECT_EQ(word.bits(), 0u);
}

constinit process_lifetime<pool_resource> pool;

TEST_F(recipe_test, a_pool_outlives_everything) {
    auto& resource = pool.emplace(calls, 0);
    EXPECT_EQ(resource.device(), 0);
    auto buffer = resource.allocate(64, created_stream(7));
    EXPECT_EQ(calls.allocated.size(), 1u);
    static_assert(std::is_trivially_destructible_v<pool_resource>);
}

constinit warm_up_registry kernels;
warm_up_registry::entry const good(kernels, "good", []() noexcept { return status::success; });
warm_up_registry::entry const bad(kernels, "bad", []() noexcept { return status::out_of_memory; });
warm_up_registry::entry const better(kernels, "better", []() noexcept { return status::success; });

TEST(warm_up_registry_test, loads_all_and_names_the_one_that_failed) {
    auto const seen = kernels.warm_up();
    EXPECT_EQ(seen.loaded, 2u);
    EXPECT_EQ(seen.first_failure, status::out_of_memory);
    EXPECT_STREQ(seen.failed, "bad");
}

// --- user objects and graphs
// -----------------------------------------------------------------------------------------------

constinit process_lifetime<manual_waker> waker_in_use;
constinit process_lifetime<deferred_cleanup_queue> queue_in_use;

struct user_object_test : recipe_test {
    user_object_test() {
        if (!queue_in_use.get()) queue_in_use.emplace(waker_in_use.emplace());
    }

    // As CUDA's callback may run in the middle of a call: nothing is cleaned up before poll().
    std::size_t poll() { return waker_in_use.get()->poll(*queue_in_use.get()); }
    user_object make(std::shared_ptr<int> owned, unsigned references = 1) {
        return user_object::create(calls, make_cleanup_ticket(std::move(owned)), &enqueue_cleanup<queue_in_use>,
                                   references);
    }

    std::shared_ptr<int> payload = std::make_shared<int>(1);
};

TEST_F(user_object_test, the_payload_is_cleaned_up_after_the_last_reference_by_the_drain) {
    {
        auto object = make(payload, 2);
        object.release();
        EXPECT_EQ(object.owned(), 1u);
        object.retain(3);
        EXPECT_EQ(object.owned(), 4u);
        EXPECT_EQ(poll(), 0u);
    }
    EXPECT_EQ(payload.use_count(), 2);
    EXPECT_EQ(poll(), 1u);
    EXPECT_EQ(payload.use_count(), 1);
}

TEST_F(user_object_test, more_than_is_owned_cannot_be_given_away) {
    auto object = make(payload);
    object.move_to(graph(1));
    EXPECT_EQ(object.owned(), 0u);
    EXPECT_THROW(object.release(), std::logic_error);
    EXPECT_THROW(object.move_to(graph(1)), std::logic_error);
    EXPECT_THROW(object.share_with(graph(1)), std::logic_error);
    calls.destroy_graph(graph(1));
    EXPECT_EQ(poll(), 1u);
}

TEST_F(user_object_test, a_shared_payload_waits_for_graph_and_caller) {
    {
        auto object = make(payload);
        object.share_with(graph(1), 2);
        calls.destroy_graph(graph(1));
        EXPECT_EQ(poll(), 0u);
    }
    EXPECT_EQ(poll(), 1u);
}

TEST_F(user_object_test, where_the_driver_refuses_the_payload_is_cleaned_up_at_once) {
    calls.failures["create_user_object"] = status::out_of_memory;
    EXPECT_THROW(make(payload), driver_error);
    EXPECT_EQ(payload.use_count(), 1);
    calls.failures.clear();
    auto object = make(payload);
    calls.failures["graph_retain"] = status::out_of_memory;
    EXPECT_THROW(object.move_to(graph(1)), driver_error);
    EXPECT_EQ(object.owned(), 1u);
    calls.failures.clear();
    object.release();
    EXPECT_EQ(poll(), 1u);
}

TEST_F(user_object_test, a_bundle_is_replaced_as_a_whole_and_attached_before_the_old_one_goes) {
    graph_attachment attachment(calls, graph(1), &enqueue_cleanup<queue_in_use>);
    attachment_bundle first;
    first.keep(payload);
    first.keep(stream_ordered_buffer::allocate(calls, 64, created_stream(7)));
    attachment.replace(std::move(first));
    // A clone, or an executable graph, holds the same version.
    EXPECT_EQ(calls.graph_retain(graph(2), attachment.held(), 1, false), status::success);
    calls.take_calls();
    attachment_bundle second;
    second.keep(payload);
    attachment.replace(std::move(second));
    EXPECT_EQ(calls.take_calls(), "graph_retain; graph_release; ");
    EXPECT_EQ(poll(), 0u) << "the clone still needs the first version";
    EXPECT_EQ(calls.allocated.size(), 1u);
    calls.destroy_graph(graph(2));
    EXPECT_EQ(poll(), 1u);
    EXPECT_TRUE(calls.allocated.empty());
    EXPECT_EQ(payload.use_count(), 2);
    attachment.clear();
    attachment.clear();
    EXPECT_EQ(poll(), 1u);
    EXPECT_EQ(payload.use_count(), 1);
}

TEST_F(user_object_test, a_bundle_that_cannot_be_attached_leaves_the_old_one) {
    graph_attachment attachment(calls, graph(1), &enqueue_cleanup<queue_in_use>);
    attachment_bundle first;
    first.keep(payload);
    attachment.replace(std::move(first));
    auto const held = attachment.held();
    calls.failures["graph_retain"] = status::out_of_memory;
    EXPECT_THROW(attachment.replace(attachment_bundle()), driver_error);
    EXPECT_EQ(attachment.held(), held);
    EXPECT_EQ(poll(), 1u) << "the new bundle, given back by its user object";
    EXPECT_EQ(payload.use_count(), 2);
    calls.failures.clear();
    attachment.clear();
    EXPECT_EQ(poll(), 1u);
}

int warnings = 0;

TEST_F(user_object_test, attaching_a_buffer_of_the_per_thread_stream_warns_once) {
    attachment_warning = [](char const*) noexcept { ++warnings; };
    {
        attachment_bundle bundle;
        bundle.keep(stream_ordered_buffer::allocate(calls, 64, created_stream(7)));
        EXPECT_EQ(warnings, 0);
        bundle.keep(stream_ordered_buffer::allocate(calls, 64, per_thread_stream()));
        bundle.keep(
            std::make_shared<stream_ordered_buffer>(stream_ordered_buffer::allocate(calls, 64, per_thread_stream())));
        EXPECT_EQ(bundle.size(), 3u);
    }
    EXPECT_EQ(warnings, 1);
    EXPECT_TRUE(calls.allocated.empty());
}

}  // namespace
}  // namespace lastref::reference
