#include "analyzer/detectors/graph_allocation_leak.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

using k = event_kind;

constexpr std::uint64_t auto_free_on_launch = 1;  // CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH

}  // namespace

void graph_allocation_leak::added(model::event const& e) {
    if (!e.row.succeeded() || e.related == nullptr) return;
    bool const frees = e.kind() == k::graph_add_memory_free;
    owners_[e.related->id].push_back({e.row.extra, frees ? 0 : e.row.size, frees, e.where()});
}

void graph_allocation_leak::captured(model::event const& e) {
    auto* nodes = captures_.of(e);
    if (nodes == nullptr) return;
    bool const frees = e.kind() == k::memory_free_async;
    nodes->push_back({e.row.object, frees ? 0 : e.row.size, frees, e.where()});
}

void graph_allocation_leak::launched(model::event const& e) {
    auto const found = e.subject && e.row.succeeded() ? owners_.find(e.subject->id) : owners_.end();
    if (found == owners_.end()) return;
    for (auto const& n : found->second)
        if (!n.frees)
            live_[{e.process, n.pointer}] = {e.process, n.pointer, n.bytes, e.subject->id,
                                             n.made,    e.where(), {},      auto_free_.contains(e.subject->id)};
    for (auto const& n : found->second)
        if (n.frees) live_.erase({e.process, n.pointer});
}

void graph_allocation_leak::on_event(model::process_state const& process, model::event const& e) {
    std::vector<node> nodes;
    if (captures_.ended(e, nodes) && !nodes.empty()) {
        auto& all = owners_[e.subject->id];
        all.insert(all.end(), nodes.begin(), nodes.end());
    }
    switch (e.kind()) {
        case k::graph_add_memory_alloc:
        case k::graph_add_memory_free:
            return added(e);
        case k::memory_alloc_async:
        case k::memory_free_async:
            if (!e.row.succeeded()) return;
            if (process.capturing(e.stream)) return captured(e);
            if (e.kind() == k::memory_free_async) live_.erase({e.process, e.row.object});
            return;
        case k::memory_free:
            if (e.row.succeeded()) live_.erase({e.process, e.row.object});
            return;
        case k::graph_instantiate:
            if (e.subject && e.row.succeeded() && (e.row.extra & auto_free_on_launch) != 0)
                auto_free_[e.subject->id] = true;
            return;
        case k::graph_launch:
            return launched(e);
        default:
            return;
    }
}

void graph_allocation_leak::on_owner_copied(model::process_state const&, model::object const& from,
                                            model::object const& to, model::event const&) {
    auto const found = owners_.find(from.id);
    if (found == owners_.end()) return;
    auto const all = found->second;
    auto& into = owners_[to.id];
    into.insert(into.end(), all.begin(), all.end());
}

void graph_allocation_leak::on_owner_gone(model::process_state const& process, model::object const& owner,
                                          model::event const& e) {
    if (owners_.erase(owner.id) == 0) return;
    if (e.kind() != k::graph_exec_destroy) return;
    auto_free_.erase(owner.id);
    for (auto& [where, each] : live_)
        if (each.exec == owner.id && each.process == process.process().id) each.destroyed = e.where();
}

void graph_allocation_leak::on_process_end(model::process_state const& process) {
    std::erase_if(live_, [&](auto const& l) {
        auto const& o = l.second;
        if (o.process != process.process().id) return false;
        auto const key =
            findings::hash().add(place_of(o.allocated)).add(place_of(o.launched)).add(o.destroyed.event ? 1 : 0);
        auto& g = groups_.of(o.process, key.value(), o);
        g.all.add(o.launched.at);
        g.all.bytes += o.bytes;
        return true;
    });
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void graph_allocation_leak::report(model::process_state const& process, std::uint64_t key,
                                   groups<outstanding>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::graph_allocation_leak, process, g.all, key);
    bool const lost = f.destroyed.event.value != 0;
    bool const by_library = findings::is_foreign(caller_of(process, f.allocated));
    out.severity = lost && !by_library ? severity::error : severity::warning;
    out.confidence = confidence::proven;
    out.confidence_reason = "the allocation node, the launch and the absence of a free were recorded";
    if (!ended_orderly(process)) {
        out.severity = severity::warning;
        out.confidence = confidence::possible;
        out.confidence_reason = doubt_about_end(process);
    }
    out.title = fmt::format("{} of graph memory never freed ({})", findings::bytes_text(g.all.bytes),
                            findings::counted(g.all.count, "allocation node"));
    out.what.push_back(fmt::format(
        "The launch at {} allocated {} ({}); no node of the graph and no later call freed it.",
        findings::time_text(f.launched.at), findings::handle_text(f.pointer), findings::bytes_text(f.bytes)));
    if (f.auto_free)
        out.what.push_back(
            "The executable graph was instantiated with AUTO_FREE_ON_LAUNCH, which frees at the next launch "
            "and not at the destruction.");
    if (lost)
        out.what.push_back(fmt::format("The executable graph was destroyed at {}: the memory stayed in use.",
                                       findings::time_text(f.destroyed.at)));
    out.why =
        "Memory of an allocation node lives on after the launch, and after the graph. Without a free it stays in use "
        "for "
        "the rest of the process, once for each graph that is made.";
    out.advice =
        "Add a free node (cuGraphAddMemFreeNode, or cuMemFreeAsync while capturing), or free the pointer with "
        "cuMemFreeAsync after the last launch. cuDeviceGraphMemTrim then gives back what is unused.";
    out.sites.push_back(site_of("allocation node made", f.allocated));
    out.sites.push_back(site_of("launched", f.launched, on_stream(f.launched)));
    if (lost) out.sites.push_back(site_of("executable graph destroyed", f.destroyed));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
