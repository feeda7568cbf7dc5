#include "analyzer/findings/pending_calls.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <set>

namespace lastref::findings {
namespace {

std::string threads_text(store::trace const& trace, std::set<store::thread_id> const& threads) {
    if (threads.size() == 1) return thread_name(trace.at(*threads.begin()));
    return counted(threads.size(), "thread");
}

// The driver's own threads, as far as a callback tells them: every thread but the main one that runs destructors.
std::string callback_threads_text(store::trace const& trace, std::set<store::thread_id> const& threads) {
    if (threads.size() != 1 || trace.at(*threads.begin()).main) return threads_text(trace, threads);
    return fmt::format("the driver's thread ({})", trace.at(*threads.begin()).tid);
}

bool is_deferred_release(model::pending_function const& f) {
    return f.in_callbacks > 0 || f.frees > 0;
}

std::string refusals_text(model::pending_function const& f) {
    if (f.refused == 0) return {};
    return fmt::format(" {} refused since CPython's queue was full, the first at {}; {}.",
                       counted(f.refused, "attempt"), time_text(f.first_refusal->at),
                       f.taken_after_refusal
                           ? fmt::format("one was accepted at {}", time_text(f.taken_after_refusal->at))
                           : "none was accepted after it");
}

std::string runs_text(store::trace const& trace, model::pending_function const& f) {
    if (f.runs == 0) return "none ran";
    return fmt::format("{} on {} after at most {}; {} ({}) inside", f.runs == 1 ? "ran" : counted(f.runs, "run"),
                       threads_text(trace, f.run_threads), duration_text(f.longest_wait), counted(f.frees, "free"),
                       bytes_text(f.freed_bytes));
}

std::string deferred_text(store::trace const& trace, model::pending_function const& f) {
    auto const callbacks = f.payload_callbacks + (f.runs == 0 ? f.later_callbacks : 0);
    auto out = fmt::format("Deferred release through CPython: {}{}{}, {} scheduled, {}.",
                           counted(callbacks, "payload callback"), callbacks > 0 ? " on " : "",
                           callbacks > 0 ? callback_threads_text(trace, f.callback_threads) : "",
                           counted(f.attempts - f.refused, "pending call"), runs_text(trace, f));
    out += refusals_text(f);
    if (f.waiting > 0) out += fmt::format(" {} never ran.", counted(f.waiting, "accepted call"));
    if (f.runs > 0 && f.later_callbacks > 0)
        out += fmt::format(" {} came after its last run.", counted(f.later_callbacks, "payload callback"));
    return out;
}

}  // namespace

std::vector<std::string> pending_call_sentences(store::trace const& trace,
                                                std::vector<model::pending_function> const& functions) {
    std::vector<std::string> out;
    model::pending_function rest;
    for (auto const& f : functions) {
        if (is_deferred_release(f)) {
            out.push_back(deferred_text(trace, f));
            continue;
        }
        rest.attempts += f.attempts;
        rest.refused += f.refused;
        rest.runs += f.runs;
    }
    if (rest.attempts == 0) return out;
    out.push_back(fmt::format("Other pending calls of CPython: {}, {} refused, {}.", counted(rest.attempts, "attempt"),
                              counted(static_cast<std::int64_t>(rest.refused)), counted(rest.runs, "run")));
    return out;
}

}  // namespace lastref::findings
