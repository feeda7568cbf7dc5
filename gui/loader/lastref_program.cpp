#include "gui/loader/lastref_program.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace lastref::gui {

QString lastref_program() {
    auto const named = qEnvironmentVariable("LASTREF_PROGRAM");
    if (!named.isEmpty()) return named;
    QFileInfo const beside(QDir(QCoreApplication::applicationDirPath()).filePath(QStringLiteral("lastref")));
    if (beside.isExecutable()) return beside.absoluteFilePath();
    return QStandardPaths::findExecutable(QStringLiteral("lastref"));
}

QStringList record_arguments(recording_request const& request) {
    QStringList out{QStringLiteral("record"), QStringLiteral("-o"), request.trace};
    if (!request.stacks.isEmpty()) out << QStringLiteral("--stacks") << request.stacks;
    if (request.simulated) out << QStringLiteral("--sim");
    if (request.audit) out << QStringLiteral("--audit");
    if (request.cupti) out << QStringLiteral("--cupti");
    if (request.replace) out << QStringLiteral("--force");
    return out << QStringLiteral("--") << request.command;
}

QStringList import_arguments(QString const& spools, QString const& trace) {
    return {QStringLiteral("import"), spools, QStringLiteral("-o"), trace};
}

bool is_left_over(QString const& path) {
    QFileInfo const info(path);
    auto const ending = QStringLiteral(".spool");
    if (info.isDir()) return !QDir(path).entryList({QStringLiteral("*.spool")}, QDir::Files).isEmpty();
    return info.isFile() && path.endsWith(ending);
}

}  // namespace lastref::gui
