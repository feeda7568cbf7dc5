#include "gui/loader/replay_rows.h"

#include "analyzer/findings/wording.h"
#include "analyzer/replay/replay.h"

#include <fmt/core.h>

namespace lastref::gui {
namespace {

using findings::duration_text;

constexpr auto not_observed = "not observed";

std::string number(std::uint64_t count) {
    return findings::counted(static_cast<std::int64_t>(count));
}

// Of what never took place there is no median.
std::string length(std::optional<replay::spread> const& of, std::int64_t replay::spread::*part) {
    return of ? duration_text((*of).*part) : "none";
}

std::string drains(std::optional<replay::spread> const& of) {
    return number(of ? of->count : 0);
}

std::string left_text(replay::observed_side const& o) {
    return o.left_bytes == 0 ? number(o.left)
                             : fmt::format("{} ({})", number(o.left), findings::bytes_text(o.left_bytes));
}

void add_rows(std::vector<replay_row>& out, replay::process_replay const& p, std::string const& process) {
    auto const& o = p.observed;
    auto const& r = p.reference;
    auto const add = [&](std::string what, std::string observed, std::string reference) {
        out.push_back({process, std::move(what), o.known() ? std::move(observed) : not_observed, std::move(reference)});
    };
    out.push_back({process, "callbacks", number(p.callbacks), number(p.callbacks)});
    out.push_back({process, "wake-ups", not_observed, number(r.wakeups)});
    add("drains that found payloads", drains(o.drains), drains(r.drains));
    add("callback to clean-up, median", length(o.delay, &replay::spread::median),
        length(r.delay, &replay::spread::median));
    add("callback to clean-up, 99th percentile", length(o.delay, &replay::spread::p99),
        length(r.delay, &replay::spread::p99));
    add("callback to clean-up, longest", length(o.delay, &replay::spread::max), length(r.delay, &replay::spread::max));
    add("waiting at one time, most", number(o.most_waiting), number(r.most_waiting));
    add(r.stopped ? "left at shutdown" : "left at the end", left_text(o), number(r.left));
}

}  // namespace

std::vector<replay_row> replay_rows(loaded_trace const& trace, scenes::watch const& go_on) {
    auto const file = store::trace::open(trace.path);
    auto const made = replay::replay(file, replay::consumer::main_thread, [&go_on](double share) {
        if (go_on && !go_on(share)) throw scenes::cancelled();
    });
    std::vector<replay_row> out;
    for (auto const& p : made.processes)
        add_rows(out, p, made.processes.size() > 1 ? findings::process_name(file.at(p.process)) : std::string());
    return out;
}

}  // namespace lastref::gui
