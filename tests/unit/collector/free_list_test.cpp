// Segments change hands between program and drain without a lock: none is lost, none is had by two.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <thread>

#include "spool_writer.h"

namespace lastref::test {
namespace {

using namespace spool;

struct free_list_test : testing::Test {
    temporary_folder folder;
    spool_options options = [] {
        spool_options small;
        small.max_bytes = segment_offset(40);
        return small;
    }();
    spool_writer writer{folder / "a.spool", options};
    void* base = writer.base();

    std::uint32_t take() { return take_segment(base, writer.fd(), options.max_bytes); }
};

TEST_F(free_list_test, gives_back_the_last_first_and_is_empty_at_the_end) {
    std::uint32_t const one = take(), other = take();
    EXPECT_EQ(pop_free(base), no_segment);
    push_free(base, one);
    push_free(base, other);
    EXPECT_EQ(pop_free(base), other);
    EXPECT_EQ(pop_free(base), one);
    EXPECT_EQ(pop_free(base), no_segment);
}

TEST_F(free_list_test, grows_up_to_the_cap_and_not_beyond) {
    for (std::uint32_t i = 0; i < 40; ++i) ASSERT_EQ(take(), i);
    EXPECT_EQ(take(), no_segment);
    EXPECT_EQ(errno, EFBIG);
    struct stat status;
    ASSERT_EQ(fstat(writer.fd(), &status), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), options.max_bytes);
}

TEST_F(free_list_test, a_damaged_head_is_no_segment) {
    take();
    writer.header().free_list.store(999);
    EXPECT_EQ(pop_free(base), no_segment);
}

TEST_F(free_list_test, threads_that_grow_at_once_get_different_segments) {
    std::vector<std::vector<std::uint32_t>> taken(4);
    std::vector<std::thread> threads;
    for (auto& mine : taken) {
        threads.emplace_back([&] {
            for (std::uint32_t index = take(); index != no_segment; index = take()) mine.push_back(index);
        });
    }
    for (auto& thread : threads) thread.join();
    std::set<std::uint32_t> all;
    for (auto const& mine : taken) all.insert(mine.begin(), mine.end());
    EXPECT_EQ(all.size(), 40u);
}

// Takers write into what they have; two that had the same segment would see each other's mark.
TEST_F(free_list_test, threads_that_take_and_give_never_share) {
    std::vector<std::uint32_t> const some{take(), take(), take()};
    for (std::uint32_t const index : some) push_free(base, index);
    std::atomic<int> shared{0};
    std::vector<std::thread> threads;
    for (std::uint32_t me = 1; me <= 4; ++me) {
        threads.emplace_back([&, me] {
            for (int i = 0; i < 20000; ++i) {
                std::uint32_t const index = pop_free(base);
                if (index == no_segment) continue;
                segment_header* const segment = segment_at(base, index);
                segment->tid = me;
                for (int pause = 0; pause < 3; ++pause) std::atomic_signal_fence(std::memory_order_seq_cst);
                if (segment->tid != me) ++shared;
                recycle(base, index);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(shared, 0);
    std::set<std::uint32_t> left;
    for (std::uint32_t index = pop_free(base); index != no_segment; index = pop_free(base)) left.insert(index);
    EXPECT_EQ(left, (std::set<std::uint32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace lastref::test
