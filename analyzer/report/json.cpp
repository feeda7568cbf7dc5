// JSON, for programs. The keys of the first level, and those of a finding, are stable; others may be added.
#include "analyzer/report/render.h"

#include "analyzer/findings/audit.h"
#include "analyzer/findings/wording.h"
#include "analyzer/gate/place.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lastref::report {
namespace {

// Keys in the order in which they are written here: a report is also read by people.
using json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) {
    return fmt::format("{:#x}", value);
}

char const* end_name(store::process_end end) {
    switch (end) {
        case store::process_end::running:
            return "running";
        case store::process_end::clean:
            return "clean";
        case store::process_end::exec:
            return "exec";
        case store::process_end::abrupt:
            break;
    }
    return "abrupt";
}

template <class T>
json optional(std::optional<T> const& value) {
    return value ? json(*value) : json(nullptr);
}

json process_json(store::process const& p, bool used_driver) {
    return {{"pid", p.pid},
            {"parent_pid", p.parent_pid},
            {"executable", p.executable},
            {"command_line", p.command_line},
            {"driver_version", optional(p.driver_version)},
            {"stacks", p.stacks},
            {"end", end_name(p.end)},
            {"exit_status", optional(p.exit_status)},
            {"exit_signal", optional(p.exit_signal)},
            {"used_driver", used_driver}};
}

json audit_json(store::trace const& trace) {
    auto const sum = findings::sum_audit(trace);
    json missed = json::object();
    for (auto const& [symbol, calls] : sum.missed) missed[symbol] = calls;
    json outside = json::object();
    for (auto const& [symbol, calls] : sum.outside) outside[symbol] = calls;
    json callers = json::object();
    for (auto const& [symbol, modules] : sum.callers) callers[symbol] = modules;
    return {{"calls", sum.calls},
            {"entry_points", sum.entry_points},
            {"missed", missed},
            {"missed_from", callers},
            {"outside", outside}};
}

json pending_json(store::trace const& trace, model::pending_function const& f) {
    json tids = json::array();
    for (auto const thread : f.run_threads) tids.push_back(trace.at(thread).tid);
    return {{"pid", trace.at(f.process).pid},
            {"function", hex(f.function)},
            {"attempts", f.attempts},
            {"refused", f.refused},
            {"in_callbacks", f.in_callbacks},
            {"runs", f.runs},
            {"never_ran", f.waiting},
            {"run_threads", tids},
            {"payload_callbacks", f.payload_callbacks},
            {"later_payload_callbacks", f.later_callbacks},
            {"frees", f.frees},
            {"freed_bytes", f.freed_bytes},
            {"longest_wait_ns", f.longest_wait}};
}

json trace_json(input const& in) {
    json processes = json::array();
    for (auto const& p : in.trace.processes()) {
        auto const& used = in.what.used_driver;
        processes.push_back(process_json(p, std::find(used.begin(), used.end(), p.id) != used.end()));
    }
    json unhooked = json::object();
    for (auto const& each : in.trace.unhooked_entries())
        unhooked[each.name] = unhooked.value(each.name, std::int64_t{0}) + each.obtained;
    json notes = json::array();
    for (auto const& each : in.trace.notes()) notes.push_back(each.text);
    json out = {{"path", in.trace.path()},
                {"lastref_version", in.trace.version()},
                {"complete", in.what.incomplete.empty()},
                {"incomplete", in.what.incomplete},
                {"clean_end", in.what.clean_end},
                {"events", in.what.events},
                {"calls", in.what.calls},
                {"callbacks", in.what.callbacks},
                {"processes", processes},
                {"ledger",
                 {{"predicted", in.what.ledger.predicted},
                  {"agreed", in.what.ledger.agreed},
                  {"unexpected", in.what.ledger.unexpected}}},
                {"unseen_releases", in.what.unseen_releases},
                {"unhooked", unhooked},
                {"notes", notes}};
    if (!in.trace.audit().empty()) out["audit"] = audit_json(in.trace);
    for (auto const& each : in.what.pending) out["pending_calls"].push_back(pending_json(in.trace, each));
    return out;
}

json symbol_json(findings::symbol const& s) {
    json out{{"function", s.function}};
    if (!s.file.empty()) out["file"] = s.file;
    if (s.line != 0) out["line"] = s.line;
    if (s.inlined) out["inlined"] = true;
    return out;
}

