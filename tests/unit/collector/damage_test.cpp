// Spools that were cut, overwritten, half written or made up: never a crash, everything whole is taken, the rest is
// counted.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::test {
namespace {

using hooks::abi;
using strings = std::vector<std::string>;
using spool::segment_offset;
using spool::slot_size;

constexpr std::uint64_t start = 1'000'000'000;

struct damage_test : testing::Test {
    temporary_folder folder;
    std::filesystem::path trace = folder / "t.lastref";
    std::filesystem::path path = folder / "999999999-1.spool";

    strings losses() { return rows(trace, "SELECT name, count FROM loss ORDER BY name"); }
    std::int64_t events() { return number(trace, "SELECT count(*) FROM event"); }

    // Calls 0 … n - 1 of one thread, in segments 0, 1, 2 …
    static void write_calls(spool_writer& writer, unsigned n) {
        auto const main = writer.thread(1);
        for (unsigned i = 0; i < n; ++i)
            main->call(
                make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10 + i * 10, .duration = 5, .object = i}));
    }
    void overwrite(std::size_t offset, std::string_view bytes) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    static std::size_t slot(std::uint32_t segment, std::uint32_t number) {
        return segment_offset(segment) + number * slot_size;
    }
    std::string why_unreadable() {
        auto const outcome = drain_folder(folder.path(), trace);
        return outcome.unreadable.empty() ? "readable" : outcome.unreadable.front().reason;
    }
};

TEST_F(damage_test, a_slot_of_unknown_type_is_passed_over) {
    {
        spool_writer writer(path);
        write_calls(writer, 10);
    }
    overwrite(slot(0, 5), std::string(64, '\xee'));
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT object FROM event ORDER BY id"),
              (strings{"0", "1", "2", "3", "5", "6", "7", "8", "9"}));
    EXPECT_EQ(losses(), strings{"damaged_records|1"});
}

TEST_F(damage_test, a_slot_that_was_never_written_is_passed_over) {
    {
        spool_writer writer(path);
        write_calls(writer, 10);
    }
    overwrite(slot(0, 3), std::string(128, '\0'));
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 8);
    EXPECT_EQ(losses(), strings{"damaged_records|1"}) << "one unreadable stretch";
}

TEST_F(damage_test, the_inside_of_a_damaged_text_is_not_taken_for_records) {
    {
        spool_writer writer(path);
        auto const main = writer.thread(1);
        // Bytes that look like the beginnings of records at every slot.
        main->text(spool::text_kind::setting_error, std::string(3000, '\x01'));
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .object = 7}));
    }
    overwrite(slot(0, 1) + 3, std::string(1, '\0'));  // its length
    drain_folder(folder.path(), trace);
    EXPECT_EQ(rows(trace, "SELECT object FROM event"), strings{"7"});
    EXPECT_EQ(losses(), strings{"damaged_records|1"});
}

TEST_F(damage_test, content_that_cannot_be_is_counted) {
    {
        spool_writer writer(path);
        write_calls(writer, 5);
        auto const main = writer.thread(2);
        main->module("/lib/x.so", 0x2000, 0x1000);                                             // ends before it begins
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .stack = 77}));  // no such stack
        main->call(make_call({.api = static_cast<abi>(60000), .begin = start + 10}));          // no such entry point
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = 0}));                        // no such time
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10, .context = 4000}));  // no such context
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 7);
    EXPECT_EQ(losses(), strings{"damaged_records|5"});
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(damage_test, segments_behind_a_broken_link_are_found) {
    {
        spool_writer writer(path);
        write_calls(writer, 3000);
        writer.segment(0).next.store(12345);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT object) FROM event"), 3000);
    EXPECT_EQ(events(), 3000);
    EXPECT_EQ(losses(), strings{"unreadable_segments|1"});
    EXPECT_EQ(number(trace, "SELECT count(*) FROM thread"), 1);
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(damage_test, a_chain_that_bites_its_tail_ends) {
    {
        spool_writer writer(path);
        write_calls(writer, 3000);
        writer.segment(2).next.store(0);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 3000);
    EXPECT_EQ(losses(), strings{"unreadable_segments|1"});
}

TEST_F(damage_test, the_thread_slots_are_gone) {
    {
        spool_writer writer(path);
        write_calls(writer, 2000);
    }
    overwrite(spool::header_bytes, std::string(4096, '\0'));
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 2000);
    EXPECT_EQ(broken_rule(trace), "");
}

