// What the window has open: a trace, perhaps still growing, perhaps one that is being recorded from here. Puts loader,
// watcher and the `lastref` program together; knows no widgets.
#pragma once

#include "gui/loader/background.h"
#include "gui/loader/cache.h"
#include "gui/loader/following.h"
#include "gui/loader/lastref_program.h"
#include "gui/loader/trace_loader.h"

#include <QByteArray>
#include <QObject>

#include <memory>

class QProcess;

namespace lastref::gui {

class session : public QObject {
    Q_OBJECT

  public:
    explicit session(QObject* parent = nullptr, trace_loader::work how = load_or_find);
    ~session() override;

    // A trace; or a spool or a folder of them, which are imported into a trace beside them first. Where it cannot be
    // read, failed() tells why, and what was open stays open.
    void open(QString const& path);
    void reload();
    void record(recording_request const& request);
    void stop_recording();  // asks the program to end
    void cancel();

    void set_following(bool on);  // on by itself for a trace that is being recorded
    void set_follow_interval(int milliseconds) { follower_.set_interval(milliseconds); }
    void use_suppressions(QString const& file);

    trace_pointer const& trace() const { return trace_; }
    bool is_recording() const { return program_ != nullptr && recording_; }
    bool is_keeping() const { return keeper_.busy(); }  // in the cache, for the next time
    bool is_following() const { return follower_.active(); }
    QString opening() const { return opening_; }

  Q_SIGNALS:
    void opened(lastref::gui::trace_pointer trace);   // another one
    void changed(lastref::gui::trace_pointer trace);  // the same one, with more in it
    void progressed(QString const& what, double share);
    void idle();  // nothing is under way any more
    void failed(QString const& message);
    void told(QString const& text);
    void state_changed();                  // recording, following
    void printed(QByteArray const& text);  // by the recorded program

  private:
    void import(QString const& spools);
    bool run(QStringList const& arguments, QString const& folder = {});
    void program_ended(int status);
    void read(QString const& path, bool quietly);
    void follow(bool on);
    bool is_made(QString const& path) const;
    void take(trace_pointer const& trace);
    void fail(QString const& message);
    void look_for_trace();

    trace_loader loader_;
    following follower_;
    QTimer waiting_;  // until a recording's trace is there
    std::unique_ptr<QProcess> program_;
    bool recording_ = false;
    QByteArray last_line_;
    QString opening_;
    QString made_;                  // by the program that runs
    following::stamp made_before_;  // what was in its place before
    following::stamp seen_;         // of the file that is being read, before that
    bool follows_by_itself_ = false;
    QString suppressions_;
    bool quietly_ = false;
    bool changed_meanwhile_ = false;
    trace_pointer trace_;
    background keeper_;  // of what was made of it
};

}  // namespace lastref::gui
