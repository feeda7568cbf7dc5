#include "analyzer/model/pending_calls.h"

#include "analyzer/model/process_state.h"

#include <algorithm>
#include <limits>

namespace lastref::model {

namespace {

interpreter_stage stage_of(store::phase_step step) {
    switch (step) {
        case store::phase_step::python_initialized:
            return interpreter_stage::initialized;
        case store::phase_step::python_finalizing:
            return interpreter_stage::finalizing;
        case store::phase_step::python_finalized:
            return interpreter_stage::finalized;
        default:
            return interpreter_stage::none;
    }
}

}  // namespace

pending_calls::pending_calls(store::trace const& trace) {
    for (auto const& phase : trace.phases())
        if (auto const stage = stage_of(phase.what); stage != interpreter_stage::none)
            steps_[phase.process].push_back({phase.event, stage});
}

interpreter_stage pending_calls::interpreter_at(store::process_id process, store::event_id event) const {
    auto const steps = steps_.find(process);
    auto stage = interpreter_stage::none;
    if (steps == steps_.end()) return stage;
    for (auto const& each : steps->second)
        if (each.before < event) stage = each.reached;
    return stage;
}

pending_calls::entry& pending_calls::of(event const& e) {
    auto& its = functions_[{e.process, e.row.extra}];
    its.what.process = e.process;
    its.what.function = e.row.extra;
    return its;
}

void pending_calls::attempted(event const& e) {
    auto& what = of(e).what;
    if (what.attempts++ == 0) what.first_attempt = e.where();
    if ((e.row.flags & store::event_flag::in_callback) != 0) ++what.in_callbacks;
    if (e.row.size == 0 && e.row.returned()) {
        if (what.refused++ == 0) what.first_refusal = e.where();
        return;
    }
    if (what.first_refusal && !what.taken_after_refusal) what.taken_after_refusal = e.where();
    ++what.waiting;
    waiting_[{e.process, e.row.object}] = {e.row.begin};
}

void pending_calls::ran(event const& e) {
    auto& its = of(e);
    auto& what = its.what;
    auto const& callbacks = queues_[e.process];
    if (what.runs++ == 0) what.first_run = e.where();
    what.run_threads.insert(e.row.thread);
    what.payload_callbacks += callbacks.callbacks - its.seen;
    its.seen = callbacks.callbacks;
    what.callback_threads = callbacks.callback_threads;
    what.total_run += e.row.returned() ? e.row.duration : 0;
    auto const end = e.row.returned() ? e.row.end() : std::numeric_limits<store::time_ns>::max();
    running_[e.row.thread] = {e.row.id, e.row.begin, end, e.row.extra};
    auto const tried = waiting_.find({e.process, e.row.object});
    if (tried == waiting_.end()) return;
    what.longest_wait = std::max(what.longest_wait, e.row.begin - tried->second.at);
    --what.waiting;
    waiting_.erase(tried);
}

void pending_calls::on_event(process_state const&, event const& e) {
    if (e.kind() == event_kind::callback_user_object) {
        auto& its = queues_[e.process];
        ++its.callbacks;
        its.callback_threads.insert(e.row.thread);
    }
    if (e.kind() == event_kind::pending_call_attempt) attempted(e);
    if (e.kind() == event_kind::pending_call_run) ran(e);
}

void pending_calls::on_released(process_state const&, object const& gone, event const& e, release_cause cause) {
    if (!is_memory(gone.kind) || cause != release_cause::call) return;
    auto const* run = around(e.row);
    if (run == nullptr) return;
    auto& what = functions_[{e.process, run->function}].what;
    ++what.frees;
    what.freed_bytes += gone.bytes;
}

pending_calls::running const* pending_calls::around(store::event const& row) const {
    if (running_.empty()) return nullptr;
    auto const found = running_.find(row.thread);
    if (found == running_.end() || row.begin < found->second.begin || row.begin > found->second.end) return nullptr;
    return row.id == found->second.event ? nullptr : &found->second;
}

std::vector<pending_function const*> pending_calls::of(store::process_id process) const {
    std::vector<pending_function const*> out;
    for (auto i = functions_.lower_bound({process, 0}); i != functions_.end() && i->first.first == process; ++i)
        out.push_back(&i->second.what);
    auto const first = [](pending_function const* f) {
        return f->first_attempt ? f->first_attempt->event : f->first_run->event;
    };
    std::sort(out.begin(), out.end(), [&first](auto const* a, auto const* b) { return first(a) < first(b); });
    return out;
}

std::vector<pending_function> pending_calls::all() const {
    std::vector<pending_function> out;
    std::set<store::process_id> processes;
    for (auto const& [k, each] : functions_) processes.insert(k.first);
    for (auto const process : processes) {
        for (auto const* each : of(process)) {
            out.push_back(*each);
            if (each->in_callbacks == 0) {  // they have nothing to do with each other
                out.back().payload_callbacks = 0;
                out.back().callback_threads.clear();
                continue;
            }
            auto const callbacks = queues_.find(process);
            if (callbacks == queues_.end()) continue;
            out.back().later_callbacks = callbacks->second.callbacks - functions_.at({process, each->function}).seen;
            if (out.back().runs == 0) out.back().callback_threads = callbacks->second.callback_threads;
        }
    }
    return out;
}

}  // namespace lastref::model
