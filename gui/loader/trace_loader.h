// Loads traces in the background, one at a time. Every request has a generation; what comes of an older one than the
// newest is dropped, so that a slow job can never overwrite what was asked for after it.
#pragma once

#include "gui/loader/load.h"

#include <QObject>
#include <QString>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

class QThreadPool;

namespace lastref::gui {

class trace_loader : public QObject {
    Q_OBJECT

  public:
    using work = std::function<trace_pointer(load_request const&, load_watch const&)>;

    explicit trace_loader(QObject* parent = nullptr, work how = load);
    ~trace_loader() override;

    // Cancels what is under way. Signals come in the thread of this object; never during the call.
    std::uint64_t start(load_request const& request);
    void cancel();
    bool busy() const { return job_ != nullptr; }
    std::uint64_t generation() const { return generation_; }

  Q_SIGNALS:
    void progressed(lastref::gui::load_stage stage, double share);
    void loaded(lastref::gui::trace_pointer trace);
    void failed(QString message);
    void cancelled();

  private:
    struct job;
    void run(std::shared_ptr<job> const& mine);
    void finish(std::shared_ptr<job> const& mine);

    work work_;
    std::unique_ptr<QThreadPool> threads_;
    std::shared_ptr<job> job_;  // the newest, while it runs
    std::uint64_t generation_ = 0;
};

}  // namespace lastref::gui