json frame_json(store::trace const& trace, findings::named_frame const& frame) {
    json out = json::object();
    if (!frame.functions.empty()) out = symbol_json(frame.functions.back());
    if (frame.functions.size() > 1) {
        json inlined = json::array();
        for (std::size_t i = 0; i + 1 < frame.functions.size(); ++i) inlined.push_back(symbol_json(frame.functions[i]));
        out["inlined_functions"] = inlined;
    }
    if (frame.python) {
        out["language"] = "python";
    } else if (frame.module) {
        auto const& module = trace.at(frame.module);
        out["module"] = module.path;
        if (!module.build_id.empty()) out["build_id"] = module.build_id;
        out["offset"] = hex(frame.offset);
        if (auto const trouble = findings::trouble_with(frame); !trouble.empty()) out["symbols"] = trouble;
    } else {
        out["address"] = hex(frame.address);
    }
    return out;
}

json stack_json(input const& in, store::stack_id id) {
    json out = json::array();
    for (auto const& frame : in.stacks.of(id).frames) out.push_back(frame_json(in.trace, frame));
    return out;
}

char const* stream_name(model::stream_identity const& s) {
    switch (s.kind) {
        case model::stream_kind::none:
            return "none";
        case model::stream_kind::legacy:
            return "legacy";
        case model::stream_kind::per_thread:
            return "per_thread";
        case model::stream_kind::created:
            break;
    }
    return "created";
}

json site_ranges_json(std::vector<findings::named_range> const& ranges) {
    json out = json::array();
    for (auto const& each : ranges)
        out.push_back({{"name", each.name},
                       {"domain", each.domain.empty() ? json(nullptr) : json(each.domain)},
                       {"kind", each.pushed ? "push" : "start"}});
    return out;
}

json site_json(input const& in, findings::site const& s) {
    json out{{"role", s.role}, {"entry_point", s.entry_point}};
    out["event"] = s.call.event.value;
    out["at_ns"] = s.call.at;
    out["result"] = s.call.result == store::not_returned ? json(nullptr) : json(s.call.result);
    if (s.call.thread) {
        auto const& thread = in.trace.at(s.call.thread);
        out["thread"] = {{"pid", in.trace.at(thread.process).pid},
                         {"tid", thread.tid},
                         {"name", thread.name},
                         {"main", thread.main}};
    }
    out["stream"] = stream_name(s.call.stream);
    if (!s.stream_name.empty()) out["stream_name"] = s.stream_name;
    out["context"] = s.call.context ? json(hex(in.trace.at(s.call.context).handle)) : json(nullptr);
    if (!s.context_name.empty()) out["context_name"] = s.context_name;
    if (!s.ranges.empty()) out["ranges"] = site_ranges_json(s.ranges);
    if (!s.note.empty()) out["note"] = s.note;
    out["stack"] = stack_json(in, s.call.stack);
    return out;
}

json sites_json(input const& in, std::vector<findings::site> const& sites) {
    json out = json::array();
    for (auto const& s : sites) out.push_back(site_json(in, s));
    return out;
}

json consequence_json(input const& in, findings::consequence const& c) {
    return {{"rule", info(c.from).name},
            {"text", c.text},
            {"count", c.count},
            {"bytes", c.bytes},
            {"sites", sites_json(in, c.sites)}};
}

json finding_json(input const& in, findings::finding const& f) {
    json objects = json::array();
    for (auto const& o : f.objects) {
        objects.push_back({{"kind", model::name_of(o.kind)},
                           {"handle", hex(o.handle)},
                           {"bytes", o.bytes},
                           {"created_event", o.created.value}});
        if (!o.name.empty()) objects.back()["name"] = o.name;
    }
    json consequences = json::array();
    for (auto const& c : f.consequences) consequences.push_back(consequence_json(in, c));
    return {{"rule", info(f.rule).name},
            {"severity", name_of(f.severity)},
            {"confidence", name_of(f.confidence)},
            {"confidence_reason", f.confidence_reason},
            {"title", f.title},
            {"what", f.what},
            {"holders", f.holders},
            {"why", f.why},
            {"advice", f.advice},
            {"objects", objects},
            {"sites", sites_json(in, f.sites)},
            {"first_seen", f.first_seen},
            {"last_seen", f.last_seen},
            {"count", f.count},
            {"bytes", f.bytes},
            {"process", f.process ? json(in.trace.at(f.process).pid) : json(nullptr)},
            {"processes", f.processes},
            {"place", gate::place_of(f, in.trace, in.stacks).text()},
            {"fingerprint", f.fingerprint},
            {"consequences", consequences}};
}

