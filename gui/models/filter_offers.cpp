#include "gui/models/filter_offers.h"

#include "analyzer/findings/wording.h"
#include "gui/models/words.h"

#include <QCoreApplication>

#include <algorithm>

namespace lastref::gui {
namespace {

QString tr(char const* text) {
    return QCoreApplication::translate("filters", text);
}

}  // namespace

filter process_filter(store::process_id id, loaded_trace const& trace) {
    auto const* found = trace.find(id);
    return {filter_kind::process, id.value, 0, found ? text_of(findings::process_name(*found)) : tr("one process")};
}

filter thread_filter(store::thread_id id, loaded_trace const& trace) {
    auto const* found = trace.find(id);
    return {filter_kind::thread, id.value, 0, found ? text_of(findings::thread_name(*found)) : tr("one thread")};
}

filter stream_filter(store::handle stream) {
    auto const name = stream == 1   ? tr("legacy")
                      : stream == 2 ? tr("per-thread")
                      : stream == 0 ? tr("null")
                                    : handle_text(stream);
    return {filter_kind::stream, static_cast<std::int64_t>(stream), 0, tr("stream %1").arg(name)};
}

filter object_filter(store::handle object) {
    return {filter_kind::object, static_cast<std::int64_t>(object), 0, tr("object %1").arg(handle_text(object))};
}

filter rule_filter(findings::rule rule) {
    return {filter_kind::rule, static_cast<std::int64_t>(rule), 0, tr("rule %1").arg(rule_text(rule))};
}

filter time_filter(store::time_ns first, store::time_ns last) {
    return {filter_kind::time, first, last, tr("%1 to %2").arg(time_text(first), time_text(last))};
}

std::vector<store::handle> objects_in(facets const& row) {
    std::vector<store::handle> out;
    for (auto const object : row.objects)
        if (object != 0 && std::find(out.begin(), out.end(), object) == out.end()) out.push_back(object);
    return out;
}

std::vector<filter> filters_for(facets const& row, loaded_trace const& trace) {
    std::vector<filter> out;
    if (row.rule) out.push_back(rule_filter(*row.rule));
    if (row.process && trace.process_rows.size() > 1) out.push_back(process_filter(row.process, trace));
    for (auto const id : row.threads) out.push_back(thread_filter(id, trace));
    for (auto const stream : row.streams)
        if (stream > 2) out.push_back(stream_filter(stream));
    auto const is_stream = [&row](store::handle object) {
        return std::find(row.streams.begin(), row.streams.end(), object) != row.streams.end();
    };
    for (auto const object : objects_in(row))
        if (!is_stream(object)) out.push_back(object_filter(object));
    return out;
}

}  // namespace lastref::gui
