#include "gui/loader/following.h"

#include <QDateTime>
#include <QFileInfo>

#include <algorithm>

namespace lastref::gui {

following::following(QObject* parent) : QObject(parent) {
    timer_.setInterval(1000);
    connect(&timer_, &QTimer::timeout, this, &following::check);
}

void following::watch(QString const& path) {
    path_ = path;
    last_ = look();
    timer_.start();
}

void following::stop() {
    timer_.stop();
}

// What a recorder adds is first in the write-ahead log beside the trace.
following::stamp following::look() const {
    QFileInfo const file(path_), log(path_ + QStringLiteral("-wal"));
    if (!file.exists()) return {};
    auto const time = [](QFileInfo const& info) {
        return info.exists() ? info.lastModified().toMSecsSinceEpoch() : qint64{0};
    };
    return {file.size(), log.exists() ? log.size() : -1, std::max(time(file), time(log))};
}

void following::check() {
    auto const now = look();
    if (now == last_) return;
    last_ = now;
    if (now.size >= 0) {
        Q_EMIT changed();
        return;
    }
    stop();
    Q_EMIT vanished();
}

}  // namespace lastref::gui
