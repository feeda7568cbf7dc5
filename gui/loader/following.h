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

    // What a file looked like at a moment.
    struct stamp {
        qint64 size = -1, logged = 0, modified = 0;
        bool operator==(stamp const&) const = default;
    };
    static stamp look(QString const& path);

    // From a state on that was seen earlier: before the file was read, so that nothing is missed that came meanwhile.
    void watch(QString const& path, stamp const& since);
    void stop();
    bool active() const { return timer_.isActive(); }
    void set_interval(int milliseconds) { timer_.setInterval(milliseconds); }

  Q_SIGNALS:
    void changed();   // the file has grown, or its recording has ended
    void vanished();  // once, when the file is gone

  private:
    void check();

    QTimer timer_;
    QString path_;
    stamp last_;
};

}  // namespace lastref::gui
