// Opens a trace in the desktop program's window and moves about in it, without a screen:
//
//     open_and_move CACHE TRACE [FRAMES]
//
// CACHE is the folder for what is kept of traces: where it has this one, the trace is opened from there. Prints JSON:
//   from_cache   whether it was
//   open_s       until the window shows the trace
//   keep_s       until what was made of it is kept, in the background
//   stall_ms     the longest time for which the window did not answer while it was opened
//   frames       of panning and zooming the timeline, of a chart and of scrolling the list of calls: median, 99th
//                percentile and longest in ms
//   peak_mib, resident_mib
#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "gui/views/call_table.h"
#include "gui/views/calls_page.h"
#include "gui/views/chart_group.h"
#include "gui/views/main_window.h"
#include "gui/views/memory_page.h"
#include "gui/views/timeline_page.h"
#include "gui/widgets/timeline_view.h"

namespace lastref::bench {
namespace {

using namespace gui;

double milliseconds(QElapsedTimer const& timer) {
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

// The event loop until it comes true; the longest pause between two turns of a timer that is due all the time.
double run_until(std::function<bool()> const& done) {
    QElapsedTimer since;
    double longest = 0;
    QTimer beat;
    QObject::connect(&beat, &QTimer::timeout, [&] {
        if (since.isValid()) longest = std::max(longest, milliseconds(since));
        since.start();
    });
    beat.start(0);
    while (!done()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    return longest;
}

struct frames {
    std::vector<double> ms;

    void take(QWidget& of) {
        QElapsedTimer timer;
        timer.start();
        of.repaint();
        ms.push_back(milliseconds(timer));
    }
    std::string json() {
        std::sort(ms.begin(), ms.end());
        auto const at = [this](double share) {
            return ms[std::min(ms.size() - 1, static_cast<std::size_t>(share * static_cast<double>(ms.size())))];
        };
        char out[120];
        std::snprintf(out, sizeof out, R"({"count": %zu, "median": %.3f, "p99": %.3f, "max": %.3f})", ms.size(),
                      at(0.5), at(0.99), ms.back());
        return out;
    }
};

// From all of it down to single calls and back, a little to the side with each frame.
void zoom_and_pan(widgets::time_view& view, int count, frames& out) {
    view.show_all();
    for (int i = 0; i < count; ++i) {
        auto const length = view.visible_to() - view.visible_from();
        bool const closer = i % 200 < 100;
        view.zoom(closer ? 1.15 : 1 / 1.15, view.visible_from() + length * (i % 7 + 1) / 9);
        view.pan(i % 2 == 0 ? 0.07 : -0.05);
        out.take(*view.viewport());
    }
}

void scroll(QTableView& view, int count, frames& out) {
    auto* const bar = view.verticalScrollBar();
    for (int i = 0; i < count; ++i) {
        // Steps as by a wheel, and now and then far away, as by dragging the bar.
        bar->setValue(i % 20 == 19 ? bar->maximum() / (i % 13 + 1) : bar->value() + 3);
        out.take(*view.viewport());
    }
}

double status_mib(std::string const& name) {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kib = 0;
    while (status >> word)
        if (word == name + ":") status >> kib;
    return kib / 1024;
}

void tell_frames(main_window& window, int count) {
    frames timeline, chart, calls;
    window.show_page(page_id::timeline);
    run_until([] { return true; });
    zoom_and_pan(dynamic_cast<timeline_page&>(*window.page_of(page_id::timeline)).view(), count, timeline);
    window.show_page(page_id::memory);
    run_until([] { return true; });
    zoom_and_pan(*dynamic_cast<memory_page&>(*window.page_of(page_id::memory)).charts().charts().front(), count, chart);
    window.show_page(page_id::calls);
    run_until([] { return true; });
    scroll(dynamic_cast<calls_page&>(*window.page_of(page_id::calls)).view(), count, calls);
    std::printf(R"( "frames": {"timeline": %s, "chart": %s, "calls": %s},)", timeline.json().c_str(),
                chart.json().c_str(), calls.json().c_str());
}

int measure(QString const& path, int count) {
    main_window window;
    window.resize(1280, 800);
    window.show();
    QString problem;
    QObject::connect(&window.work(), &session::failed, [&problem](QString const& text) { problem = text; });
    QElapsedTimer timer;
    timer.start();
    window.open(path);
    auto const stall = run_until([&] { return window.work().trace() != nullptr || !problem.isEmpty(); });
    if (!problem.isEmpty()) {
        std::fprintf(stderr, "open_and_move: %s\n", qPrintable(problem));
        return 3;
    }
    window.repaint();
    auto const open = milliseconds(timer) / 1e3;
    run_until([&] { return !window.work().is_keeping(); });
    auto const kept = milliseconds(timer) / 1e3 - open;
    std::printf(R"({"events": %llu, "from_cache": %s, "open_s": %.3f, "keep_s": %.3f, "stall_ms": %.1f,)",
                static_cast<unsigned long long>(window.work().trace()->events),
                window.work().trace()->from_cache ? "true" : "false", open, kept, stall);
    tell_frames(window, count);
    std::printf(R"( "peak_mib": %.0f, "resident_mib": %.0f})"
                "\n",
                status_mib("VmHWM"), status_mib("VmRSS"));
    return 0;
}

}  // namespace
}  // namespace lastref::bench

int main(int count, char** arguments) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    if (count > 1) qputenv("XDG_CACHE_HOME", arguments[1]);
    QApplication const app(count, arguments);
    if (count < 3) {
        std::fprintf(stderr, "usage: open_and_move CACHE TRACE [FRAMES]\n");
        return 2;
    }
    QTemporaryDir const settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    auto const frames = count > 3 ? std::max(1, std::atoi(arguments[3])) : 600;
    return lastref::bench::measure(QString::fromLocal8Bit(arguments[2]), frames);
}
