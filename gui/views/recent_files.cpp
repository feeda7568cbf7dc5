#include "gui/views/recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace lastref::gui {
namespace {

constexpr qsizetype most = 10;

QString key() {
    return QStringLiteral("recent");
}

}  // namespace

QStringList recent_files() {
    QStringList out;
    for (auto const& path : QSettings().value(key()).toStringList())
        if (QFileInfo::exists(path)) out << path;
    return out;
}

void remember_file(QString const& path) {
    auto const full = QFileInfo(path).absoluteFilePath();
    auto all = QSettings().value(key()).toStringList();
    all.removeAll(full);
    all.prepend(full);
    while (all.size() > most) all.removeLast();
    QSettings().setValue(key(), all);
}

void forget_files() {
    QSettings().remove(key());
}

}  // namespace lastref::gui
