#include "gui/loader/following.h"

#include <QDateTime>
#include <QFileInfo>

#include <algorithm>

namespace lastref::gui {

following::following(QObject* parent) : QObject(parent) {
    timer_.setInterval(1000);
    connect(&timer_, &QTimer::timeout, this, &following::check);
}

void following::watch(QString const& path, stamp const& since) {
    path_ = path;
    last_ = since;
    timer_.start();
}

void following::stop() {
    timer_.stop();
}

// What a recorder adds is first in the write-ahead log beside the trace.
following::stamp following::look(QString const& path) {
    QFileInfo const file(path), log(path + QStringLiteral("-wal"));
    if (!file.exists()) return {};
    // An empty log is none: whoever opens the file to read it may make one.
    bool const logged = log.exists() && log.size() > 0;
    auto const of_file = file.lastModified().toMSecsSinceEpoch();
    return {file.size(), logged ? log.size() : 0,
            logged ? std::max(of_file, log.lastModified().toMSecsSinceEpoch()) : of_file};
}

void following::check() {
    auto const now = look(path_);
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