// What the gate made of it, where it was asked.
json judged_json(input const& in, std::size_t i) {
    auto out = finding_json(in, in.what.found[i]);
    auto const& outcome = in.outcome;
    if (outcome.of(i) == gate::state::suppressed) {
        auto const& by = outcome.suppressions[outcome.marks[i].suppression].what;
        out["suppressed_by"] = {{"text", by.text}, {"file", by.file}, {"line", by.line}};
    } else if (outcome.baseline) {
        out["baseline"] = outcome.of(i) == gate::state::known ? "known" : "new";
    }
    return out;
}

json suppressions_json(gate::outcome const& outcome) {
    json out = json::array();
    for (auto const& s : outcome.suppressions)
        out.push_back({{"text", s.what.text}, {"file", s.what.file}, {"line", s.what.line}, {"matches", s.matches}});
    return out;
}

json earlier_json(gate::earlier_finding const& f) {
    return {
        {"rule", f.rule},   {"severity", f.severity},      {"title", f.title}, {"count", f.count}, {"bytes", f.bytes},
        {"place", f.place}, {"fingerprint", f.fingerprint}};
}

json baseline_json(gate::comparison const& c) {
    json gone = json::array();
    for (auto const& f : c.gone) gone.push_back(earlier_json(f));
    return {{"path", c.path}, {"complete", c.complete}, {"new", c.fresh}, {"known", c.known}, {"gone", gone}};
}

json ranges_json(input const& in) {
    json out = json::array();
    for (auto const& each : left_by_range(in)) {
        auto const& range = in.trace.ranges()[each.range];
        json left = json::array();
        for (auto const& share : each.shares) {
            auto const& f = in.what.found[share.finding];
            left.push_back({{"rule", info(f.rule).name},
                            {"severity", name_of(f.severity)},
                            {"fails", in.outcome.conditions.threshold.matches(f)},
                            {"title", f.title},
                            {"place", gate::place_of(f, in.trace, in.stacks).text()},
                            {"fingerprint", f.fingerprint},
                            {"count", share.count},
                            {"bytes", share.bytes}});
        }
        out.push_back({{"range", range.name},
                       {"pid", in.trace.at(range.process).pid},
                       {"begin", range.begin},
                       {"end", optional(range.end)},
                       {"left", left}});
    }
    return out;
}

json gate_json(gate::outcome const& outcome) {
    auto const& limits = outcome.conditions;
    return {{"verdict", gate::name_of(outcome.reached)},
            {"exit_status", gate::exit_status(outcome.reached)},
            {"reasons", outcome.reasons},
            {"fail_on", gate::text_of(limits.threshold)},
            {"max_leak_bytes", optional(limits.max_leak_bytes)},
            {"max_outstanding", optional(limits.max_outstanding)},
            {"lost", {{"bytes", outcome.lost.bytes}, {"objects", outcome.lost.objects}}}};
}

json loss_json(findings::analysis const& what) {
    json out = json::object();
    for (auto const& each : what.losses) out[each.name] = each.count;
    return out;
}

}  // namespace

std::string render_json(input const& in) {
    json found = json::array(), suppressed = json::array();
    for (std::size_t i = 0; i < in.what.found.size(); ++i)
        (in.outcome.of(i) == gate::state::suppressed ? suppressed : found).push_back(judged_json(in, i));
    json all{{"trace", trace_json(in)}, {"loss", loss_json(in.what)}, {"findings", found}, {"suppressed", suppressed}};
    if (!in.outcome.suppressions.empty()) all["suppressions"] = suppressions_json(in.outcome);
    if (in.outcome.baseline) all["baseline"] = baseline_json(*in.outcome.baseline);
    if (!in.trace.ranges().empty()) all["by_range"] = ranges_json(in);
    all["gate"] = gate_json(in.outcome);
    // Names may be no UTF-8, which JSON has no way to say. All else that is not ASCII is escaped: some of it steers
    // terminals, or the direction of writing.
    return all.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace lastref::report
