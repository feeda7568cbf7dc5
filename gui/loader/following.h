// Watches a trace that is still being recorded. A timer rather than the file system's events: a recorder commits many
// times a second, and reading again costs as much as reading.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

namespace lastref::gui {

class following : public QObject {
    Q_OBJECT

  public:
    explicit following(QObject* parent = nullptr);

    void watch(QString const& path);  // from its present state on
    void stop();
    bool active() const { return timer_.isActive(); }
    void set_interval(int milliseconds) { timer_.setInterval(milliseconds); }

  Q_SIGNALS:
    void changed();   // the file has grown, or its recording has ended
    void vanished();  // once, when the file is gone

  private:
    struct stamp {
        qint64 size = -1, logged = -1, modified = 0;
        bool operator==(stamp const&) const = default;
    };
    stamp look() const;
    void check();

    QTimer timer_;
    QString path_;
    stamp last_;
};

}  // namespace lastref::gui
