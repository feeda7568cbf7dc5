// Tables as CSV and for the clipboard.
#include "gui/models/export.h"

#include <gtest/gtest.h>

#include <QBuffer>
#include <QStandardItemModel>

namespace lastref::gui {
namespace {

std::string csv(QAbstractItemModel const& model) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    EXPECT_TRUE(write_csv(model, buffer));
    return buffer.data().toStdString();
}

TEST(csv, quotes_what_must_be_quoted) {
    QStandardItemModel model(1, 3);
    model.setHorizontalHeaderLabels({"a", "b,c", "d"});
    model.setItem(0, 0, new QStandardItem("plain"));
    model.setItem(0, 1, new QStandardItem("say \"no\",\nthen"));
    model.setItem(0, 2, new QStandardItem("-1.5"));
    EXPECT_EQ(csv(model), "a,\"b,c\",d\r\nplain,\"say \"\"no\"\",\nthen\",-1.5\r\n");
}

TEST(csv, no_cell_becomes_a_formula) {
    QStandardItemModel model(1, 2);
    model.setHorizontalHeaderLabels({"a", "b"});
    model.setItem(0, 0, new QStandardItem("=HYPERLINK(1)"));
    model.setItem(0, 1, new QStandardItem("@SUM"));
    EXPECT_EQ(csv(model), "a,b\r\n'=HYPERLINK(1),'@SUM\r\n");
}

TEST(csv, a_full_disk_is_told) {
    QStandardItemModel model(1, 1);
    QBuffer closed;
    EXPECT_FALSE(write_csv(model, closed));
}

TEST(clipboard, whole_rows_once) {
    QStandardItemModel model(2, 2);
    for (int i = 0; i < 4; ++i) model.setItem(i / 2, i % 2, new QStandardItem(QString::number(i) + "\tx"));
    EXPECT_EQ(tab_separated({model.index(0, 0), model.index(0, 1), model.index(1, 1)}), "0 x\t1 x\n2 x\t3 x\n");
}

}  // namespace
}  // namespace lastref::gui
