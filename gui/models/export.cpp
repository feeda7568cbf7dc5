#include "gui/models/export.h"

#include <QIODevice>
#include <QSet>
#include <QStringList>

namespace lastref::gui {
namespace {

QString csv_cell(QString text) {
    bool number = false;
    text.toDouble(&number);
    if (!number && !text.isEmpty() && QStringLiteral("=+-@\t\r").contains(text[0])) text.prepend(QLatin1Char('\''));
    bool const plain = !text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) &&
                       !text.contains(QLatin1Char('\n')) && !text.contains(QLatin1Char('\r'));
    if (plain) return text;
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

QStringList titles_of(QAbstractItemModel const& model) {
    QStringList out;
    for (int column = 0; column < model.columnCount(); ++column)
        out << model.headerData(column, Qt::Horizontal).toString();
    return out;
}

QStringList cells_of(QAbstractItemModel const& model, int row, QModelIndex const& parent) {
    QStringList out;
    for (int column = 0; column < model.columnCount(parent); ++column)
        out << model.index(row, column, parent).data().toString();
    return out;
}

bool write_line(QStringList cells, QIODevice& to) {
    for (auto& cell : cells) cell = csv_cell(cell);
    auto const line = (cells.join(QLatin1Char(',')) + QStringLiteral("\r\n")).toUtf8();
    return to.write(line) == line.size();
}

bool write_rows(QAbstractItemModel const& model, QModelIndex const& parent, QIODevice& to) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
        if (!write_csv_row(model, row, parent, to)) return false;
        if (!write_rows(model, model.index(row, 0, parent), to)) return false;
    }
    return true;
}

void add_rows(QAbstractItemModel const& model, QModelIndex const& parent, QString const& indent, QString& out) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
        out += indent + cells_of(model, row, parent).join(QStringLiteral(" | ")) + QLatin1Char('\n');
        add_rows(model, model.index(row, 0, parent), indent + QStringLiteral("    "), out);
    }
}

}  // namespace

bool write_csv_titles(QAbstractItemModel const& model, QIODevice& to) {
    return write_line(titles_of(model), to);
}

bool write_csv_row(QAbstractItemModel const& model, int row, QModelIndex const& parent, QIODevice& to) {
    return write_line(cells_of(model, row, parent), to);
}

bool write_csv(QAbstractItemModel const& model, QIODevice& to) {
    return write_csv_titles(model, to) && write_rows(model, {}, to);
}

QString tab_separated(QModelIndexList const& selected) {
    QString out;
    QSet<QModelIndex> told;
    for (auto const& index : selected) {
        auto const first = index.siblingAtColumn(0);
        if (told.contains(first)) continue;
        told.insert(first);
        auto cells = cells_of(*index.model(), index.row(), index.parent());
        for (auto& cell : cells)
            cell.replace(QLatin1Char('\t'), QLatin1Char(' ')).replace(QLatin1Char('\n'), QLatin1Char(' '));
        out += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    return out;
}

QString model_text(QAbstractItemModel const& model) {
    auto out = titles_of(model).join(QStringLiteral(" | ")) + QLatin1Char('\n');
    add_rows(model, {}, {}, out);
    return out;
}

}  // namespace lastref::gui
