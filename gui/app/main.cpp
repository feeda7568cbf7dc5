// The program `lastref-gui`.
#include "gui/views/main_window.h"
#include "gui/views/screenshots.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QPalette>
#include <QSettings>
#include <QTemporaryDir>
#include <QTextStream>
#include <QTimer>

namespace {

using lastref::gui::main_window;

struct options {
    QString path, pictures, size, palette;
    lastref::gui::picture_wishes wishes;
};

QString tr(char const* text) {
    return QCoreApplication::translate("main", text);
}

options parsed(QApplication const& app) {
    QCommandLineParser parser;
    parser.setApplicationDescription(tr("Shows what becomes of CUDA resources after their last reference is dropped"));
    parser.addHelpOption();
    parser.addVersionOption();
    QCommandLineOption const pictures(QStringLiteral("screenshot"),
                                      tr("Write a picture of each page into FOLDER and end"), tr("FOLDER"));
    QCommandLineOption const size(QStringLiteral("size"), tr("The window's size"), tr("WIDTHxHEIGHT"));
    QCommandLineOption const palette(QStringLiteral("palette"), tr("Colours other than the desktop's: light or dark"),
                                     tr("NAME"));
    QCommandLineOption const about(QStringLiteral("about"),
                                   tr("In pictures, choose on each page what belongs to the first finding of RULE"),
                                   tr("RULE"));
    QCommandLineOption const pages(QStringLiteral("pages"), tr("Pictures of these pages only: overview,timeline"),
                                   tr("NAMES"));
    parser.addOptions({pictures, about, pages, size, palette});
    parser.addPositionalArgument(tr("trace"), tr("A trace, a left-over spool or a folder of spools"), tr("[TRACE]"));
    parser.process(app);
    auto const rest = parser.positionalArguments();
    if (rest.size() > 1) {
        QTextStream(stderr) << tr("lastref-gui: one trace at a time") << Qt::endl;
        std::exit(2);
    }
    return {rest.value(0),
            parser.value(pictures),
            parser.value(size),
            parser.value(palette),
            {parser.value(about), parser.value(pages).split(QLatin1Char(','), Qt::SkipEmptyParts)}};
}

void resize(main_window& window, QString const& size) {
    auto const parts = size.split(QLatin1Char('x'));
    if (parts.size() == 2) window.resize(parts[0].toInt(), parts[1].toInt());
}

// The same on every machine, as pictures for documentation have to be.
void use_palette(QString const& name) {
    if (name.isEmpty()) return;
    QApplication::setStyle(QStringLiteral("Fusion"));
    QPalette colours(QColor(0xef, 0xef, 0xef));
    if (name == QStringLiteral("dark")) {
        colours = QPalette(QColor(0x30, 0x33, 0x36));
        colours.setColor(QPalette::Base, QColor(0x1e, 0x20, 0x22));
        colours.setColor(QPalette::AlternateBase, QColor(0x26, 0x29, 0x2b));
        colours.setColor(QPalette::Link, QColor(0x7a, 0xb8, 0xf5));
        colours.setColor(QPalette::Highlight, QColor(0x2f, 0x5f, 0x8f));
        colours.setColor(QPalette::HighlightedText, Qt::white);
    }
    QApplication::setPalette(colours);
}

// Settings of a user would be seen in the pictures, and be changed by making them.
void use_no_settings() {
    static QTemporaryDir const folder;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
}

// Ends the program when the pictures are written, or when there is nothing to make them of.
void take_pictures(main_window& window, QString const& folder, lastref::gui::picture_wishes const& wishes) {
    auto& work = window.work();
    QObject::connect(&work, &lastref::gui::session::failed, [](QString const& problem) {
        QTextStream(stderr) << "lastref-gui: " << problem << Qt::endl;
        QCoreApplication::exit(3);
    });
    QObject::connect(&work, &lastref::gui::session::opened, &window, [&window, folder, wishes] {
        QTimer::singleShot(0, &window, [&window, folder, wishes] {
            auto const written = lastref::gui::write_screenshots(window, folder, wishes);
            QCoreApplication::exit(written > 0 ? 0 : 1);
        });
    });
}

}  // namespace

int main(int count, char** arguments) {
    QApplication app(count, arguments);
    QCoreApplication::setOrganizationName(QStringLiteral("lastref"));
    QCoreApplication::setApplicationName(QStringLiteral("lastref-gui"));
    QCoreApplication::setApplicationVersion(QStringLiteral(LASTREF_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("lastref-gui"));
    auto const asked = parsed(app);
    if (!asked.pictures.isEmpty()) use_no_settings();
    use_palette(asked.palette);
    main_window window;
    resize(window, asked.size);
    if (!asked.pictures.isEmpty()) take_pictures(window, asked.pictures, asked.wishes);
    window.show();
    if (!asked.path.isEmpty()) window.open(asked.path);
    return QApplication::exec();
}
