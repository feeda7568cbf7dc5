// The queue and a Qt event loop.
#include "lastref/reference/qt/event_loop_waker.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <atomic>
#include <memory>
#include <thread>

#include "kept_queue.h"

namespace lastref::reference {
namespace {

struct counted {
    explicit counted(std::atomic<int>& count) : count_(&count) {}
    counted(counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)), thread_(other.thread_) {}
    ~counted() {
        if (!count_) return;
        EXPECT_EQ(std::this_thread::get_id(), thread_);
        count_->fetch_add(1);
    }
    std::atomic<int>* count_;
    std::thread::id thread_;
};

struct event_loop_waker_test : ::testing::Test {
    void enqueue_elsewhere(int count) {
        std::thread([&, loop = std::this_thread::get_id()] {
            for (int i = 0; i < count; ++i) {
                counted payload(cleaned);
                payload.thread_ = loop;
                queue.enqueue(make_cleanup_ticket(std::move(payload)).release());
            }
        }).join();
    }

    void run_loop_until(int expected) {
        QElapsedTimer patience;
        patience.start();
        while (cleaned.load() < expected && patience.elapsed() < 10'000)
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 100);
        EXPECT_EQ(cleaned, expected);
    }

    int argc = 0;
    QCoreApplication application{argc, nullptr};
    event_loop_waker& wakes = *new event_loop_waker;
    deferred_cleanup_queue& queue = testing::kept_queue(wakes);
    std::atomic<int> cleaned{0};
};

TEST_F(event_loop_waker_test, cleans_up_in_the_loop) {
    wakes.attach(queue, &application);
    enqueue_elsewhere(500);
    EXPECT_EQ(cleaned, 0);
    EXPECT_EQ(queue.counts().wakeups, 1u);
    run_loop_until(500);
    enqueue_elsewhere(5);
    run_loop_until(505);
}

TEST_F(event_loop_waker_test, a_wake_up_outlives_its_loop) {
    auto* const first = wakes.attach(queue, nullptr);
    delete first;
    enqueue_elsewhere(3);
    wakes.attach(queue, &application);
    run_loop_until(3);
}

}  // namespace
}  // namespace lastref::reference
