#include "analyzer/detectors/queue_contract.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {

queue_contract::queue_contract(case_file const& file) : detector(file) {}

// Then an item may seem lost, or never enqueued, that was not.
bool queue_contract::marks_missing(store::process_id process) const {
    auto const& losses = file_.trace.losses();
    return std::any_of(losses.begin(), losses.end(), [process](store::loss const& l) {
        return l.process == process && l.count > 0 &&
               (l.name == "records_dropped" || l.name == "late_records" || l.name == "damaged_records" ||
                l.name == "threads_unrecorded" || l.name == "annotations_unknown");
    });
}

void queue_contract::on_event(model::process_state const&, model::event const& e) {
    if (e.kind() == event_kind::pending_call_attempt) return pending_call(e);
    if (!is_annotation(e.kind())) return;
    auto const of_queue = [&]() -> queue& { return queues_[e.process][e.row.object]; };
    switch (e.kind()) {
        case event_kind::annotation_enqueue:
            return enqueue(of_queue(), e);
        case event_kind::annotation_clean:
            return clean(of_queue(), e);
        case event_kind::annotation_schedule:
            return schedule(of_queue(), e);
        case event_kind::annotation_schedule_result:
            return schedule_result(of_queue(), e);
        case event_kind::annotation_drain_begin:
            return drain_begin(of_queue(), e);
        case event_kind::annotation_drain_end:
            return drain_end(of_queue(), e);
        case event_kind::annotation_decline:
            return answer(of_queue());
        case event_kind::annotation_stop:
            of_queue().stop = e.where();
            break;
        default:
            break;
    }
}

void queue_contract::enqueue(queue& q, model::event const& e) {
    q.last_enqueue[e.row.thread] = e.row.id;
    auto const [known, fresh] = q.waiting.try_emplace(e.row.other, e.where());
    if (!fresh) add(breach::enqueued_twice, e, known->second);
}

void queue_contract::clean(queue& q, model::event const& e) {
    bool const in_batch = q.batch.event && q.batch.thread == e.row.thread;
    if (q.batch.event && !in_batch) add(breach::other_thread, e, q.batch);
    if (q.waiting.erase(e.row.other) == 0) {
        auto const before = std::find_if(q.cleaned.rbegin(), q.cleaned.rend(),
                                         [&](auto const& each) { return each.first == e.row.other; });
        if (before != q.cleaned.rend())
            add(breach::cleaned_twice, e, before->second);
        else if (!marks_missing(e.process))
            add(breach::cleaned_twice, e);
    }
    q.cleaned.emplace_back(e.row.other, e.where());
    if (q.cleaned.size() > most_cleaned) q.cleaned.pop_front();
}

// After the stop, a thread may still ask for what it had enqueued before.
void queue_contract::schedule(queue& q, model::event const& e) {
    if (q.open.event || q.pending.event) add(breach::scheduled_twice, e, q.open.event ? q.open : q.pending);
    auto const enqueued = q.last_enqueue.find(e.row.thread);
    if (q.stop.event && enqueued != q.last_enqueue.end() && enqueued->second > q.stop.event)
        add(breach::after_stop, e, q.stop);
    q.open = e.where();
    q.answered = false;
}

void queue_contract::schedule_result(queue& q, model::event const& e) {
    bool const accepted = e.row.size != 0;
    q.pending = accepted && !q.answered && q.open.event ? q.open : model::origin{};
    q.open = {};
}

void queue_contract::answer(queue& q) {
    q.answered = true;
    q.pending = {};
}

void queue_contract::drain_begin(queue& q, model::event const& e) {
    answer(q);
    if ((e.row.flags & store::event_flag::in_callback) != 0) add(breach::in_callback, e);
    if (q.batch.event) add(breach::overlapping, e, q.batch);
    q.batch = e.where();
}

void queue_contract::drain_end(queue& q, model::event const&) {
    if (q.batch.event) q.last_whole_batch = q.batch.event;
    q.batch = {};
}

