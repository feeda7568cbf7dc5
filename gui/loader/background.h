// Short work in the background whose result only matters while nothing newer was asked for.
#pragma once

#include <QObject>

#include <atomic>
#include <functional>
#include <memory>

class QThreadPool;

namespace lastref::gui {

class background : public QObject {
  public:
    using continuation = std::function<void()>;
    using work = std::function<continuation(std::atomic<bool> const& stopped)>;

    explicit background(QObject* parent = nullptr);
    ~background() override;

    // Runs `what` in another thread, then what it returns in this object's thread, unless another start() or a cancel()
    // came in between: then it is dropped. `what` must not throw; it should look at `stopped` now and then.
    void start(work what);
    void cancel();
    bool busy() const { return newest_ != nullptr; }

  private:
    using flag = std::shared_ptr<std::atomic<bool>>;
    void finish(flag const& mine, continuation const& then);

    std::unique_ptr<QThreadPool> threads_;
    flag newest_;
};

}  // namespace lastref::gui
