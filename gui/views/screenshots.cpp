#include "gui/views/screenshots.h"

#include "gui/views/main_window.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPixmap>
#include <QTableView>
#include <QTreeView>

namespace lastref::gui {
namespace {

// Stacks are looked up and lists laid out in the background.
void settle(int milliseconds) {
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < milliseconds) QApplication::processEvents(QEventLoop::AllEvents, 20);
}

// The first thing that can be chosen, so that the details show something.
void choose_first(page const& shown) {
    for (auto* const view : shown.findChildren<QAbstractItemView*>()) {
        auto const* const model = view->model();
        if (!view->isVisible() || model == nullptr || model->rowCount() == 0) continue;
        bool const is_main = qobject_cast<QTreeView*>(view) || qobject_cast<QTableView*>(view);
        if (!is_main) continue;
        auto first = model->index(0, 0);
        if (model->rowCount(first) > 0) first = model->index(0, 0, first);
        view->setCurrentIndex(first);
        return;
    }
}

QString file_name(int number, QString const& title) {
    return QStringLiteral("%1-%2.png")
        .arg(number, 2, 10, QLatin1Char('0'))
        .arg(title.toLower().replace(QLatin1Char(' '), QLatin1Char('-')));
}

}  // namespace

int write_screenshots(main_window& window, QString const& folder) {
    if (!QDir().mkpath(folder)) return 0;
    int written = 0;
    for (auto* const each : window.pages()) {
        window.show_page(each->id());
        settle(100);
        if (each->id() != page_id::overview) choose_first(*each);
        settle(400);
        written += window.grab().save(QDir(folder).filePath(file_name(written + 1, each->title()))) ? 1 : 0;
    }
    return written;
}

}  // namespace lastref::gui
