#include "analyzer/detectors/context_not_restored.h"

#include "analyzer/findings/during.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

bool changes_context(event_kind kind) {
    return kind == event_kind::context_bind || kind == event_kind::context_create ||
           kind == event_kind::context_destroy;
}

}  // namespace

context_not_restored::context_not_restored(case_file const& file) : detector(file) {
    for (auto const& each : file_.trace.context_changes())
        if (each.found) changes_.push_back({&each, {}});
    for (auto& each : changes_) by_begin_.push_back(&each);
    std::stable_sort(by_begin_.begin(), by_begin_.end(),
                     [](change const* a, change const* b) { return a->range->before < b->range->before; });
}

void context_not_restored::step_to(store::event_id event) {
    for (; begun_ < by_begin_.size() && by_begin_[begun_]->range->before < event; ++begun_)
        active_.push_back(by_begin_[begun_]);
    std::erase_if(active_, [event](change const* each) { return each->range->last < event; });
}

void context_not_restored::on_event(model::process_state const&, model::event const& e) {
    bool const resets = e.kind() == event_kind::primary_context_reset;
    if (changes_.empty() || !e.row.succeeded() || (!changes_context(e.kind()) && !resets)) return;
    step_to(e.row.id);
    for (auto* const each : active_) {
        if (each->range->process != e.process) continue;
        if (each->range->thread == e.row.thread && !resets) each->made = e.where();
        auto const& found = file_.trace.at(each->range->found);
        bool const reset = resets && found.device && e.row.object == static_cast<store::handle>(*found.device);
        bool const destroyed = e.kind() == event_kind::context_destroy && e.row.object == found.handle;
        each->excused |= reset || destroyed;
    }
}

// Ranges nest: an outer one that ends in the context that an inner one left is told with that one. `inside` are those
// that ended so far, and lie in none of them.
bool context_not_restored::holds_another(std::vector<change const*>& inside, change const& outer) {
    bool held = false;
    while (!inside.empty() && inside.back()->range->begin >= outer.range->begin) {
        held |= inside.back()->range->left == outer.range->left;
        inside.pop_back();
    }
    inside.push_back(&outer);
    return held;
}

void context_not_restored::on_process_end(model::process_state const& process) {
    auto const id = process.process().id;
    std::unordered_map<store::thread_id, std::vector<change const*>> inside;
    for (auto const& each : changes_) {
        if (each.range->process != id || each.excused || holds_another(inside[each.range->thread], each)) continue;
        auto const place = each.made.event ? place_of(each.made) : 0;
        auto const key = findings::hash().add(each.range->domain).add(each.range->name).add(place).value();
        groups_.of(id, key, each).all.add(each.range->end);
    }
    groups_.report(id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void context_not_restored::report(model::process_state const& process, std::uint64_t key,
                                  groups<change>::group const& g) {
    auto const& range = *g.first.range;
    auto out = finding_of(rule::context_not_restored, process, g.all, key);
    out.severity = severity::warning;
    out.confidence = confidence::proven;
    out.confidence_reason = "the thread's context was recorded at the begin and at the end of the range";
    out.title = fmt::format(
        "Range {} ended in another context than it began in{}", findings::range_text({range.domain, range.name}),
        g.all.count > 1 ? fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.all.count)))
                        : std::string{});
    out.what.push_back(fmt::format("On {}, {} was current when the range began at {}, and {} when it ended at {}.",
                                   thread_of(range.thread), context_of(range.found, range.last),
                                   findings::time_text(range.begin), context_of(range.left, range.last),
                                   findings::time_text(range.end)));
    out.why =
        "What the thread does next with default streams, allocations or frees goes to the context that was left: to "
        "another device, or to none.";
    out.advice =
        "Restore the context on every way out of the range: push and pop it (cuCtxPushCurrent, cuCtxPopCurrent), or "
        "set the one that was current before.";
    if (g.first.made.event) out.sites.push_back(site_of("changed the context", g.first.made));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
