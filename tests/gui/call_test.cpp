// The list of calls: pages, filters, order.
#include "gui/models/call_model.h"
#include "gui/models/call_search.h"
#include "gui/models/export.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/gui/example_trace.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::gui {
namespace {

class call_list : public ::testing::Test {
  protected:
    call_source::event_list found(call_query const& query) { return find_calls(*trace(), query, go_on); }
    trace_pointer trace() { return trace_ ? trace_ : trace_ = test::loaded(example.path()); }

    test::example_trace example;
    std::atomic<bool> go_on = false;

  private:
    trace_pointer trace_;
};

TEST_F(call_list, says_what_was_called) {
    call_model model;
    QAbstractItemModelTester const test(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.show(std::make_unique<call_source>(trace()));
    test::expect_golden(model_text(model).toStdString(), "gui/calls.txt");
}

TEST_F(call_list, reads_only_pages_that_are_looked_at) {
    example.grow(50'000);
    auto const before = trace()->calls.rows();
    EXPECT_EQ(before, static_cast<std::int64_t>(trace()->events));
    call_source source(trace());
    EXPECT_EQ(source.rows(), before);
    EXPECT_EQ(source.pages_read(), 0u);
    for (std::int64_t const row : {std::int64_t{0}, before / 2, before - 1}) {
        auto const* e = source.at(row);
        ASSERT_NE(e, nullptr);
        EXPECT_EQ(e->id.value, row + 1);
        EXPECT_EQ(source.row_of(store::event_id{row + 1}), row);
    }
    EXPECT_EQ(source.pages_read(), 3u);
    EXPECT_EQ(source.at(before), nullptr);
    EXPECT_EQ(source.at(-1), nullptr);
}

TEST_F(call_list, does_not_keep_every_page) {
    example.grow(200'000);
    call_source source(trace());
    for (std::int64_t row = 0; row < source.rows(); row += call_index::page_size) ASSERT_NE(source.at(row), nullptr);
    auto const read = source.pages_read();
    EXPECT_GT(read, call_source::pages_kept);
    source.at(source.rows() - 1);
    EXPECT_EQ(source.pages_read(), read);
    source.at(0);
    EXPECT_EQ(source.pages_read(), read + 1);
}

TEST_F(call_list, a_growing_trace_keeps_the_rows_that_were_read) {
    auto const before = trace()->calls.rows();
    example.grow(10);
    call_source source(trace());
    EXPECT_EQ(source.rows(), before);
    call_query query;
    query.descending = true;
    EXPECT_EQ(static_cast<std::int64_t>(found(query)->size()), before);
}

TEST_F(call_list, by_handle_and_within_a_stretch) {
    call_query query;
    query.text = "0x9000";
    auto const both = found(query);  // allocated and freed
    ASSERT_EQ(both->size(), 2u);
    query.text = "0x9000x";
    EXPECT_EQ(found(query)->size(), 0u) << "no handle, and no call of that name";
    query.text.clear();
    query.first = both->front();
    query.last = both->back();
    EXPECT_EQ(found(query)->size(), static_cast<std::size_t>(both->back().value - both->front().value) + 1);
    EXPECT_FALSE(query.is_everything());
}

TEST_F(call_list, by_name_and_filter) {
    call_query query;
    query.text = "MEMFREE";
    EXPECT_EQ(found(query)->size(), 3u);
    query.text.clear();
    query.filters.add({filter_kind::thread, 2, 0, {}});
    EXPECT_EQ(found(query)->size(), 4u);
    query.filters.add({filter_kind::object, 0x20000, 0, {}});
    query.text = "alloc";
    auto const one = found(query);
    ASSERT_EQ(one->size(), 1u);
    call_source source(trace(), one);
    EXPECT_EQ(source.at(0)->object, 0x20000u);
    EXPECT_EQ(source.row_of(one->front()), 0);
    EXPECT_EQ(source.row_of(store::event_id{1}), std::nullopt);
}

TEST_F(call_list, in_another_order) {
    call_query query;
    query.order = call_column::size;
    query.descending = true;
    call_source source(trace(), found(query));
    ASSERT_EQ(source.rows(), trace()->calls.rows());
    for (std::int64_t row = 1; row < source.rows(); ++row) {
        auto const above = source.at(row - 1)->size;
        EXPECT_GE(above, source.at(row)->size);
    }
    EXPECT_EQ(source.at(0)->size, 1u << 20);
}

TEST_F(call_list, can_be_stopped) {
    go_on = true;  // the flag says "stopped"
    EXPECT_EQ(found({}), nullptr);
}

TEST_F(call_list, a_file_that_is_gone) {
    auto const known = trace();
    std::filesystem::remove(example.path());
    EXPECT_THROW(call_source{known}, store::error);
}

}  // namespace
}  // namespace lastref::gui
