// What is kept of traces: the same again, and never of anything else.
#include "gui/loader/cache.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include <fstream>

#include "gui/models/export.h"
#include "gui/models/tables.h"
#include "tests/gui/example_trace.h"

namespace lastref::gui {
namespace {

namespace fs = std::filesystem;

bool go_on(load_stage, double) {
    return true;
}

class kept_traces : public ::testing::Test {
  protected:
    kept_traces() { example.set_state("complete"); }
    trace_pointer open(std::vector<std::string> const& suppressions = {}) {
        return cache.load({example.path().string(), suppressions}, go_on);
    }
    trace_pointer open_and_keep(std::vector<std::string> const& suppressions = {}) {
        auto const out = open(suppressions);
        cache.keep(*out, stopped);
        return out;
    }
    fs::path file() const { return cache.file_of(example.path().string()); }

    test::example_trace example;
    QTemporaryDir folder;
    summary_cache cache{fs::path(folder.path().toStdString()) / "kept", 0};
    std::atomic<bool> stopped = false;
};

std::string told(trace_pointer const& trace) {
    QString out;
    for (auto const& table : {finding_table(trace), outstanding_table(trace), loss_table(trace), process_table(trace)})
        out += model_text(*table);
    for (auto const& f : trace->findings)
        out += QString::fromStdString(f.markdown + f.suppression + f.command_line + f.fingerprint);
    return out.toStdString() + trace->verdict_text;
}

TEST_F(kept_traces, come_back_as_they_were) {
    example.grow(5000);
    auto const first = open_and_keep();
    EXPECT_FALSE(first->from_cache);
    ASSERT_TRUE(fs::exists(file()));
    auto const again = open();
    ASSERT_TRUE(again->from_cache);
    EXPECT_EQ(told(first), told(again));
    EXPECT_EQ(first->calls.rows(), again->calls.rows());
    EXPECT_EQ(first->objects.size(), again->objects.size());
    EXPECT_EQ(again->objects.of(store::process_id{1}, 0x70).size(), 1u);
    auto const &a = *first->timeline, &b = *again->timeline;
    ASSERT_EQ(a.tracks().size(), b.tracks().size());
    for (std::size_t i = 0; i < a.tracks().size(); ++i) {
        EXPECT_EQ(a.tracks()[i].name, b.tracks()[i].name);
        EXPECT_EQ(a.tracks()[i].entries, b.tracks()[i].entries);
    }
    ASSERT_EQ(a.spans().size(), b.spans().size());
    EXPECT_EQ(a.spans().back().begin(), b.spans().back().begin());
    EXPECT_EQ(first->curves->memory.greatest(), again->curves->memory.greatest());
    EXPECT_EQ(first->curves->memory.lines[0].value_at(first->end), again->curves->memory.lines[0].value_at(first->end));
    EXPECT_EQ(first->stories->story(0)->verdict(), again->stories->story(0)->verdict());
    EXPECT_EQ(first->shutdown->processes[0].left_bytes, again->shutdown->processes[0].left_bytes);
    EXPECT_EQ(first->allocations->peak_bytes(), again->allocations->peak_bytes());
    EXPECT_EQ(first->flame({}, {})->nodes.size(), again->flame({}, {})->nodes.size()) << "stacks come from the file";
}

TEST_F(kept_traces, an_empty_log_beside_the_file_changes_nothing) {
    open_and_keep();
    std::ofstream(example.path().string() + "-wal").close();
    EXPECT_TRUE(open()->from_cache);
}

TEST_F(kept_traces, are_not_used_for_another_state_of_the_file) {
    open_and_keep();
    example.grow(5);
    auto const later = open();
    EXPECT_FALSE(later->from_cache);
    EXPECT_EQ(later->events, static_cast<std::uint64_t>(later->calls.rows()));
}

TEST_F(kept_traces, are_not_used_with_other_suppressions) {
    auto const file = test::file_with("kept.supp", "allocation-leak:demo\n").string();
    open_and_keep();
    EXPECT_FALSE(open({file})->from_cache);
    open_and_keep({file});
    EXPECT_TRUE(open({file})->from_cache);
    std::ofstream(file, std::ios::app) << "failed-free:demo\n";
    EXPECT_FALSE(open({file})->from_cache) << "the same file with more in it";
}

TEST_F(kept_traces, that_are_damaged_are_read_anew) {
    open_and_keep();
    auto const whole = static_cast<std::streamoff>(fs::file_size(file()));
    for (auto const at : {whole / 3, whole / 2, whole - 20}) {
        std::fstream damage(file(), std::ios::in | std::ios::out | std::ios::binary);
        damage.seekp(at);
        damage << "damage!";
        damage.close();
        auto const again = open();
        EXPECT_FALSE(again->from_cache) << at;
        cache.keep(*again, stopped);
        EXPECT_TRUE(open()->from_cache);
    }
    fs::resize_file(file(), static_cast<std::uintmax_t>(whole / 2));
    EXPECT_FALSE(open()->from_cache);
    fs::resize_file(file(), 3);
    EXPECT_FALSE(open()->from_cache);
}

TEST_F(kept_traces, are_complete_ones) {
    example.set_state("recording");
    open_and_keep();
    EXPECT_FALSE(fs::exists(file()));
    example.set_state("complete");
    stopped = true;
    open_and_keep();
    EXPECT_FALSE(fs::exists(file())) << "given up half way";
    EXPECT_TRUE(fs::is_empty(file().parent_path()));
}

TEST_F(kept_traces, reading_them_can_be_cancelled) {
    open_and_keep();
    int told = 0;
    auto const after_two = [&told](load_stage, double) { return ++told < 3; };
    EXPECT_THROW(cache.load({example.path().string(), {}}, after_two), load_cancelled);
}

TEST_F(kept_traces, a_folder_that_cannot_be_made_is_no_mistake) {
    summary_cache const nowhere("/proc/nowhere", 0);
    auto const trace = nowhere.load({example.path().string(), {}}, go_on);
    nowhere.keep(*trace, stopped);
    EXPECT_FALSE(nowhere.load({example.path().string(), {}}, go_on)->from_cache);
}

}  // namespace
}  // namespace lastref::gui
