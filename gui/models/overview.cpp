#include "gui/models/overview.h"

#include "gui/models/words.h"

#include <QCoreApplication>

#include <algorithm>

namespace lastref::gui {
namespace {

using findings::severity;

QString tr(char const* text) {
    return QCoreApplication::translate("overview", text);
}

bool is_open(finding_row const& f) {
    return f.state == gate::state::open;
}

int count_of(loaded_trace const& trace, severity s) {
    return static_cast<int>(std::count_if(trace.findings.begin(), trace.findings.end(),
                                          [s](auto const& f) { return is_open(f) && f.severity == s; }));
}

QString headline_of(loaded_trace const& trace) {
    auto const errors = count_of(trace, severity::error), warnings = count_of(trace, severity::warning);
    auto const wrong = errors == 1 ? tr("One thing is wrong") : tr("%1 things are wrong").arg(errors);
    auto const doubtful = warnings == 1 ? tr("one more deserves a look") : tr("%1 more deserve a look").arg(warnings);
    if (errors > 0 && warnings > 0) return tr("%1, %2.").arg(wrong, doubtful);
    if (errors > 0) return wrong + QLatin1Char('.');
    if (warnings > 0)
        return warnings == 1 ? tr("One thing deserves a look.") : tr("%1 things deserve a look.").arg(warnings);
    return trace.incomplete.empty() ? tr("Nothing is wrong.") : tr("Nothing was found, but the trace is incomplete.");
}

QString state_of(loaded_trace const& trace) {
    if (trace.state == store::trace_state::recording) return tr("Recording goes on.");
    if (!trace.incomplete.empty()) return tr("The trace is incomplete: more may be wrong than is told here.");
    return tr("The trace is complete.");
}

QString below_of(loaded_trace const& trace) {
    auto const processes = static_cast<int>(trace.process_rows.size());
    auto const what = processes == 1
                          ? tr("%1 calls of %2").arg(count_text(trace.events), text_of(trace.process_rows[0].name))
                          : tr("%1 calls of %2 processes").arg(count_text(trace.events)).arg(processes);
    return tr("%1 in %2. %3").arg(what, time_text(trace.end), state_of(trace));
}

overview_line line_of(loaded_trace const& trace, std::size_t i) {
    auto const& f = trace.findings[i];
    auto detail = f.place.empty() ? rule_text(f.rule) : tr("%1, in %2").arg(rule_text(f.rule), place_text(f.place));
    if (f.bytes > 0) detail += QStringLiteral(" · ") + bytes_text(f.bytes);
    return {f.severity, text_of(f.title), detail, page_id::findings, i};
}

void add_findings(overview& out, loaded_trace const& trace) {
    for (auto const wanted : {severity::error, severity::warning, severity::note})
        for (std::size_t i = 0; i < trace.findings.size(); ++i)
            if (is_open(trace.findings[i]) && trace.findings[i].severity == wanted)
                out.lines.push_back(line_of(trace, i));
}

void add_losses(overview& out, loaded_trace const& trace) {
    for (auto const& reason : trace.incomplete)
        out.lines.push_back({severity::warning, text_of(reason), tr("something may be missing from the trace"),
                             page_id::losses, std::nullopt});
}

std::uint64_t outstanding_bytes(loaded_trace const& trace) {
    std::uint64_t out = 0;
    for (auto const& o : trace.outstanding)
        if (model::is_memory(o.kind)) out += o.bytes;  // a payload's bytes are those of its memory
    return out;
}

overview_fact fact(std::ptrdiff_t count, QString const& one, QString const& many, page_id page) {
    return {count_text(static_cast<std::uint64_t>(count)), count == 1 ? one : many, page};
}

std::vector<overview_fact> facts_of(loaded_trace const& trace) {
    auto const payloads = std::count_if(trace.outstanding.begin(), trace.outstanding.end(),
                                        [](auto const& o) { return o.kind == model::object_kind::user_object; });
    auto const lost =
        std::count_if(trace.losses.begin(), trace.losses.end(), [](auto const& l) { return l.count > 0; });
    auto const bytes = outstanding_bytes(trace);
    return {
        fact(count_of(trace, severity::error), tr("error"), tr("errors"), page_id::findings),
        fact(count_of(trace, severity::warning), tr("warning"), tr("warnings"), page_id::findings),
        fact(payloads, tr("payload outstanding"), tr("payloads outstanding"), page_id::outstanding),
        {bytes == 0 ? QStringLiteral("0") : bytes_text(bytes), tr("of memory outstanding"), page_id::outstanding},
        fact(static_cast<std::ptrdiff_t>(trace.events), tr("call or callback"), tr("calls and callbacks"),
             page_id::calls),
        fact(lost, tr("kind of loss"), tr("kinds of loss"), page_id::losses),
    };
}

}  // namespace

overview overview_of(loaded_trace const& trace) {
    overview out;
    out.headline = headline_of(trace);
    out.below = below_of(trace);
    out.facts = facts_of(trace);
    add_losses(out, trace);
    add_findings(out, trace);
    std::stable_sort(out.lines.begin(), out.lines.end(),
                     [](auto const& a, auto const& b) { return a.severity > b.severity; });
    out.clean = trace.verdict == gate::verdict::clean;
    if (!out.lines.empty() && out.lines.front().severity) out.worst = *out.lines.front().severity;
    return out;
}

}  // namespace lastref::gui
