// A table as CSV into a file, a few rows at a time between other events: however long it is, the window goes on.
#pragma once

#include <QAbstractItemModel>
#include <QObject>
#include <QPointer>
#include <QSaveFile>
#include <QTimer>

#include <memory>
#include <vector>

namespace lastref::gui {

class csv_export : public QObject {
    Q_OBJECT

  public:
    explicit csv_export(QObject* parent = nullptr);

    // What takes only a moment is done at once. A model that changes meanwhile ends it, and the file stays as it was;
    // so does another start. False, with a problem(), where the file cannot be written.
    bool start(QAbstractItemModel const& model, QString const& path);
    void cancel();
    bool busy() const { return file_ != nullptr; }

  Q_SIGNALS:
    void progressed(double share);
    void done(QString const& path);
    void failed(QString const& problem);
    void cancelled();

  private:
    struct place {
        QModelIndex parent;
        int row = 0;
    };
    bool write_next();  // one row; false at the end
    void slice();
    void finish();
    void fail(QString const& problem);
    void let_go();

    std::unique_ptr<QSaveFile> file_;
    QPointer<QAbstractItemModel const> model_;
    std::vector<QMetaObject::Connection> watched_;
    std::vector<place> places_;  // where the next row is, groups above it first
    QTimer timer_;
};

}  // namespace lastref::gui