// Of programs without annotations too: after the interpreter's end nobody runs it, and asking touches what is gone.
void queue_contract::pending_call(model::event const& e) {
    if (file_.pending.interpreter_at(e.process, e.row.id) >= model::interpreter_stage::finalizing)
        add(e.process, {breach::after_interpreter, e.row.extra, e.row.other, e.where(), {}});
}

void queue_contract::add(breach what, model::event const& e, model::origin const& before) {
    add(e.process, {what, e.row.object, e.row.other, e.where(), before});
}

void queue_contract::add(store::process_id process, offence const& o) {
    auto const key =
        findings::hash().add(static_cast<std::uint64_t>(o.what)).add(place_of(o.at)).add(place_of(o.before)).value();
    groups_.of(process, key, o).all.add(o.at.at);
}

// What a stopped queue holds is left on purpose; what a process that was killed holds, it might have cleaned up.
void queue_contract::look_at_what_is_left(model::process_state const& process, store::handle name, queue const& q) {
    if (q.stop.event || marks_missing(process.process().id)) return;
    for (auto const& [item, enqueued] : q.waiting) {
        if (file_.intended.covers(process.process().id, item, enqueued.event)) continue;
        bool const passed_over = q.last_whole_batch > enqueued.event;
        if (!passed_over && !ended_orderly(process)) continue;
        add(process.process().id, {passed_over ? breach::lost : breach::left, name, item, enqueued, {}});
    }
}

void queue_contract::on_process_end(model::process_state const& process) {
    if (auto const found = queues_.find(process.process().id); found != queues_.end()) {
        for (auto const& [name, q] : found->second) look_at_what_is_left(process, name, q);
        queues_.erase(found);
    }
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void queue_contract::report(model::process_state const& process, std::uint64_t key, groups<offence>::group const& g) {
    auto out = finding_of(rule::queue_contract, process, g.all, key);
    out.severity = severity::error;
    out.confidence = confidence::proven;
    out.confidence_reason = "the queue's own annotations say so";
    describe(out, g.first);
    if (g.all.count > 1)
        out.title += fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.all.count)));
    file_.found.add(std::move(out));
}

