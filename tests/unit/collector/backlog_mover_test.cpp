// What the drain has not come to is moved out of the program's segments: nothing is lost, repeated or out of order, and
// the program gets its segments back.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "collector/spool/backlog_mover.h"
#include "collector/spool/chain_reader.h"
#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using namespace spool;
using hooks::abi;

constexpr std::uint64_t start = 1'000'000'000;
constexpr std::uint32_t per_segment = slots_per_segment - 1;

call_record numbered(std::uint64_t number) {
    return make_call({.api = abi::cuMemAlloc_v2, .begin = start + number, .duration = 1, .object = number});
}

// Expects the calls 0, 1, 2 …, and stops where it is told to.
struct counting : chain_visitor {
    std::uint64_t next = 0, wrong = 0, stop_at = ~std::uint64_t{0};
    std::vector<std::uint32_t> entered;

    void segment_begins(std::uint32_t index, segment_header const&) override { entered.push_back(index); }
    bool record(record_view record) override {
        wrong += record.call().object != next;
        return ++next != stop_at;
    }
    void damaged_record(chain_place) override { ++wrong; }
    void segment_finished() override {}
    void unreadable_segment(chain_place) override { ++wrong; }
};

struct backlog_mover_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path path = folder / "999999999-1.spool";
    spool_writer writer{path};
    std::unique_ptr<thread_writer> program = writer.thread(7);
    spool_file file = std::move(*spool_file::open(path, access::read_write).file);
    backlog_mover mover{file};
    counting seen;
    chain_reader reader{program->index(), program->slot().serial, static_cast<std::uint32_t>(abi::count)};

    void write(std::uint64_t from, std::uint64_t to) {
        for (; from < to; ++from) program->call(numbered(from));
    }
    unsigned move_all() {
        unsigned moved = 0;
        while (mover.move_one()) ++moved;
        return moved;
    }
};

TEST_F(backlog_mover_test, what_lies_ahead_of_the_reader_moves_and_reads_the_same) {
    write(0, 10 * per_segment + 5);  // 11 segments: the reader's, nine full ones, the program's
    seen.stop_at = 10;
    reader.read(file, seen);
    EXPECT_EQ(move_all(), 9u);
    EXPECT_EQ(file.free_segments(), 9u);

    write(10 * per_segment + 5, 19 * per_segment);
    EXPECT_EQ(file.segments(), 11u + 9u) << "the program got its own segments back";
    seen.stop_at = ~std::uint64_t{0};
    reader.read(file, seen);
    EXPECT_EQ(seen.next, 19u * per_segment);
    EXPECT_EQ(seen.wrong, 0u);
}

TEST_F(backlog_mover_test, the_readers_and_the_programs_segment_stay) {
    write(0, 2 * per_segment);
    EXPECT_EQ(move_all(), 0u) << "nobody reads yet";
    seen.stop_at = 1;
    reader.read(file, seen);
    EXPECT_EQ(move_all(), 0u) << "the second is full, but the program has not left it";
    write(2 * per_segment, 2 * per_segment + 1);
    EXPECT_EQ(move_all(), 1u);
    EXPECT_EQ(move_all(), 0u) << "once is enough";
    seen.stop_at = per_segment + 1;
    reader.read(file, seen);
    write(2 * per_segment + 1, 4 * per_segment);
    EXPECT_EQ(move_all(), 1u) << "what is behind the reader is left alone";
}

TEST_F(backlog_mover_test, segments_of_copies_serve_copies_again) {
    seen.stop_at = 1;
    std::uint64_t written = 0;
    for (int round = 0; round < 5; ++round) {
        write(written, written + 8 * per_segment + 1);
        written += 8 * per_segment + 1;
        reader.read(file, seen);
        move_all();
        seen.stop_at = ~std::uint64_t{0};
        reader.read(file, seen);
        // As the drain does with what it has written.
        for (std::size_t i = 0; i + 1 < seen.entered.size(); ++i) file.recycle_segment(seen.entered[i]);
        program->slot().first_segment.store(seen.entered.back());
        seen.entered.erase(seen.entered.begin(), seen.entered.end() - 1);
        seen.stop_at = seen.next + 1;
    }
    EXPECT_EQ(seen.next, written);
    EXPECT_EQ(seen.wrong, 0u);
    EXPECT_LE(file.segments(), 18u);
}

TEST_F(backlog_mover_test, at_the_cap_unused_segments_for_copies_go_to_the_program) {
    std::uint32_t const cold = file.take_cold_segment();
    ASSERT_NE(cold, no_segment);
    while (writer.header().segments.load() < 4000 && file.add_free_segment()) {
    }
    auto const before = file.free_segments();
    file.recycle_segment(cold);
    EXPECT_EQ(file.free_segments(), before) << "kept for copies";
    while (file.add_free_segment()) {
    }
    std::set<std::uint32_t> free;
    for (std::uint32_t one = pop_free(writer.base()); one != no_segment; one = pop_free(writer.base()))
        free.insert(one);
    EXPECT_EQ(free.count(cold), 1u);
}

// The program, the mover and the reader, all at full speed.
TEST_F(backlog_mover_test, all_at_once) {
    constexpr std::uint64_t calls = 300'000;
    std::atomic<bool> done{false};
    std::atomic<unsigned> moved{0};
    std::thread writing([&] { write(0, calls); });
    std::thread moving([&] {
        while (!done) moved += mover.move_one();
    });
    while (seen.next < calls && seen.wrong == 0) {
        seen.stop_at = seen.next + 1000;
        reader.read(file, seen);
        if (seen.next % 16'000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        while (seen.entered.size() > 1) {
            program->slot().first_segment.store(seen.entered[1]);
            file.recycle_segment(seen.entered.front());
            seen.entered.erase(seen.entered.begin());
        }
    }
    done = true;
    writing.join();
    moving.join();
    EXPECT_EQ(seen.next, calls);
    EXPECT_EQ(seen.wrong, 0u);
    EXPECT_GT(moved, 0u);
}

// A mover that is killed at any instant leaves a spool that gives every record once.
TEST_F(backlog_mover_test, kills) {
    write(0, 400 * per_segment + 1);
    for (int kills = 0; kills < 20; ++kills) {
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        pid_t const child = fork();
        if (child == 0) {
            backlog_mover own(file);
            counting first;
            first.stop_at = 1;
            chain_reader at_the_front{program->index(), program->slot().serial, static_cast<std::uint32_t>(abi::count)};
            at_the_front.read(file, first);
            [[maybe_unused]] auto const told = ::write(ready[1], "x", 1);
            for (unsigned i = 0; i < 10; ++i) own.move_one();
            _exit(0);
        }
        char byte;
        ASSERT_EQ(::read(ready[0], &byte, 1), 1);
        std::this_thread::sleep_for(std::chrono::microseconds(kills * 5));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        close(ready[0]);
        close(ready[1]);
    }
    EXPECT_GT(file.segments(), 401u) << "nothing was moved";
    std::filesystem::path const trace = folder / "t.lastref";
    { spool_file const gone = std::move(file); }  // and with it the lock on the spool
    drain_folder(folder.path(), trace);
    std::int64_t const calls = 400 * std::int64_t{per_segment} + 1;
    EXPECT_EQ(number(trace, "SELECT count(*) FROM event"), calls);
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT object) FROM event"), calls);
    EXPECT_EQ(number(trace, "SELECT count(*) FROM loss"), 0);
    EXPECT_EQ(broken_rule(trace), "");
}

}  // namespace
}  // namespace lastref::test
