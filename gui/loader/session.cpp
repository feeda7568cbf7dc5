#include "gui/loader/session.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>

namespace lastref::gui {
namespace {

QString stage_text(load_stage stage, QString const& path) {
    auto const name = QFileInfo(path).fileName();
    return stage == load_stage::reading ? session::tr("reading %1").arg(name) : session::tr("looking up symbols");
}

}  // namespace

session::session(QObject* parent, trace_loader::work how) : QObject(parent), loader_(nullptr, std::move(how)) {
    waiting_.setInterval(200);
    connect(&waiting_, &QTimer::timeout, this, &session::look_for_trace);
    connect(&loader_, &trace_loader::loaded, this, &session::take);
    connect(&loader_, &trace_loader::failed, this, &session::fail);
    connect(&loader_, &trace_loader::cancelled, this, &session::idle);
    connect(&loader_, &trace_loader::progressed, this, [this](load_stage stage, double share) {
        if (!quietly_) Q_EMIT progressed(stage_text(stage, opening_), share);
    });
    connect(&follower_, &following::changed, this, &session::reload);
    connect(&follower_, &following::vanished, this, [this] {
        Q_EMIT told(tr("The file is gone; what was read of it is still shown."));
        Q_EMIT state_changed();
    });
}

// A program that is being recorded goes on without this window; its recorder is told nothing either.
session::~session() {
    if (program_) program_->disconnect(this);
    if (program_ && recording_) program_.release()->setParent(nullptr);
}

void session::open(QString const& path) {
    if (is_left_over(path))
        import(path);
    else
        read(path, false);
}

void session::read(QString const& path, bool quietly) {
    quietly_ = quietly;
    opening_ = path;
    seen_ = following::look(path);
    load_request request{path.toStdString(), {}};
    if (!suppressions_.isEmpty()) request.suppressions.push_back(suppressions_.toStdString());
    if (!quietly) Q_EMIT progressed(stage_text(load_stage::reading, path), 0);
    loader_.start(request);
}

// One reading at a time: what changes while it lasts is read after it.
void session::reload() {
    if (!trace_) return;
    if (loader_.busy()) {
        changed_meanwhile_ = true;
        return;
    }
    read(QString::fromStdString(trace_->path), true);
}

void session::take(trace_pointer const& trace) {
    bool const same = trace_ && trace_->path == trace->path;
    if (!same) {  // what was followed is no longer shown
        follower_.stop();
        changed_meanwhile_ = false;
    }
    trace_ = trace;
    Q_EMIT idle();
    if (same)
        Q_EMIT changed(trace_);
    else
        Q_EMIT opened(trace_);
    keeper_.start([trace](std::atomic<bool> const& stopped) -> background::continuation {
        default_cache().keep(*trace, stopped);
        return {};
    });
    bool const grows = trace->state == store::trace_state::recording || is_made(opening_);
    if (grows && !follower_.active()) follows_by_itself_ = true;
    if (grows)
        follow(true);
    else if (std::exchange(follows_by_itself_, false))
        follow(false);
    if (std::exchange(changed_meanwhile_, false)) reload();
}

// A growing trace may be unreadable for a moment, as when its recorder is just finishing: it will change again.
void session::fail(QString const& message) {
    Q_EMIT idle();
    bool const stale = std::exchange(changed_meanwhile_, false);
    if (quietly_ && trace_) {
        Q_EMIT told(message);
        return;
    }
    Q_EMIT failed(message);
    if (stale) reload();  // what is shown grew while something else could not be read
}

void session::cancel() {
    loader_.cancel();
    if (program_ && !recording_) program_->terminate();
}

void session::set_following(bool on) {
    follows_by_itself_ = false;
    if (trace_) seen_ = following::look(QString::fromStdString(trace_->path));
    follow(on && trace_);
    if (on) reload();  // it may have grown since it was read
}

void session::follow(bool on) {
    if (!on)
        follower_.stop();
    else if (!follower_.active())
        follower_.watch(QString::fromStdString(trace_->path), seen_);
    Q_EMIT state_changed();
}

// A recording that goes on makes it.
bool session::is_made(QString const& path) const {
    return is_recording() && path == made_;
}

void session::use_suppressions(QString const& file) {
    suppressions_ = file;
    if (trace_) read(QString::fromStdString(trace_->path), false);
}

// --- the program `lastref`
// ---------------------------------------------------------------------------------------------

bool session::run(QStringList const& arguments, QString const& folder) {
    auto const program = lastref_program();
    if (program_) {
        Q_EMIT failed(tr("A recording or an import is under way already."));
        return false;
    }
    if (program.isEmpty()) {
        Q_EMIT failed(tr("The program lastref is neither beside this one nor in the search path."));
        return false;
    }
    last_line_.clear();
    made_before_ = following::look(made_);
    program_ = std::make_unique<QProcess>();
    program_->setProcessChannelMode(QProcess::MergedChannels);
    connect(program_.get(), &QProcess::readyRead, this, [this] {
        auto const text = program_->readAll();
        last_line_ = (last_line_ + text).right(4096);
        Q_EMIT printed(text);
    });
    connect(program_.get(), &QProcess::finished, this, &session::program_ended);
    connect(program_.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) program_ended(127);
    });
    if (!folder.isEmpty()) program_->setWorkingDirectory(folder);
    program_->setStandardInputFile(QProcess::nullDevice());
    program_->start(program, arguments);
    return true;
}

void session::import(QString const& spools) {
    QFileInfo const from(spools);
    made_ = from.dir().filePath(from.completeBaseName() + QStringLiteral(".lastref"));
    recording_ = false;
    if (run(import_arguments(spools, made_))) Q_EMIT progressed(tr("importing %1").arg(from.fileName()), -1);
}

void session::record(recording_request const& request) {
    made_ = request.trace;
    recording_ = true;
    if (!run(record_arguments(request), request.folder)) {
        recording_ = false;
        return;
    }
    waiting_.start();
    Q_EMIT state_changed();
}

void session::stop_recording() {
    if (is_recording()) program_->terminate();
}

// The trace is there as soon as the recorder has made it; an empty one is not worth a message.
void session::look_for_trace() {
    auto const now = following::look(made_);
    if (now.size <= 0 || now == made_before_ || loader_.busy()) return;
    waiting_.stop();
    read(made_, true);
}

void session::program_ended(int status) {
    bool const recorded = std::exchange(recording_, false);
    waiting_.stop();
    program_.release()->deleteLater();  // it is its own signal that is being handled
    Q_EMIT idle();
    Q_EMIT state_changed();
    auto const lines = QString::fromUtf8(last_line_).trimmed().split(QLatin1Char('\n'));
    // What was there before is not what was made.
    if (QFileInfo::exists(made_) && following::look(made_) != made_before_)
        read(made_, false);
    else
        Q_EMIT failed(lines.last().isEmpty() ? tr("lastref ended with status %1.").arg(status) : lines.last());
    if (recorded) Q_EMIT told(tr("The program ended with status %1.").arg(status));
}

}  // namespace lastref::gui
