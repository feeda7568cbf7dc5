// The wakers that need nothing but POSIX.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "kept_queue.h"
#include "lastref/reference/manual_waker.h"
#include "lastref/reference/posix/eventfd_waker.h"
#include "lastref/reference/posix/thread_waker.h"

namespace lastref::reference {
namespace {

struct counted {
    explicit counted(std::atomic<int>& count) : count_(&count) {}
    counted(counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    ~counted() {
        if (count_) count_->fetch_add(1);
    }
    std::atomic<int>* count_;
};

void enqueue(deferred_cleanup_queue& queue, std::atomic<int>& count) {
    queue.enqueue(make_cleanup_ticket(counted(count)).release());
}

bool is_readable(int descriptor) {
    pollfd waited{descriptor, POLLIN, 0};
    return ::poll(&waited, 1, 0) == 1;
}

TEST(manual_waker_test, is_due_once) {
    manual_waker wakes;
    deferred_cleanup_queue queue(wakes);
    std::atomic<int> cleaned{0};
    EXPECT_FALSE(wakes.is_due());
    enqueue(queue, cleaned);
    enqueue(queue, cleaned);
    EXPECT_TRUE(wakes.is_due());
    EXPECT_EQ(wakes.poll(queue), 2u);
    EXPECT_FALSE(wakes.is_due());
}

TEST(eventfd_waker_test, the_descriptor_is_readable_while_a_wake_up_is_due) {
    eventfd_waker wakes;
    deferred_cleanup_queue queue(wakes);
    std::atomic<int> cleaned{0};
    EXPECT_FALSE(is_readable(wakes.descriptor()));
    EXPECT_EQ(wakes.deliver(queue), 0u);
    enqueue(queue, cleaned);
    enqueue(queue, cleaned);
    EXPECT_TRUE(is_readable(wakes.descriptor()));
    EXPECT_EQ(wakes.deliver(queue), 2u);
    EXPECT_FALSE(is_readable(wakes.descriptor()));
    EXPECT_EQ(cleaned, 2);
}

TEST(eventfd_waker_test, refuses_where_the_descriptor_takes_nothing_and_keeps_errno) {
    eventfd_waker wakes;
    deferred_cleanup_queue queue(wakes);
    std::atomic<int> cleaned{0};
    // A program that closes all descriptors has closed this one too; here it becomes one that cannot be written.
    int const whole = ::dup(wakes.descriptor());
    int const null = ::open("/dev/null", O_RDONLY);
    ASSERT_EQ(::dup2(null, wakes.descriptor()), wakes.descriptor());
    errno = ERANGE;
    enqueue(queue, cleaned);
    EXPECT_EQ(errno, ERANGE);
    EXPECT_FALSE(queue.is_scheduled());
    EXPECT_EQ(queue.counts().refusals, 1u);
    ASSERT_EQ(::dup2(whole, wakes.descriptor()), wakes.descriptor());
    EXPECT_TRUE(queue.retry());
    EXPECT_EQ(wakes.deliver(queue), 1u);
    ::close(whole);
    ::close(null);
    ::close(wakes.descriptor());
}

TEST(thread_waker_test, refuses_until_started_and_then_makes_good) {
    thread_waker wakes;
    auto& queue = testing::kept_queue(wakes);
    std::atomic<int> cleaned{0};
    enqueue(queue, cleaned);
    EXPECT_FALSE(queue.is_scheduled());
    wakes.start(queue);
    while (cleaned.load() < 1) std::this_thread::yield();
    queue.stop();
    wakes.stop();
    wakes.stop();
    enqueue(queue, cleaned);
    EXPECT_EQ(queue.leaked(), 1u);
    EXPECT_EQ(cleaned, 1);
}

TEST(thread_waker_test, cleans_up_on_its_own_thread_while_many_enqueue) {
    thread_waker wakes;
    auto& queue = testing::kept_queue(wakes);
    std::atomic<int> cleaned{0};
    wakes.start(queue);
    std::vector<std::thread> producers;
    for (int p = 0; p < 8; ++p)
        producers.emplace_back([&] {
            for (int i = 0; i < 5000; ++i) enqueue(queue, cleaned);
        });
    for (auto& thread : producers) thread.join();
    while (cleaned.load() < 8 * 5000) std::this_thread::yield();
    EXPECT_EQ(queue.counts().refusals, 0u);
    queue.stop();
    wakes.stop();
    EXPECT_EQ(queue.leaked(), 0u);
}

// Producers go on through the end of the consumer: whatever is not cleaned up is leaked and counted, nothing in
// between.
TEST(thread_waker_test, stopped_under_load) {
    for (int run = 0; run < 20; ++run) {
        auto& wakes = *new thread_waker;  // as in a program: late callbacks still find it
        auto& queue = testing::kept_queue(wakes);
        static std::atomic<int> cleaned;
        cleaned = 0;
        wakes.start(queue);
        std::thread producer([&] {
            for (int i = 0; i < 2000; ++i) enqueue(queue, cleaned);
        });
        while (cleaned.load() < 50 * run) std::this_thread::yield();
        queue.stop();
        wakes.stop();
        producer.join();
        EXPECT_EQ(static_cast<std::size_t>(cleaned.load()) + queue.leaked(), 2000u);
    }
}

}  // namespace
}  // namespace lastref::reference
