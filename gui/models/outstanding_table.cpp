#include <QCoreApplication>
#include <QStringList>

#include "analyzer/findings/wording.h"
#include "gui/models/tables.h"
#include "gui/models/words.h"

#include <set>

namespace lastref::gui {
namespace {

using row = outstanding_row;

QString tr(char const* text) {
    return QCoreApplication::translate("outstanding", text);
}

// "the program, a graph"; what is no payload has no references, and so no holder.
QString holders_of(row const& o) {
    if (o.kind != model::object_kind::user_object) return {};
    std::set<holder_kind> kinds;
    for (auto const& holder : o.holders) kinds.insert(holder.kind);
    if (kinds.empty()) kinds.insert(holder_kind::nobody);
    QStringList out;
    for (auto const kind : kinds) out << holder_text(kind);
    return out.join(QStringLiteral(", "));
}

QString site_of(row const& o) {
    if (!o.site.empty()) return place_text(o.site);
    return o.stack ? text_of(o.entry_point) : tr("%1 (no stack recorded)").arg(text_of(o.entry_point));
}

class names {
  public:
    explicit names(trace_pointer trace) : trace_(std::move(trace)) {}

    QString thread(store::thread_id id) const {
        auto const* found = trace_->find(id);
        return found ? text_of(findings::thread_name(*found)) : QString();
    }
    QString process(store::process_id id) const {
        auto const* found = trace_->find(id);
        return found ? text_of(findings::process_name(*found)) : QString();
    }
    QString rule(row const& o) const { return o.finding ? rule_text(trace_->findings[*o.finding].rule) : QString(); }
    facets facets_of(row const& o) const {
        facets out{o.process, {o.thread}, {}, {o.handle}, {}, o.created, trace_->end};
        if (o.payload) out.objects.push_back(o.payload);
        for (auto const& holder : o.holders)
            if (holder.handle) out.objects.push_back(holder.handle);
        if (o.finding) out.rule = trace_->findings[*o.finding].rule;
        return out;
    }

  private:
    trace_pointer trace_;
};

QVariant number(std::uint64_t value) {
    return QVariant(static_cast<qulonglong>(value));
}

table_of<row>::columns columns(names const& of) {
    return {
        {tr("Object"), [](row const& o) { return kind_text(o.kind); }},
        {tr("Made in"), site_of},
        {tr("Bytes"), [](row const& o) { return bytes_text(o.bytes); }, [](row const& o) { return number(o.bytes); },
         true, sum_of::bytes},
        {tr("Age"), [](row const& o) { return duration_text(o.age); },
         [](row const& o) { return QVariant(static_cast<qlonglong>(o.age)); }, true},
        {tr("Held by"), holders_of},
        {tr("Handle"), [](row const& o) { return handle_text(o.handle); },
         [](row const& o) { return number(o.handle); }, true},
        {tr("Made at"), [](row const& o) { return time_text(o.created); },
         [](row const& o) { return QVariant(static_cast<qlonglong>(o.created)); }, true},
        {tr("Thread"), [of](row const& o) { return of.thread(o.thread); }},
        {tr("Process"), [of](row const& o) { return of.process(o.process); }},
        {tr("Finding"), [of](row const& o) { return of.rule(o); }},
    };
}

}  // namespace

table_pointer outstanding_table(trace_pointer const& trace) {
    names const of(trace);
    table_of<row>::description what;
    what.shown = columns(of);
    what.facets_of = [of](row const& o) { return of.facets_of(o); };
    what.filters = {filter_kind::time, filter_kind::process, filter_kind::thread, filter_kind::object,
                    filter_kind::rule};
    what.event = [](row const& o) { return qint64{o.event.value}; };
    return std::make_unique<table_of<row>>(trace, trace->outstanding, std::move(what));
}

}  // namespace lastref::gui
