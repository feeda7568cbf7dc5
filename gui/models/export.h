// Tables as text: CSV for spreadsheets, tab-separated for the clipboard, aligned for tests.
#pragma once

#include <QAbstractItemModel>
#include <QString>

class QIODevice;

namespace lastref::gui {

// RFC 4180, in UTF-8, with a line of titles; rows of groups follow their group. A cell that a spreadsheet would take
// for a formula is preceded by an apostrophe, since texts come from the program. False where it cannot be written.
bool write_csv(QAbstractItemModel const& model, QIODevice& to);

// Its parts, for tables that take long (csv_export.h).
bool write_csv_titles(QAbstractItemModel const& model, QIODevice& to);
bool write_csv_row(QAbstractItemModel const& model, int row, QModelIndex const& parent, QIODevice& to);

QString tab_separated(QModelIndexList const& selected);  // rows in order, whole rows

QString model_text(QAbstractItemModel const& model);  // "cell | cell", groups' rows indented

}  // namespace lastref::gui