TEST_F(damage_test, more_is_said_to_be_committed_than_fits) {
    {
        spool_writer writer(path);
        write_calls(writer, 10);
        writer.segment(0).committed.store(5'000'000);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 10);
    EXPECT_EQ(losses(), strings{"damaged_records|1"});
}

TEST_F(damage_test, a_file_that_was_cut_gives_what_is_left) {
    {
        spool_writer writer(path);
        write_calls(writer, 5000);  // segments 0 to 4
    }
    std::filesystem::resize_file(path, segment_offset(2) + 1000);
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 2 * (spool::slots_per_segment - 1));
    EXPECT_EQ(losses(), strings{"unreadable_segments|4"})
        << "three that are not there, and the link to the first of them";
}

TEST_F(damage_test, the_header_has_forgotten_its_segments) {
    {
        spool_writer writer(path);
        write_calls(writer, 3000);
        writer.header().segments.store(0);
        writer.header().thread_slots_used.store(0);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(number(trace, "SELECT count(DISTINCT object) FROM event"), 3000);
    EXPECT_EQ(events(), 3000);
}

// The handles lie apart from the records: what names one that is not there any more must not get another.
TEST_F(damage_test, contexts_are_gone) {
    {
        spool_writer writer(path);
        auto const context = writer.context(0xc0, 0, spool::context_kind::primary);
        auto const main = writer.thread(1);
        for (unsigned i = 0; i < 3; ++i)
            main->call(
                make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10 + i * 10, .object = i, .context = context}));
        writer.header().contexts[context].handle.store(0);
    }
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 3);
    EXPECT_EQ(losses(), strings{"damaged_records|1"});
}

// As after a power failure: the file is cut, or pages and sectors of it are zero. Every call is there once, or
// something is counted.
TEST_F(damage_test, pages_that_never_reached_the_disk) {
    constexpr unsigned calls = 5000;
    std::string whole;
    {
        spool_writer writer(path);
        write_calls(writer, calls);
    }
    std::stringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    whole = bytes.str();
    std::mt19937 random(815);
    auto const below = [&random](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    for (int round = 0; round < 80; ++round) {
        SCOPED_TRACE(round);
        std::string damaged = whole;
        std::size_t const unit = round % 2 == 0 ? 4096 : 512;
        for (std::size_t hits = 1 + below(4); hits > 0; --hits) {
            // Behind the first page: without it a file is no spool.
            std::size_t place = spool::header_bytes + spool::thread_slots_bytes;
            place += below((whole.size() - place) / unit) * unit;
            if (round % 5 == 0) place = 4096 + below((spool::header_bytes + 4096) / unit - 4096 / unit) * unit;
            std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(place), unit, '\0');
        }
        if (round % 7 == 0) damaged.resize(segment_offset(0) + below(whole.size() - segment_offset(0)));
        std::filesystem::remove(trace);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
        drain_folder(folder.path(), trace);
        EXPECT_EQ(number(trace, "SELECT count(*) - count(DISTINCT object) FROM event"), 0) << "nothing comes twice";
        EXPECT_LE(events(), calls);
        EXPECT_TRUE(events() == calls || !losses().empty()) << "what is missing is counted";
        EXPECT_EQ(number(trace, "SELECT count(*) FROM event WHERE object >= 5000 OR duration != 5"), 0);
        EXPECT_EQ(broken_rule(trace), "");
    }
}

