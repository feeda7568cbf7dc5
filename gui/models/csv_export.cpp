#include "gui/models/csv_export.h"

#include "gui/models/export.h"

#include <QElapsedTimer>

namespace lastref::gui {

csv_export::csv_export(QObject* parent) : QObject(parent) {
    connect(&timer_, &QTimer::timeout, this, &csv_export::slice);
}

bool csv_export::start(QAbstractItemModel const& model, QString const& path) {
    let_go();
    file_ = std::make_unique<QSaveFile>(path);
    if (!file_->open(QIODevice::WriteOnly) || !write_csv_titles(model, *file_)) {
        fail(tr("%1 could not be written: %2").arg(path, file_->errorString()));
        return false;
    }
    model_ = &model;
    places_ = {place{}};
    auto const changed = [this] { fail(tr("The table changed while it was written; nothing was written.")); };
    watched_ = {connect(&model, &QAbstractItemModel::modelReset, this, changed),
                connect(&model, &QAbstractItemModel::layoutChanged, this, changed),
                connect(&model, &QAbstractItemModel::rowsInserted, this, changed),
                connect(&model, &QAbstractItemModel::rowsRemoved, this, changed),
                connect(&model, &QObject::destroyed, this, changed)};
    timer_.start(0);
    slice();
    return true;
}

void csv_export::cancel() {
    if (!busy()) return;
    let_go();
    Q_EMIT cancelled();
}

bool csv_export::write_next() {
    while (!places_.empty() && places_.back().row >= model_->rowCount(places_.back().parent)) places_.pop_back();
    if (places_.empty()) return false;
    auto& at = places_.back();
    auto const first = model_->index(at.row, 0, at.parent);
    if (!write_csv_row(*model_, at.row++, at.parent, *file_)) {
        fail(tr("%1 could not be written: %2").arg(file_->fileName(), file_->errorString()));
        return true;
    }
    if (model_->hasChildren(first)) places_.push_back({first, 0});
    return true;
}

// No longer than a frame or two.
void csv_export::slice() {
    QElapsedTimer timer;
    timer.start();
    while (busy() && timer.elapsed() < 25)
        if (!write_next()) return finish();
    if (!busy()) return;
    auto const rows = model_->rowCount();
    Q_EMIT progressed(rows > 0 ? static_cast<double>(places_.front().row) / rows : 1);
}

void csv_export::finish() {
    auto const path = file_->fileName();
    if (!file_->commit()) return fail(tr("%1 could not be written: %2").arg(path, file_->errorString()));
    let_go();
    Q_EMIT done(path);
}

void csv_export::fail(QString const& problem) {
    let_go();
    Q_EMIT failed(problem);
}

// A file that is not committed leaves what was in its place.
void csv_export::let_go() {
    timer_.stop();
    for (auto const& each : watched_) disconnect(each);
    watched_.clear();
    places_.clear();
    model_.clear();
    file_.reset();
}

}  // namespace lastref::gui
