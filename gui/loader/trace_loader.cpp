#include "gui/loader/trace_loader.h"

#include <QThreadPool>

#include <chrono>

namespace lastref::gui {

struct trace_loader::job {
    load_request request;
    std::atomic<bool> stopped = false;
    trace_pointer result;
    QString problem;
};

trace_loader::trace_loader(QObject* parent, work how)
    : QObject(parent), work_(std::move(how)), threads_(std::make_unique<QThreadPool>()) {
    threads_->setMaxThreadCount(2);  // a new job need not wait until a cancelled one has noticed
}

trace_loader::~trace_loader() {
    if (job_) job_->stopped = true;
    threads_->waitForDone();
}

std::uint64_t trace_loader::start(load_request const& request) {
    if (job_) job_->stopped = true;
    job_ = std::make_shared<job>();
    job_->request = request;
    ++generation_;
    threads_->start([this, mine = job_] {
        run(mine);
        QMetaObject::invokeMethod(
            this, [this, mine] { finish(mine); }, Qt::QueuedConnection);
    });
    return generation_;
}

void trace_loader::cancel() {
    if (!job_) return;
    job_->stopped = true;
    job_.reset();
    Q_EMIT cancelled();
}

// In a thread of the pool. Signals of progress are queued: a hundred a second are plenty.
void trace_loader::run(std::shared_ptr<job> const& mine) {
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    auto const watch = [&](load_stage stage, double share) {
        if (clock::now() - last >= std::chrono::milliseconds(10)) {
            last = clock::now();
            auto const tell = [this, mine, stage, share] {
                if (mine == job_) Q_EMIT progressed(stage, share);
            };
            QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
        }
        return !mine->stopped.load();
    };
    try {
        mine->result = work_(mine->request, watch);
    } catch (std::exception const& e) {
        mine->problem = QString::fromUtf8(e.what());
    }
}

void trace_loader::finish(std::shared_ptr<job> const& mine) {
    if (mine != job_) return;  // stale: something else was asked for since
    job_.reset();
    if (mine->result)
        Q_EMIT loaded(mine->result);
    else
        Q_EMIT failed(mine->problem);
}

}  // namespace lastref::gui
