// What the tables say, as text against tests/golden/gui; and that each behaves as Qt's views expect.
#include "gui/models/export.h"
#include "gui/models/filtered_table.h"
#include "gui/models/overview.h"
#include "gui/models/tables.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/gui/example_trace.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::gui {
namespace {

using tester = QAbstractItemModelTester;

class tables : public ::testing::Test {
  protected:
    static void expect(table_pointer const& table, std::string const& name) {
        tester const test(table.get(), tester::FailureReportingMode::Fatal);
        test::expect_golden(model_text(*table).toStdString(), "gui/" + name + ".txt");
    }
    test::example_trace example;
};

TEST_F(tables, findings) {
    expect(finding_table(test::loaded(example.path())), "findings");
}

TEST_F(tables, outstanding) {
    expect(outstanding_table(test::loaded(example.path())), "outstanding");
}

TEST_F(tables, losses) {
    auto const trace = test::loaded(example.path());
    expect(loss_table(trace), "losses");
}

TEST_F(tables, processes) {
    expect(process_table(test::loaded(example.path())), "processes");
}

TEST_F(tables, suppressions_with_their_matches) {
    auto const file = test::file_with("s.txt", "# known\nallocation-leak:demo\nfailed-free:^nowhere$\n");
    auto const trace = test::loaded(example.path(), {file.string()});
    auto const table = suppression_table(trace);
    ASSERT_EQ(table->rowCount(), 2);
    EXPECT_EQ(table->index(0, 0).data().toString(), "1");
    EXPECT_EQ(table->index(1, 0).data().toString(), "none: stale");
    EXPECT_EQ(table->index(0, 2).data().toString(), QString::fromStdString(file.string() + ":2"));
    auto const suppressed = std::count_if(trace->findings.begin(), trace->findings.end(),
                                          [](auto const& f) { return f.state == gate::state::suppressed; });
    EXPECT_EQ(suppressed, 1);
}

TEST_F(tables, difference_between_two_traces) {
    test::trace_builder other;
    auto main = other.thread("main");
    main.use(other.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 1 << 20, .stack = {"make_cache", "main"}});
    main.call("cuEventCreate", {.object = 0x50, .stack = {"mark", "main"}});
    other.ends("clean");
    auto const before = test::loaded(other.finish()), after = test::loaded(example.path());
    expect(difference_table(gate::compare(before->as_baseline, after->as_baseline)), "difference");
}

TEST_F(tables, overview_tells_the_worst_first) {
    auto const told = overview_of(*test::loaded(example.path()));
    QString text = told.headline + "\n" + told.below + "\n";
    for (auto const& fact : told.facts) text += fact.number + " " + fact.text + "\n";
    for (auto const& line : told.lines) text += line.text + " | " + line.detail + "\n";
    test::expect_golden(text.toStdString(), "gui/overview.txt");
    for (std::size_t i = 1; i < told.lines.size(); ++i) EXPECT_GE(told.lines[i - 1].severity, told.lines[i].severity);
}

TEST_F(tables, a_clean_trace_says_so) {
    test::trace_builder clean;
    auto main = clean.thread("main");
    main.use(clean.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f", "main"}});
    main.call("cuMemFree_v2", {.object = 0x1000, .stack = {"f", "main"}});
    clean.ends("clean");
    auto const trace = test::loaded(clean.finish());
    EXPECT_EQ(overview_of(*trace).headline, "Nothing is wrong.");
    EXPECT_TRUE(overview_of(*trace).clean);
    EXPECT_EQ(outstanding_table(trace)->rowCount(), 0);
}

TEST_F(tables, filtered_and_searched) {
    filtered_table shown;
    tester const test(&shown, tester::FailureReportingMode::Fatal);
    shown.show(outstanding_table(test::loaded(example.path())));
    auto const all = shown.rowCount();
    ASSERT_GT(all, 3);
    shown.set_search(QStringLiteral("USER object"));
    EXPECT_EQ(shown.rowCount(), 1);
    shown.set_search({});
    filter_stack only;
    only.add({filter_kind::object, 0x2000, 0, {}});
    shown.set_filters(only);
    ASSERT_EQ(shown.rowCount(), 1);
    EXPECT_EQ(shown.index(0, static_cast<int>(outstanding_column::handle)).data().toString(), "0x2000");
    shown.show(outstanding_table(test::loaded(example.path())));
    EXPECT_EQ(shown.rowCount(), 1) << "filters stay when the trace is read again";
    shown.set_filters({});
    EXPECT_EQ(shown.rowCount(), all);
}

TEST_F(tables, numbers_sort_as_numbers) {
    filtered_table shown;
    shown.show(outstanding_table(test::loaded(example.path())));
    auto const bytes = static_cast<int>(outstanding_column::bytes);
    shown.sort(bytes, Qt::DescendingOrder);
    for (int row = 1; row < shown.rowCount(); ++row)
        EXPECT_GE(shown.index(row - 1, bytes).data(sort_role).toULongLong(),
                  shown.index(row, bytes).data(sort_role).toULongLong());
    EXPECT_EQ(shown.index(0, bytes).data().toString(), "1 MiB");
}

}  // namespace
}  // namespace lastref::gui
