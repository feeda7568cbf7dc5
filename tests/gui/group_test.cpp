// Groups: their sums, their order, and the way back to the table's rows.
#include "gui/models/export.h"
#include "gui/models/filtered_table.h"
#include "gui/models/group_model.h"
#include "gui/models/tables.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/gui/example_trace.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::gui {
namespace {

using tester = QAbstractItemModelTester;

class groups : public ::testing::Test {
  protected:
    groups() {
        shown.show(outstanding_table(test::loaded(example.path())));
        model.set_source(&shown);
    }
    test::example_trace example;
    filtered_table shown;
    group_model model;
    tester test{&model, tester::FailureReportingMode::Fatal};
};

TEST_F(groups, by_site_with_sums) {
    model.group_by(static_cast<int>(outstanding_column::site));
    test::expect_golden(model_text(model).toStdString(), "gui/outstanding_by_site.txt");
}

TEST_F(groups, none_shows_the_rows) {
    EXPECT_EQ(model.rowCount(), shown.rowCount());
    EXPECT_EQ(model_text(model), model_text(shown));
    EXPECT_FALSE(model.is_group(model.index(0, 0)));
}

TEST_F(groups, there_and_back) {
    model.group_by(static_cast<int>(outstanding_column::kind));
    for (int row = 0; row < shown.rowCount(); ++row) {
        auto const index = model.from_source(row, 1);
        ASSERT_TRUE(index.isValid()) << row;
        EXPECT_EQ(model.to_source(index), shown.index(row, 1));
        EXPECT_TRUE(model.is_group(index.parent()));
    }
}

TEST_F(groups, follow_the_table) {
    model.group_by(static_cast<int>(outstanding_column::kind));
    shown.set_search(QStringLiteral("device memory"));
    ASSERT_EQ(model.rowCount(), 1);
    EXPECT_EQ(model.index(0, 0).data().toString(), "device memory (3)");
    shown.set_search(QStringLiteral("no such thing"));
    EXPECT_EQ(model.rowCount(), 0);
}

TEST_F(groups, sort_by_their_sums) {
    auto const bytes = static_cast<int>(outstanding_column::bytes);
    model.group_by(static_cast<int>(outstanding_column::kind));
    model.sort(bytes, Qt::DescendingOrder);
    EXPECT_EQ(model.index(0, bytes).data().toString(), "3 MiB");
    model.sort(bytes, Qt::AscendingOrder);
    EXPECT_EQ(model.index(model.rowCount() - 1, bytes).data().toString(), "3 MiB");
}

}  // namespace
}  // namespace lastref::gui
