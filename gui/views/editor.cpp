#include "gui/views/editor.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QFileInfo>
#include <QMimeDatabase>
#include <QProcess>
#include <QSettings>
#include <QUrl>

namespace lastref::gui {
namespace {

QString tr(char const* text) {
    return QCoreApplication::translate("editor", text);
}

bool is_text(QString const& path) {
    QMimeDatabase const types;
    return types.mimeTypeForFile(path).inherits(QStringLiteral("text/plain"));
}

}  // namespace

QStringList editor_command(QString const& setting, source_place const& place) {
    auto words = QProcess::splitCommand(setting);
    for (auto& word : words)
        word.replace(QStringLiteral("%l"), QString::number(place.line)).replace(QStringLiteral("%f"), place.file);
    return words;
}

QString open_source(source_place const& place) {
    if (!QFileInfo(place.file).isFile()) return tr("%1 is not on this machine").arg(place.file);
    if (!is_text(place.file)) return tr("%1 is no text file").arg(place.file);
    auto const command = editor_command(QSettings().value(QStringLiteral("editor")).toString(), place);
    bool const opened = command.isEmpty() ? QDesktopServices::openUrl(QUrl::fromLocalFile(place.file))
                                          : QProcess::startDetached(command[0], command.mid(1));
    return opened ? QString() : tr("no editor could be started for %1").arg(place.file);
}

}  // namespace lastref::gui
