// The command-line program that lies beside this one: it records, and imports what a recording left over. It is always
// run directly, never through a shell.
#pragma once

#include <QString>
#include <QStringList>

namespace lastref::gui {

QString lastref_program();  // empty where there is none; $LASTREF_PROGRAM names another

struct recording_request {
    QStringList command;  // program and arguments
    QString trace;
    QString stacks;  // "off", "create", "all"
    bool simulated = false;
    bool replace = false;
    QString folder = {};  // that it runs in; empty: this program's
    bool audit = false;   // calls are counted by CUPTI too
    bool cupti = false;   // what the device did is recorded
};

QStringList record_arguments(recording_request const& request);
QStringList import_arguments(QString const& spools, QString const& trace);

// A spool, or a folder that holds some.
bool is_left_over(QString const& path);

}  // namespace lastref::gui
