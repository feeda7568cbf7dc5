// Writes a picture of each widget, light and dark, with what a trace shows.
#include <QApplication>
#include <QDir>
#include <QPalette>

#include <cstdio>
#include <cstdlib>

#include "analyzer/detectors/analysis.h"
#include "analyzer/symbols/dwfl_source.h"
#include "analyzer/symbols/stacks.h"
#include "gui/scenes/flame.h"
#include "gui/scenes/hazard.h"
#include "gui/scenes/timeline_builder.h"
#include "gui/widgets/chart_view.h"
#include "gui/widgets/flame_graph.h"
#include "gui/widgets/hazard_view.h"
#include "gui/widgets/histogram_view.h"
#include "gui/widgets/holder_chain.h"
#include "gui/widgets/holder_lanes.h"
#include "gui/widgets/picture.h"
#include "gui/widgets/shutdown_view.h"
#include "gui/widgets/timeline_view.h"
#include "tests/gui/scenes/samples.h"
#include "tests/gui/widgets/palettes.h"

namespace {

using namespace lastref;
using namespace lastref::gui;

struct pictures {
    QDir folder;
    QString variant;

    void take(QWidget& widget, QString const& name, QSize size) const {
        widget.resize(size);
        widget.show();
        QApplication::processEvents();
        auto const problem = widgets::save_png(widget, folder.filePath(name + "-" + variant + ".png"), 1);
        if (!problem.isEmpty()) std::fprintf(stderr, "%s: %s\n", qPrintable(name), qPrintable(problem));
    }
};

void draw_timeline(pictures const& out, store::trace const& trace) {
    widgets::timeline_view view;
    view.set_scene(scenes::build_timeline(trace));
    out.take(view, "timeline", {1100, 420});
    view.select(8);
    view.zoom(12, view.scene()->begin() + (view.scene()->end() - view.scene()->begin()) / 8);
    out.take(view, "timeline-close", {1100, 420});
    view.set_scene(test::made_up_timeline(200'000));
    view.show_all();
    out.take(view, "timeline-large", {1100, 420});
}

void draw_curves(pictures const& out, store::trace const& trace) {
    auto const scene = scenes::build_curves(trace);
    widgets::chart_view view;
    view.set_scene(scene, scene->payloads);
    out.take(view, "chart-payloads", {900, 240});
    view.set_scene(scene, scene->memory);
    view.choose_time(scene->memory.begin + (scene->memory.end - scene->memory.begin) / 2);
    out.take(view, "chart-memory", {900, 240});
    if (!scene->pools.empty()) {
        view.set_scene(scene, scene->pools.front());
        out.take(view, "chart-pool", {900, 240});
    }
    widgets::histogram_view bars;
    bars.set_scene(scene, scene->clean_up);
    out.take(bars, "histogram", {700, 260});
    std::vector<store::time_ns> lengths;
    for (int i = 1; i < 4000; ++i) lengths.push_back(20'000 + static_cast<store::time_ns>(i) * i * (i % 7 + 1) * 10);
    bars.set_scene(std::make_shared<scenes::histogram const>(scenes::histogram_of("Clean-up", lengths)));
    out.take(bars, "histogram-many", {700, 260});
}

void draw_stories(pictures const& out, scenes::payload_stories const& stories, QString const& name) {
    for (std::size_t i = 0; i < stories.payloads().size() && i < 4; ++i) {
        widgets::holder_lanes lanes;
        lanes.set_scene(stories.story(i));
        out.take(lanes, QString("holder-lanes-%1-%2").arg(name).arg(i), {900, 200});
        widgets::holder_chain chain;
        chain.set_scene(stories.story(i));
        out.take(chain, QString("holder-chain-%1-%2").arg(name).arg(i), {900, 200});
    }
}

void draw_holders(pictures const& out, store::trace const& trace) {
    test::trace_builder many;
    test::write_many_holders(many);
    draw_stories(out, *scenes::build_payload_stories(store::trace::open(many.finish())), "many");
    draw_stories(out, *scenes::build_payload_stories(trace), "demo");
}

void draw_hazards(pictures const& out, store::trace const& trace, QString const& name) {
    int number = 0;
    for (auto const& found : detectors::analyse(trace).found) {
        auto const asked = scenes::request_of(found);
        if (!scenes::is_about_order(asked.rule)) continue;
        widgets::hazard_view view;
        view.set_scene(scenes::build_hazard(trace, asked));
        out.take(view, QString("hazard-%1-%2").arg(name).arg(number++), {1150, 320});
    }
}

void draw_flames(pictures const& out, store::trace const& trace) {
    symbols::dwfl_source files;
    symbols::stacks stacks(trace, files);
    auto const history = scenes::build_allocation_history(trace);
    widgets::flame_graph view;
    view.set_scene(scenes::build_flame(*history, {scenes::flame_moment::ever}, scenes::namer_of(stacks, trace)));
    out.take(view, "flame-down", {1000, 260});
    view.search("alloc");
    out.take(view, "flame-search", {1000, 260});
    view.set_scene(scenes::build_flame(*history, {scenes::flame_moment::ever, 0, scenes::flame_order::callees_first},
                                       scenes::namer_of(stacks, trace)));
    out.take(view, "flame-up", {1000, 260});
}

void draw_shutdown(pictures const& out, store::trace const& trace) {
    widgets::shutdown_view view;
    view.set_scene(scenes::build_shutdown(trace));
    out.take(view, "shutdown", {1000, 420});
}

}  // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    if (argc < 3) return std::fprintf(stderr, "usage: widget_pictures TRACE FOLDER [FONT-SCALE]\n"), 2;
    auto const scale = argc > 3 ? std::atof(argv[3]) : 1;
    QDir().mkpath(argv[2]);
    auto const trace = store::trace::open(argv[1]);
    auto font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() * scale);  // a large one shows what is laid out for one size only
    QApplication::setFont(font);
    for (bool const dark : {false, true}) {
        QApplication::setPalette(dark ? test::dark_palette() : test::light_palette());
        pictures const out{QDir(argv[2]), dark ? "dark" : "light"};
        draw_timeline(out, trace);
        draw_curves(out, trace);
        draw_holders(out, trace);
        draw_shutdown(out, trace);
        draw_flames(out, trace);
        draw_hazards(out, trace, "demo");
        test::trace_builder streams;
        test::write_two_streams(streams, false, 30);
        draw_hazards(out, store::trace::open(streams.finish()), "streams");
    }
    return 0;
}
