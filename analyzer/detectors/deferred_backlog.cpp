#include "analyzer/detectors/deferred_backlog.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {

void deferred_backlog::measure(backlog& b, store::time_ns now) {
    if (b.waiting.size() < many) return;
    auto const& oldest = b.waiting.oldest();
    auto const age = now - oldest.destructor.at;
    if (age < long_ago || b.waiting.size() < b.worst.count) return;
    b.worst = {b.waiting.size(), b.waiting.bytes(), age, oldest, b.waiting.all_by_address()};
    b.drained = {};
}

void deferred_backlog::on_event(model::process_state const&, model::event const& e) {
    if (e.kind() != event_kind::callback_user_object || e.subject == nullptr) return;
    auto const* link = file_.links.of_user_object(e.subject->id);
    if (link == nullptr) return;
    auto& b = backlogs_[e.process];
    b.waiting.destructor_ran(*link, e);
    measure(b, e.row.begin);
}

void deferred_backlog::on_released(model::process_state const& process, model::object const& gone,
                                   model::event const& e, model::release_cause) {
    if (!model::is_memory(gone.kind) || backlogs_.empty()) return;
    auto const found = backlogs_.find(process.process().id);
    if (found == backlogs_.end() || !found->second.waiting.contains(gone.id)) return;
    auto& b = found->second;
    measure(b, e.row.begin);
    b.waiting.gone(gone.id);
    if (b.worst.count > 0 && !b.drained.event) b.drained = e.where();
}

// What is never freed is a leak, and told as one; this rule is about what came late.
void deferred_backlog::on_process_end(model::process_state const& process) {
    auto const found = backlogs_.find(process.process().id);
    if (found == backlogs_.end()) return;
    auto const& b = found->second;
    if (b.worst.count > 0 && b.waiting.size() < b.worst.count) report(process, b);
    backlogs_.erase(found);
}

void deferred_backlog::report(model::process_state const& process, backlog const& b) {
    auto const& w = b.worst;
    tally all;
    all.add(w.oldest.destructor.at, &w.oldest.memory);
    auto out = finding_of(rule::deferred_backlog, process, all,
                          findings::hash().add(place_of(w.oldest.memory.created)).add(place_of(b.drained)).value());
    out.count = w.count;
    out.bytes = w.bytes;
    out.last_seen = b.drained.at;
    out.severity = severity::warning;
    out.confidence = w.by_address ? confidence::likely : confidence::possible;
    out.confidence_reason = w.by_address ? "the user objects' payloads are this memory"
                                         : "that the user objects stand for this memory is inferred: same thread, same "
                                           "function, allocated just before";
    out.title = fmt::format("{} waited for their clean-up at one time ({}), the oldest for {}",
                            findings::counted(w.count, "payload"), findings::bytes_text(w.bytes),
                            findings::duration_text(w.age));
    out.what.push_back(
        fmt::format("The oldest one's destructor ran at {}; its memory was freed much later, in one go with the "
                    "others.",
                    findings::time_text(w.oldest.destructor.at)));
    tell_of_pending_calls(out, process);
    out.why =
        "A destructor must not call the driver, so it hands its payload on. Until somebody cleans up, the memory is "
        "lost to "
        "the program: a queue that is drained seldom costs as much as a leak.";
    out.advice =
        "Wake the thread that drains the queue from the destructor, or drain it with every step of the program.";
    out.sites.push_back(site_of("allocated", w.oldest.memory.created));
    out.sites.push_back(site_of("destructor ran", w.oldest.destructor));
    if (b.drained.event) out.sites.push_back(site_of("drained", b.drained));
    file_.found.add(std::move(out));
}

// What became of the wake-ups, where they went through CPython's pending calls.
void deferred_backlog::tell_of_pending_calls(finding& out, model::process_state const& process) const {
    for (auto const* f : file_.pending.of(process.process().id)) {
        if (f->in_callbacks == 0 && f->frees == 0) continue;
        if (f->refused > 0)
            out.what.push_back(fmt::format(
                "Py_AddPendingCall refused {}, the first at {}, since CPython's queue of pending calls was full{}.",
                findings::counted(f->refused, "wake-up"), findings::time_text(f->first_refusal->at),
                f->taken_after_refusal
                    ? fmt::format("; one was accepted at {}", findings::time_text(f->taken_after_refusal->at))
                    : std::string{}));
        if (f->refused > 0) out.sites.push_back(site_of("wake-up refused", *f->first_refusal));
        if (f->longest_wait >= long_ago)
            out.what.push_back(
                fmt::format("A pending call that CPython had accepted ran {} later only: its main thread did "
                            "not come to a place where it runs them.",
                            findings::duration_text(f->longest_wait)));
    }
}

}  // namespace lastref::detectors
