#include "analyzer/findings/ranges.h"

#include "analyzer/findings/code_owner.h"
#include "analyzer/findings/fingerprint.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace lastref::findings {
namespace {

struct boundary {
    store::event_id at;
    bool begins;
    std::size_t range;
};

std::vector<boundary> boundaries_of(std::vector<store::range> const& ranges, store::process_id process) {
    std::vector<boundary> out;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (ranges[i].process != process || ranges[i].last <= ranges[i].before) continue;  // nothing fell into it
        out.push_back({ranges[i].before, true, i});
        out.push_back({ranges[i].last, false, i});
    }
    std::stable_sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.at < b.at; });
    return out;
}

}  // namespace

range_index::range_index(store::trace const& trace) : trace_(trace) {
    std::set<store::process_id> processes;
    for (auto const& range : trace.ranges()) processes.insert(range.process);
    for (auto const process : processes) {
        auto& stretches = stretches_[process];
        std::set<std::size_t> open;  // they are in order of their begin
        for (auto const& b : boundaries_of(trace.ranges(), process)) {
            if (b.begins)
                open.insert(b.range);
            else
                open.erase(b.range);
            auto const inner = open.empty() ? std::nullopt : std::optional(*open.rbegin());
            if (!stretches.empty() && stretches.back().before == b.at)
                stretches.back().range = inner;
            else
                stretches.push_back({b.at, inner});
        }
    }
}

std::optional<std::size_t> range_index::innermost(store::process_id process, store::event_id event) const {
    auto const found = stretches_.find(process);
    if (found == stretches_.end() || !event) return std::nullopt;
    auto const& all = found->second;
    auto const next =
        std::partition_point(all.begin(), all.end(), [event](auto const& each) { return each.before < event; });
    return next == all.begin() ? std::nullopt : std::prev(next)->range;
}

std::vector<std::string> range_index::names(store::process_id process, store::event_id event) const {
    std::vector<std::string> out;
    if (!innermost(process, event)) return out;
    for (auto const& range : trace_.ranges())
        if (range.process == process && range.contains(event)) out.push_back(range.name);
    return out;
}

// --- by range --------------------------------------------------------------------------------------------------------

namespace {

using place_and_kind = std::pair<std::uint64_t, model::object_kind>;

void add_places(std::map<place_and_kind, std::size_t>& into, places& places, std::vector<site> const& sites,
                std::set<model::object_kind> const& kinds, std::size_t finding) {
    for (auto const& s : sites)
        for (auto const kind : kinds)
            if (s.call.stack) into.try_emplace({places.key(s.call.stack), kind}, finding);
}

// Which finding tells of objects of a kind from a place: the most important one that names both.
std::map<place_and_kind, std::size_t> findings_by_place(analysis const& what, places& places) {
    std::map<place_and_kind, std::size_t> out;
    for (std::size_t i = 0; i < what.found.size(); ++i) {
        std::set<model::object_kind> kinds;
        for (auto const& o : what.found[i].objects) kinds.insert(o.kind);
        add_places(out, places, what.found[i].sites, kinds, i);
    }
    return out;
}

// What a library keeps on purpose is one finding, of all processes, and names a few of its places only: the others are
// known by the library.
class libraries {
  public:
    libraries(analysis const& what, store::trace const& trace) : trace_(trace), owners_(trace, nullptr) {
        for (std::size_t i = 0; i < what.found.size(); ++i) {
            auto const& f = what.found[i];
            if (f.rule != rule::allocation_leak || f.severity != severity::note || f.sites.empty()) continue;
            auto const& call = f.sites.front().call;
            if (!call.thread) continue;
            if (auto name = library_of(trace.at(call.thread).process, call.stack); !name.empty())
                findings_.emplace(std::move(name), i);
        }
    }

    std::optional<std::size_t> finding_of(left_objects const& left) {
        if (!model::is_memory(left.kind) || findings_.empty()) return std::nullopt;
        auto const found = findings_.find(library_of(trace_.ranges()[left.range].process, left.stack));
        return found == findings_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    // The file of whoever made the call, where it is not the program's; else empty.
    std::string library_of(store::process_id process, store::stack_id stack) {
        auto const calls = trace_.stack_of(stack);
        auto const* const frame = owners_.caller_in(trace_.at(process), calls);
        if (frame == nullptr || !frame->module || !is_foreign(owners_.of(trace_.at(process), *frame))) return {};
        std::string_view const path = trace_.at(frame->module).path;
        return std::string(path.substr(path.rfind('/') + 1));
    }

    store::trace const& trace_;
    owners owners_;
    std::map<std::string, std::size_t> findings_;
};

using shares_by_range = std::map<std::size_t, std::map<std::size_t, range_share>>;

void add(shares_by_range& to, std::size_t range, std::size_t finding, std::uint64_t count, std::uint64_t bytes) {
    auto& share = to[range][finding];
    share.finding = finding;
    share.count += count;
    share.bytes += bytes;
}

void add_by_call(shares_by_range& to, analysis const& what, store::trace const& trace, std::size_t finding,
                 range_index const& ranges) {
    auto const& f = what.found[finding];
    for (auto const& s : f.sites) {
        if (!s.call.thread) continue;
        auto const range = ranges.innermost(trace.at(s.call.thread).process, s.call.event);
        if (range) return add(to, *range, finding, f.count, f.bytes);
    }
}

}  // namespace

std::vector<range_summary> by_range(analysis const& what, store::trace const& trace) {
    if (trace.ranges().empty()) return {};
    range_index const ranges(trace);
    places places(trace);
    auto const finding_of = findings_by_place(what, places);
    libraries kept(what, trace);
    shares_by_range shares;
    std::set<std::size_t> placed;
    for (auto const& left : what.left) {
        auto const found = finding_of.find({places.key(left.stack), left.kind});
        auto const finding = found == finding_of.end() ? kept.finding_of(left) : std::optional(found->second);
        if (!finding) continue;
        add(shares, left.range, *finding, left.count, left.bytes);
        placed.insert(*finding);
    }
    for (std::size_t i = 0; i < what.found.size(); ++i)
        if (!placed.contains(i)) add_by_call(shares, what, trace, i, ranges);
    std::vector<range_summary> out;
    for (auto const& [range, by_finding] : shares) {
        auto& summary = out.emplace_back(range_summary{range, {}});
        for (auto const& [finding, share] : by_finding) summary.shares.push_back(share);
    }
    return out;
}

}  // namespace lastref::findings