TEST_F(damage_test, files_that_are_no_spools) {
    std::ofstream(path) << "Dear reader";
    EXPECT_EQ(why_unreadable(), "is not a spool of lastref, or is cut off in its header");
    std::ofstream(path) << std::string(spool::header_bytes + spool::thread_slots_bytes, 'x');
    EXPECT_EQ(why_unreadable(), "is not a spool of lastref, or is cut off in its header");
    std::ofstream(path) << std::string(spool::header_bytes + spool::thread_slots_bytes, '\0');
    EXPECT_EQ(why_unreadable(), "was never completed: the program ended while it was being created");
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_NE(why_unreadable(), "readable");
}

TEST_F(damage_test, spools_of_other_versions) {
    { spool_writer(path).header().version = 99; }
    EXPECT_EQ(why_unreadable(), "was written by another version of lastref");
    std::filesystem::remove(path);
    { spool_writer(path).header().table_hash = 99; }
    EXPECT_EQ(why_unreadable(), "was written by a collector of another version");
    EXPECT_EQ(losses(), strings{"foreign_table|1"});
    EXPECT_TRUE(std::filesystem::exists(path)) << "what was not read must stay";
    EXPECT_EQ(rows(trace, "SELECT value FROM meta WHERE key = 'state'"), strings{"unfinished"});
}

TEST_F(damage_test, a_text_whose_end_never_came) {
    {
        spool_writer writer(path);
        auto const main = writer.thread(1);
        main->text(spool::text_kind::setting_error, std::string(200, 'e'), 100);
        main->call(make_call({.api = abi::cuMemAlloc_v2, .begin = start + 10}));
    }
    auto const second_part = slot(0, 2) + 3 * 0 + offsetof(spool::text_record, last);
    overwrite(second_part + 64, std::string(1, '\0'));
    drain_folder(folder.path(), trace);
    EXPECT_EQ(events(), 1);
}

// Bytes anywhere set to anything: the drain survives, ends, and makes a trace that holds its rules. Whoever breaks a
// check in collector/spool sees this fail under the address sanitizer.
TEST_F(damage_test, random_damage) {
    std::string whole;
    {
        spool_writer writer(path);
        auto const context = writer.context(0xc0, 0, spool::context_kind::primary);
        auto const main = writer.thread(1);
        main->text(spool::text_kind::command_line, std::string(500, 'c'));
        main->module("/lib/one.so", 0x1000, 0x2000, "\xab\x01");
        for (unsigned i = 0; i < 1500; ++i) {
            call_facts const destroy{.api = abi::cuMemFree_v2, .begin = start + i * 100 + 50, .object = i};
            auto const stack = main->stack({0x1500, 0x1600 + i % 7, 0x9000, 1, 2, 3, 4, 5, 6, 7});
            main->call(make_call({.api = abi::cuMemAlloc_v2,
                                  .begin = start + i * 100 + 10,
                                  .object = i,
                                  .context = context,
                                  .stack = stack}));
            main->open(make_call(destroy));
            main->close(make_call(destroy));
        }
        main->phase(spool::phase::end, start + 1'000'000);
    }
    std::stringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    whole = bytes.str();
    std::size_t const used = whole.size() - segment_offset(0);

    std::mt19937 random(4711);
    auto const below = [&random](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    for (int round = 0; round < 60; ++round) {
        std::string damaged = whole;
        for (std::size_t hit = 0, hits = 1 + below(20); hit < hits; ++hit) {
            // Half of the hits go where they hurt: headers of the file, of threads and of segments.
            std::size_t place = segment_offset(0) + below(used);
            if (hit % 4 == 0) place = below(600);
            if (hit % 4 == 1) place = spool::header_bytes + below(256);
            if (hit % 4 == 2) place = segment_offset(static_cast<std::uint32_t>(below(4))) + below(128);
            damaged[place] = static_cast<char>(below(256));
        }
        std::filesystem::remove(trace);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
        drain_folder(folder.path(), trace);
        SCOPED_TRACE(round);
        EXPECT_EQ(rows(trace, "PRAGMA integrity_check"), strings{"ok"});
        EXPECT_EQ(rows(trace, "PRAGMA foreign_key_check"), strings{});
        EXPECT_LE(events(), 6000);
    }
}

}  // namespace
}  // namespace lastref::test
