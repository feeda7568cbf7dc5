#include "gui/loader/background.h"

#include <QThreadPool>

namespace lastref::gui {

background::background(QObject* parent) : QObject(parent), threads_(std::make_unique<QThreadPool>()) {
    threads_->setMaxThreadCount(2);
}

background::~background() {
    cancel();
    threads_->waitForDone();
}

void background::start(work what) {
    cancel();
    newest_ = std::make_shared<std::atomic<bool>>(false);
    threads_->start([this, mine = newest_, what = std::move(what)] {
        auto then = what(*mine);
        QMetaObject::invokeMethod(
            this, [this, mine, then = std::move(then)] { finish(mine, then); }, Qt::QueuedConnection);
    });
}

void background::cancel() {
    if (newest_) *newest_ = true;
    newest_.reset();
}

void background::finish(flag const& mine, continuation const& then) {
    if (mine != newest_) return;
    newest_.reset();
    if (then) then();
}

}  // namespace lastref::gui