// lint: long function, one text for each breach
void queue_contract::describe(finding& out, offence const& o) const {
    using findings::handle_text;
    auto const which = handle_text(o.queue), item = handle_text(o.item);
    auto const when = findings::time_text(o.at.at), who = thread_of(o.at);
    auto const earlier = [&](char const* role) {
        if (o.before.event) out.sites.push_back(site_of(role, o.before));
    };
    auto const tell = [&](std::string title, char const* role, std::string what, char const* why, char const* advice) {
        out.title = std::move(title);
        out.what.push_back(std::move(what));
        out.why = why;
        out.advice = advice;
        out.sites.push_back(site_of(role, o.at));
    };
    switch (o.what) {
        case breach::lost:
            out.confidence = confidence::likely;
            out.confidence_reason = "a batch that began after the item was enqueued ended without it, and none took it";
            tell(fmt::format("Deferred queue {} lost an item", which), "enqueued",
                 fmt::format("Item {} was enqueued by {} at {}; later batches ended and none cleaned it up.", item, who,
                             when),
                 "What the item stands for is never released.",
                 "Take the whole list in one exchange, and clean up every item of it.");
            break;
        case breach::left:
            out.severity = severity::warning;
            tell(fmt::format("Deferred queue {} was not drained before the end", which), "enqueued",
                 fmt::format("Item {} was enqueued by {} at {}; no batch came after it, and the queue was not stopped.",
                             item, who, when),
                 "What the item stands for was not released before the process ended.",
                 "Drain the queue once more before the end; where the rest is to be left, say so with stop.");
            break;
        case breach::cleaned_twice:
            tell(fmt::format("Deferred queue {} cleaned up an item that it did not hold", which), "cleaned up",
                 o.before.event
                     ? fmt::format("{} cleaned up item {} at {}, which had been cleaned up at {}.", who, item, when,
                                   findings::time_text(o.before.at))
                     : fmt::format("{} cleaned up item {} at {}, which had not been enqueued.", who, item, when),
                 "A clean-up that runs twice frees what may belong to somebody else by then.",
                 "Detach the items from the queue before the first is cleaned up.");
            earlier("cleaned up before");
            break;
        case breach::enqueued_twice:
            tell(fmt::format("An item was enqueued in deferred queue {} while it was there already", which), "enqueued",
                 fmt::format("{} enqueued item {} at {}; it had been there since {}.", who, item, when,
                             findings::time_text(o.before.at)),
                 "An intrusive list that holds an item twice loses what was behind it, and the clean-up runs twice.",
                 "Give each payload one owner, whose destructor enqueues it once.");
            earlier("enqueued before");
            break;
        case breach::scheduled_twice:
            tell(fmt::format("Deferred queue {} asked for a wake-up while one was under way", which), "scheduled",
                 fmt::format("{} asked for a wake-up at {}; the one of {} had not been answered.", who, when,
                             findings::time_text(o.before.at)),
                 "Each wake-up takes a place in a bounded list, such as the pending calls of CPython, so that others "
                 "are refused "
                 "theirs.",
                 "Ask only when the queue was empty before, and not again until a drain has begun.");
            earlier("scheduled before");
            break;
        case breach::in_callback:
            tell(fmt::format("Deferred queue {} was drained inside a callback", which), "drained",
                 fmt::format("{} began a batch at {} while the driver ran a callback on it.", who, when),
                 "No call of the driver is permitted there: what the batch frees is refused or waits for itself.",
                 "Only enqueue in the callback, and drain on a thread of the program's own.");
            break;
        case breach::other_thread:
            tell(fmt::format("Deferred queue {} cleaned up an item on another thread than the batch's", which),
                 "cleaned up",
                 fmt::format("{} cleaned up item {} at {}, in a batch of {}.", who, item, when, thread_of(o.before)),
                 "Two threads that clean up at one time take items from each other.",
                 "Let one thread drain at a time.");
            earlier("batch began");
            break;
        case breach::overlapping:
            tell(fmt::format("Two batches of deferred queue {} ran at one time", which), "batch began",
                 fmt::format("{} began a batch at {}; that of {} had not ended.", who, when, thread_of(o.before)),
                 "Two threads that clean up at one time take items from each other.",
                 "Let one thread drain at a time.");
            earlier("batch began before");
            break;
        case breach::after_stop:
            tell(fmt::format("Deferred queue {} asked for a wake-up after it was stopped", which), "scheduled",
                 fmt::format("{} asked for a wake-up at {} for what it had enqueued after the stop at {}.", who, when,
                             findings::time_text(o.before.at)),
                 "After the stop nobody may be there to answer: an interpreter that has been finalized is entered.",
                 "Look at the stop before the wake-up; leave what comes later.");
            earlier("stopped");
            break;
        case breach::after_interpreter: {
            bool const gone =
                file_.pending.interpreter_at(out.process, o.at.event) == model::interpreter_stage::finalized;
            if (!gone) out.severity = severity::warning;
            out.confidence_reason = "the interpreter itself had said so before the attempt began";
            tell(gone ? "Py_AddPendingCall was called after the interpreter was finalized"
                      : "Py_AddPendingCall was called while the interpreter was finalizing",
                 "asked", fmt::format("{} asked for a pending call of {} at {}.", who, which, when),
                 gone ? "Nobody runs it, and asking takes a lock of an interpreter that is gone: some versions crash."
                      : "The main thread runs no pending calls any more: what the call would have cleaned up is left.",
                 "Stop asking when the interpreter begins to end: from a callback of the module atexit, or of "
                 "Py_AtExit.");
            break;
        }
    }
}

}  // namespace lastref::detectors
