#include "analyzer/report/replay.h"

#include "analyzer/findings/wording.h"
#include "analyzer/report/escape.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace lastref::report {
namespace {

using findings::counted;
using findings::duration_text;
using json = nlohmann::ordered_json;

constexpr auto unknown = "not observed";

std::string number(std::uint64_t count) {
    return counted(static_cast<std::int64_t>(count));
}

std::string row(std::string_view what, std::string_view observed, std::string_view reference) {
    auto line = fmt::format("  {:<38}{:<18}{}", what, observed, reference);
    return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

// Of what never took place there is no median.
template <class Text>
std::string cell(std::optional<replay::spread> const& of, std::int64_t replay::spread::*part, Text const& text) {
    return of ? text((*of).*part) : "none";
}

template <class Text>
std::string spread_rows(std::string_view what, std::string_view greatest, std::optional<replay::spread> const& observed,
                        bool known, std::optional<replay::spread> const& reference, Text const& text) {
    using part = std::int64_t replay::spread::*;
    std::string out;
    for (auto const& [name, which] : {std::pair<std::string_view, part>{"median", &replay::spread::median},
                                      {"99th percentile", &replay::spread::p99},
                                      {greatest, &replay::spread::max}})
        out += row(fmt::format("{}, {}", what, name), known ? cell(observed, which, text) : unknown,
                   cell(reference, which, text));
    return out;
}

std::string where_observed_from(replay::process_replay const& p) {
    auto const& o = p.observed;
    if (!o.known())
        return "  Observed: nothing. No payload stands for memory that is known, so that its clean-up cannot be "
               "seen.\n";
    auto out = fmt::format(
        "  Observed: frees of memory that payloads stand for, of {} of {} callbacks: {} by the payload's address, {} "
        "inferred.\n",
        number(o.by_address + o.by_nearness), number(p.callbacks), number(o.by_address), number(o.by_nearness));
    if (o.unknown > 0)
        out += fmt::format("  The clean-ups of the other {} are not observed, and not in the left column.\n",
                           number(o.unknown));
    if (o.gone_otherwise > 0)
        out += fmt::format("  The memory of {} went with its context or by a call that was not recorded.\n",
                           number(o.gone_otherwise));
    return out;
}

std::string where_reference_from(replay::process_replay const& p, replay::consumer who) {
    auto const& r = p.reference;
    return fmt::format(
        "  Reference: all {} callbacks, from {}. {} polls whenever a driver call of its own has returned ({}); clean-"
        "ups take no time.{}\n",
        number(p.callbacks), counted(p.producers, "thread"),
        who == replay::consumer::main_thread ? "The main thread" : "Every thread", counted(r.safe_points, "safe point"),
        r.stopped ? " When exit handlers began, it was drained once more and stopped."
                  : " Exit handlers did not run, so it was never stopped.");
}

std::string left_text(replay::observed_side const& o) {
    if (!o.known()) return unknown;
    return o.left_bytes > 0 ? fmt::format("{} ({})", number(o.left), findings::bytes_text(o.left_bytes))
                            : number(o.left);
}

std::string table(replay::process_replay const& p) {
    auto const& o = p.observed;
    auto const& r = p.reference;
    bool const known = o.known();
    auto const count = [](std::int64_t n) { return counted(n); };
    auto const drains = [](std::optional<replay::spread> const& s) { return number(s ? s->count : 0); };
    return row("", "observed", "reference") + row("wake-ups", unknown, number(r.wakeups)) +
           row("drains that found payloads", known ? drains(o.drains) : unknown, drains(r.drains)) +
           spread_rows("payloads a drain", "most", o.drains, known, r.drains, count) +
           spread_rows("callback to clean-up", "longest", o.delay, known, r.delay, duration_text) +
           row("waiting at one time, most", known ? number(o.most_waiting) : unknown, number(r.most_waiting)) +
           row(r.stopped ? "left at shutdown" : "left at the end", left_text(o), number(r.left));
}

json spread_json(std::optional<replay::spread> const& s) {
    if (!s) return nullptr;
    return {{"count", s->count}, {"median", s->median}, {"p99", s->p99}, {"max", s->max}};
}

// null, not 0, for what is not known.
json observed_json(replay::process_replay const& p) {
    auto const& o = p.observed;
    json out{{"source", o.known() ? json("frees") : json()},
             {"by_address", o.by_address},
             {"by_nearness", o.by_nearness},
             {"unknown", o.unknown},
             {"gone_otherwise", o.gone_otherwise},
             {"wakeups", nullptr}};
    bool const known = o.known();
    out["drains"] = known ? spread_json(o.drains) : json();
    out["delay_ns"] = known ? spread_json(o.delay) : json();
    out["most_waiting"] = known ? json(o.most_waiting) : json();
    out["left"] = known ? json(o.left) : json();
    out["left_bytes"] = known ? json(o.left_bytes) : json();
    return out;
}

json reference_json(replay::process_replay const& p) {
    auto const& r = p.reference;
    return {{"safe_points", r.safe_points},
            {"wakeups", r.wakeups},
            {"drains", spread_json(r.drains)},
            {"delay_ns", spread_json(r.delay)},
            {"most_waiting", r.most_waiting},
            {"left", r.left},
            {"stopped", r.stopped}};
}

}  // namespace

std::string render_replay_text(store::trace const& trace, replay::outcome const& what, replay::consumer who) {
    auto out = fmt::format("lastref replay: {}\n\n", escaped(trace.path()));
    if (what.processes.empty()) out += "No destructor of a user object ran: there is nothing to replay.\n\n";
    for (auto const& p : what.processes)
        out += escaped(findings::process_name(trace.at(p.process))) + "\n" + where_observed_from(p) +
               where_reference_from(p, who) + "\n" + table(p) + "\n";
    for (auto const& reason : what.incomplete) out += "INCOMPLETE: " + escaped(reason) + "\n";
    return out;
}

std::string render_replay_json(store::trace const& trace, replay::outcome const& what, replay::consumer who) {
    json processes = json::array();
    for (auto const& p : what.processes)
        processes.push_back({{"pid", trace.at(p.process).pid},
                             {"executable", trace.at(p.process).executable},
                             {"callbacks", p.callbacks},
                             {"producers", p.producers},
                             {"observed", observed_json(p)},
                             {"reference", reference_json(p)}});
    json const all{{"trace", {{"path", trace.path()}, {"incomplete", what.incomplete}}},
                   {"consumer", who == replay::consumer::main_thread ? "main" : "any"},
                   {"processes", processes}};
    return all.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace lastref::report
