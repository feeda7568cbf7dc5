#include "gui/views/screenshots.h"

#include "gui/models/words.h"
#include "gui/views/main_window.h"
#include "gui/views/object_page.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QImageWriter>
#include <QPixmap>
#include <QTableView>
#include <QTreeView>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace lastref::gui {
namespace {

// Stacks are looked up and lists laid out in the background.
void settle(int milliseconds) {
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < milliseconds) QApplication::processEvents(QEventLoop::AllEvents, 20);
}

// The first thing that can be chosen, so that the details show something.
void choose_first(page const& shown) {
    for (auto* const view : shown.findChildren<QAbstractItemView*>()) {
        auto const* const model = view->model();
        if (!view->isVisible() || model == nullptr || model->rowCount() == 0) continue;
        bool const is_main = qobject_cast<QTreeView*>(view) || qobject_cast<QTableView*>(view);
        if (!is_main) continue;
        auto first = model->index(0, 0);
        if (model->rowCount(first) > 0) first = model->index(0, 0, first);
        view->setCurrentIndex(first);
        return;
    }
}

// What belongs to a finding.
void choose_finding(main_window& window, page& shown, std::size_t number) {
    auto const& f = window.work().trace()->findings[number];
    auto const event = f.sites.empty() ? store::event_id{} : f.sites.front().event;
    shown.choose_finding(number);
    if (event) shown.choose_event(event);
    if (auto* const object = dynamic_cast<object_page*>(&shown); object && !f.objects.empty())
        object->show_object(f.process, f.objects.front(), event);
}

std::optional<std::size_t> finding_of(main_window& window, QString const& rule) {
    auto const& all = window.work().trace()->findings;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (rule_text(all[i].rule) == rule) return i;
    return std::nullopt;
}

QString name_of(page const& shown) {
    return shown.title().toLower().replace(QLatin1Char(' '), QLatin1Char('-'));
}

int distance(QRgb a, QRgb b) {
    auto const red = qRed(a) - qRed(b), green = qGreen(a) - qGreen(b), blue = qBlue(a) - qBlue(b);
    return 2 * red * red + 4 * green * green + 3 * blue * blue;
}

// Colours that stand apart, the most frequent ones first: a rare red means more than another shade of grey.
std::vector<QRgb> apart(std::vector<QRgb> const& by_frequency, std::size_t most) {
    std::vector<QRgb> out;
    for (int least = 0;; least = 2 * least + 8) {
        out.clear();
        for (auto const colour : by_frequency) {
            if (out.size() > most) break;
            if (std::all_of(out.begin(), out.end(), [&](QRgb known) { return distance(known, colour) > least; }))
                out.push_back(colour);
        }
        if (out.size() <= most) return out;
    }
}

QRgb nearest(QRgb colour, std::vector<QRgb> const& among) {
    return *std::min_element(among.begin(), among.end(),
                             [colour](QRgb a, QRgb b) { return distance(a, colour) < distance(b, colour); });
}

}  // namespace

QImage few_colours(QImage const& image) {
    auto out = image.convertToFormat(QImage::Format_RGB32);
    std::map<QRgb, int> counts;
    auto const each_pixel = [&out](auto const& what) {
        for (int y = 0; y < out.height(); ++y) {
            auto* const line = reinterpret_cast<QRgb*>(out.scanLine(y));
            for (int x = 0; x < out.width(); ++x) what(line[x]);
        }
    };
    each_pixel([&counts](QRgb pixel) { ++counts[pixel]; });
    std::vector<QRgb> palette;
    for (auto const& [colour, count] : counts) palette.push_back(colour);
    std::stable_sort(palette.begin(), palette.end(), [&](QRgb a, QRgb b) { return counts[a] > counts[b]; });
    palette = apart(palette, 256);
    std::map<QRgb, QRgb> shown;
    for (auto const& [colour, count] : counts) shown[colour] = nearest(colour, palette);
    each_pixel([&shown](QRgb& pixel) { pixel = shown[pixel]; });
    return out.convertToFormat(QImage::Format_Indexed8, {palette.begin(), palette.end()}, Qt::ThresholdDither);
}

int write_screenshots(main_window& window, QString const& folder, picture_wishes const& wishes) {
    if (!QDir().mkpath(folder)) return 0;
    auto const about = wishes.rule.isEmpty() ? std::nullopt : finding_of(window, wishes.rule);
    if (!wishes.rule.isEmpty() && !about) return 0;
    int written = 0, number = 0;
    for (auto* const each : window.pages()) {
        ++number;
        if (!wishes.pages.isEmpty() && !wishes.pages.contains(name_of(*each))) continue;
        window.show_page(each->id());
        settle(100);
        if (about)
            choose_finding(window, *each, *about);
        else if (each->id() != page_id::overview)
            choose_first(*each);
        settle(400);
        auto const file = QStringLiteral("%1-%2.png").arg(number, 2, 10, QLatin1Char('0')).arg(name_of(*each));
        QImageWriter to(QDir(folder).filePath(file), "png");
        to.setCompression(100);
        written += to.write(few_colours(window.grab().toImage())) ? 1 : 0;
    }
    return written;
}

}  // namespace lastref::gui
