#include "analyzer/detectors/ptds_cross_thread_free.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

bool is_per_thread(model::stream_identity const& s) {
    return s.kind == model::stream_kind::per_thread;
}

}  // namespace

void ptds_cross_thread_free::used(model::object const* memory, model::event const& e) {
    if (memory != nullptr && memory->kind == model::object_kind::stream_ordered) uses_[memory->id] = e.where();
}

void ptds_cross_thread_free::on_event(model::process_state const&, model::event const& e) {
    if (!is_per_thread(e.stream) || !e.row.succeeded()) return;
    if (is_creation(e) || e.api.verb == store::verb::use) {
        used(e.subject, e);
        used(e.related, e);
    }
}

void ptds_cross_thread_free::on_released(model::process_state const& process, model::object const& gone,
                                         model::event const& e, model::release_cause cause) {
    auto const found = uses_.find(gone.id);
    if (found == uses_.end()) return;
    auto const use = found->second;
    uses_.erase(found);
    bool const freed_elsewhere = cause == model::release_cause::call && e.kind() == event_kind::memory_free_async &&
                                 is_per_thread(e.stream) && e.stream.thread != use.stream.thread;
    if (!freed_elsewhere || file_.completion.done(use.stream, use.at)) return;
    auto& g = groups_[process.process().id][{place_of(gone.created), place_of(use), place_of(e.where())}];
    if (g.count++ == 0) {
        g.first = gone;
        g.last_use = use;
        g.freed = e.where();
    }
    g.bytes += gone.bytes;
    g.last = e.row.begin;
    keep_first(g.some, gone);
}

void ptds_cross_thread_free::on_process_end(model::process_state const& process) {
    auto const found = groups_.find(process.process().id);
    if (found == groups_.end()) return;
    for (auto const& [k, g] : found->second) report(process, g);
    groups_.erase(found);
}

void ptds_cross_thread_free::report(model::process_state const& process, group const& g) {
    finding out;
    out.rule = rule::ptds_cross_thread_free;
    out.severity = severity::warning;
    out.confidence = confidence::possible;
    out.confidence_reason =
        "order between streams through events is not looked at: a wait that makes this safe may be there";
    out.process = process.process().id;
    out.title = fmt::format("{} of one thread's default stream freed on another thread's",
                            findings::counted(g.count, "buffer"));
    bool const by_use = g.last_use.event != g.first.created.event;
    out.what.push_back(fmt::format("{} was {} on {} and freed on {}.", findings::handle_text(g.first.handle),
                                   by_use ? "last used" : "allocated", stream_of(g.last_use), stream_of(g.freed)));
    out.what.push_back("Between the two, no call waited for the first stream.");
    out.why =
        "Each thread has a default stream of its own, and nothing orders one after the other. The pool may hand the "
        "memory "
        "out again while the first thread's work still reads or writes it.";
    out.advice =
        "Free on the stream that used the memory: keep a created stream with the allocation, or let the freeing "
        "thread's stream wait for an event that the using thread recorded after its last use.";
    for (auto const& o : g.some) out.objects.push_back(note_of(o));
    out.sites.push_back(site_of("allocated", g.first.created,
                                is_per_thread(g.first.created.stream) ? "its per-thread default stream" : ""));
    if (by_use) out.sites.push_back(site_of("last used", g.last_use, "its per-thread default stream"));
    out.sites.push_back(site_of("freed", g.freed, "its per-thread default stream"));
    out.first_seen = g.freed.at;
    out.last_seen = g.last;
    out.count = g.count;
    out.bytes = g.bytes;
    out.fingerprint = findings::hash()
                          .add(info(out.rule).name)
                          .add(place_of(g.first.created))
                          .add(by_use ? place_of(g.last_use) : 0)
                          .add(place_of(g.freed))
                          .hex();
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
