#include "gui/views/filter_menu.h"

#include "gui/models/filter_offers.h"

#include <QInputDialog>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <set>

namespace lastref::gui {
namespace {

constexpr std::size_t most = 60;

}  // namespace

std::vector<filter> offered_filters(loaded_trace const& trace, filter_kind kind) {
    std::vector<filter> out;
    if (kind == filter_kind::process)
        for (auto const& process : trace.process_rows) out.push_back(process_filter(process.id, trace));
    if (kind == filter_kind::thread)
        for (auto const& track : trace.timeline->tracks())
            if (track.kind == scenes::track_kind::thread) out.push_back(thread_filter(track.thread, trace));
    if (kind == filter_kind::stream) {
        std::set<store::handle> known;  // handed out again, a handle has several tracks
        for (auto const& track : trace.timeline->tracks())
            if (track.stream != 0 && known.insert(track.stream).second) out.push_back(stream_filter(track.stream));
    }
    if (kind == filter_kind::rule) {
        std::set<findings::rule> known;
        for (auto const& f : trace.findings)
            if (known.insert(f.rule).second) out.push_back(rule_filter(f.rule));
    }
    if (out.size() > most) out.resize(most);
    return out;
}

filter_menu::filter_menu(QWidget* parent) : QMenu(parent) {
    setTitle(tr("&Filter"));
    connect(this, &QMenu::aboutToShow, this, &filter_menu::fill);
    setEnabled(false);
}

// Not when it is about to be shown: what is disabled never is.
void filter_menu::show_trace(trace_pointer const& trace) {
    trace_ = trace;
    setEnabled(trace != nullptr);
}

void filter_menu::add(QString const& title, std::vector<filter> const& filters) {
    auto* const below = addMenu(title);
    below->setEnabled(!filters.empty());
    for (auto const& each : filters) below->addAction(each.label, this, [this, each] { Q_EMIT chosen(each); });
}

void filter_menu::fill() {
    qDeleteAll(findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));  // clear() keeps them
    clear();
    if (!trace_) return;
    add(tr("&Process"), offered_filters(*trace_, filter_kind::process));
    add(tr("&Thread"), offered_filters(*trace_, filter_kind::thread));
    add(tr("&Stream"), offered_filters(*trace_, filter_kind::stream));
    add(tr("&Rule"), offered_filters(*trace_, filter_kind::rule));
    addAction(tr("&Object…"), this, &filter_menu::ask_for_object);
    addAction(tr("T&ime…"), this, &filter_menu::ask_for_time);
}

void filter_menu::ask_for_object() {
    auto const text = QInputDialog::getText(parentWidget(), tr("Show only one object"), tr("Its handle or address"),
                                            QLineEdit::Normal, QStringLiteral("0x"));
    bool is_number = false;
    auto const handle = text.trimmed().toULongLong(&is_number, 16);
    if (is_number && handle != 0) Q_EMIT chosen(object_filter(handle));
}

void filter_menu::ask_for_time() {
    auto const text = QInputDialog::getText(parentWidget(), tr("Show only a stretch of time"),
                                            tr("From – to, in seconds since the trace began"));
    if (auto const wanted = time_in(text)) Q_EMIT chosen(*wanted);
}

std::optional<filter> filter_menu::time_in(QString const& text) {
    static QRegularExpression const form(QStringLiteral("^\\s*([0-9.]+)\\s*s?\\s*(?:-|–|to)\\s*([0-9.]+)\\s*s?\\s*$"));
    auto const parts = form.match(text);
    bool first_is = false, last_is = false;
    auto const first = parts.captured(1).toDouble(&first_is), last = parts.captured(2).toDouble(&last_is);
    if (!parts.hasMatch() || !first_is || !last_is || last < first || last > 1e9) return std::nullopt;
    return time_filter(std::llround(first * 1e9), std::llround(last * 1e9));
}

}  // namespace lastref::gui
