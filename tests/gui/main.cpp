// Tests that need Qt's event loop: GoogleTest under a QApplication, without a screen, with settings of its own.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

// Qt is not sanitized, and keeps some of what it makes until the end.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() {
    return "detect_leaks=0";
}
extern "C" char const* __tsan_default_options();
extern "C" char const* __tsan_default_options() {
    return "ignore_noninstrumented_modules=1";
}

int main(int count, char** arguments) {
    ::testing::InitGoogleTest(&count, arguments);
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication const app(count, arguments);
    QTemporaryDir const settings;
    QCoreApplication::setOrganizationName(QStringLiteral("lastref-test"));
    QCoreApplication::setApplicationName(QStringLiteral("lastref-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    return RUN_ALL_TESTS();
}
