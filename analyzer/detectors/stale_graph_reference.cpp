#include "analyzer/detectors/stale_graph_reference.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

using k = event_kind;

bool names_memory(k kind) {
    return kind == k::copy || kind == k::memory_set || kind == k::prefetch;
}

bool is_payload_destructor(model::event const& e) {
    return e.kind() == k::callback_user_object && e.subject != nullptr;
}

}  // namespace

void stale_graph_reference::name(references& in, reference made, model::object const* what) {
    auto& t = targets_[made.to];
    ++t.names;
    if (what != nullptr) t.what = *what;
    in.push_back(made);
}

void stale_graph_reference::release(target_key key) {
    auto const found = targets_.find(key);
    if (found == targets_.end() || --found->second.names > 0) return;
    if (found->second.is_gone) --gone_;
    targets_.erase(found);
}

void stale_graph_reference::drop(references& in, std::function<bool(reference const&)> const& which) {
    std::erase_if(in, [&](reference const& r) {
        if (!which(r)) return false;
        release(r.to);
        return true;
    });
}

void stale_graph_reference::captured(model::process_state const& process, model::event const& e) {
    if (!e.row.succeeded() || !process.capturing(e.stream)) return;
    auto* items = captures_.of(e);
    if (items == nullptr) return;
    if (e.kind() == k::host_function && e.row.object != 0) {
        items->push_back({{{true, e.row.object}, 0, e.where()}, {}});
        return;
    }
    if (!names_memory(e.kind())) return;
    for (auto const* memory : {e.subject, e.related})
        if (memory != nullptr) items->push_back({{{false, memory->id.value}, 0, e.where()}, *memory});
}

// Host nodes name their payload; setting it in an executable graph moves no reference.
void stale_graph_reference::host_node(model::event const& e) {
    if (!e.row.succeeded() || e.api.name.find("HostNode") == std::string::npos || e.row.size == 0) return;
    target_key const to{true, e.row.size};
    if (e.kind() == k::graph_add_node) {
        auto const* graph = e.related;
        if (graph == nullptr) return;
        owner_of_node_[e.row.object] = graph->id;
        return name(owners_[graph->id], {to, e.row.object, e.where()}, nullptr);
    }
    bool const in_exec = e.kind() == k::graph_exec_node_set;
    auto const node = in_exec ? e.row.other : e.row.object;
    auto owner = in_exec && e.subject ? e.subject->id : model::object_id{};
    if (auto const known = owner_of_node_.find(node); !in_exec && known != owner_of_node_.end()) owner = known->second;
    auto const found = owners_.find(owner);
    if (found == owners_.end()) return;
    drop(found->second, [node](reference const& r) { return r.node == node; });
    name(found->second, {to, node, e.where()}, nullptr);
}

// Which node was changed, or is off, is not known for captured ones: their memory is no longer vouched for.
void stale_graph_reference::edited(model::event const& e) {
    if (!e.row.succeeded() || e.api.name.find("HostNode") != std::string::npos) return;
    auto const by_capture = [](reference const& r) { return r.node == 0; };
    if (e.kind() == k::graph_exec_node_set) {
        if (auto const found = e.subject ? owners_.find(e.subject->id) : owners_.end(); found != owners_.end())
            drop(found->second, by_capture);
        return;
    }
    auto const node = e.row.object;
    bool const known = owner_of_node_.contains(node);
    for (auto& [id, each] : owners_)
        drop(each, [&](reference const& r) { return known ? r.node == node : by_capture(r); });
}

void stale_graph_reference::launched(model::process_state const& process, model::event const& e) {
    if (gone_ == 0 || e.subject == nullptr) return;
    auto const found = owners_.find(e.subject->id);
    if (found == owners_.end()) return;
    for (auto const& r : found->second) {
        auto const& t = targets_.at(r.to);
        if (!t.is_gone) continue;
        // The same address may be allocated again, and meant to be.
        if (!r.to.payload && process.objects().containing(t.what.handle) != nullptr) continue;
        stale const s{t.what, r.named, t.gone, e.where(), r.to.payload};
        auto const key = findings::hash()
                             .add(place_of(s.named))
                             .add(place_of(s.gone))
                             .add(place_of(s.launched))
                             .add(s.payload ? 1 : 0)
                             .value();
        groups_.of(e.process, key, s).all.add(e.row.begin, &s.what);
    }
}

void stale_graph_reference::gone(target_key key, model::object const& what, model::origin const& by) {
    auto const found = targets_.find(key);
    if (found == targets_.end() || found->second.is_gone) return;
    found->second.what = what;
    found->second.gone = by;
    found->second.is_gone = true;
    ++gone_;
}

void stale_graph_reference::on_event(model::process_state const& process, model::event const& e) {
    std::vector<std::pair<reference, model::object>> items;
    if (captures_.ended(e, items))
        for (auto const& [r, what] : items) name(owners_[e.subject->id], r, what.id ? &what : nullptr);
    switch (e.kind()) {
        case k::copy:
        case k::memory_set:
        case k::prefetch:
        case k::host_function:
            return captured(process, e);
        case k::graph_add_node:
            return host_node(e);
        case k::graph_node_set:
        case k::graph_exec_node_set:
            host_node(e);
            return edited(e);
        case k::graph_destroy_node:
            return edited(e);
        case k::graph_launch:
            return launched(process, e);
        case k::user_object_create:
            // The payload's address is somebody's again.
            if (auto const found = targets_.find({true, e.row.other});
                found != targets_.end() && found->second.is_gone) {
                found->second.is_gone = false;
                --gone_;
            }
            return;
        default:
            if (is_payload_destructor(e) && !targets_.empty()) gone({true, e.subject->parent}, *e.subject, e.where());
    }
}

void stale_graph_reference::on_released(model::process_state const&, model::object const& released,
                                        model::event const& e, model::release_cause) {
    if (model::is_memory(released.kind) && !targets_.empty()) gone({false, released.id.value}, released, e.where());
}

void stale_graph_reference::on_owner_copied(model::process_state const&, model::object const& from,
                                            model::object const& to, model::event const&) {
    auto const found = owners_.find(from.id);
    if (found == owners_.end()) return;
    auto const all = found->second;
    auto& into = owners_[to.id];
    for (auto const& each : all) name(into, each, nullptr);
}

void stale_graph_reference::on_owner_gone(model::process_state const&, model::object const& owner,
                                          model::event const&) {
    auto const found = owners_.find(owner.id);
    if (found == owners_.end()) return;
    drop(found->second, [](reference const&) { return true; });
    owners_.erase(found);
    std::erase_if(owner_of_node_, [&owner](auto const& n) { return n.second == owner.id; });
}

void stale_graph_reference::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void stale_graph_reference::report(model::process_state const& process, std::uint64_t key,
                                   groups<stale>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::stale_graph_reference, process, g.all, key);
    out.bytes = f.payload ? 0 : f.what.bytes;
    out.severity = severity::error;
    out.confidence = f.payload ? confidence::likely : confidence::proven;
    out.confidence_reason = f.payload
                                ? "a host node names a payload whose destructor had run, and the address belongs to "
                                  "no other payload that was recorded"
                                : "the captured call, the free and the launch were recorded";
    auto const what =
        f.payload ? "a payload that was destroyed" : fmt::format("{} that was freed", model::name_of(f.what.kind));
    out.title = fmt::format(
        "A graph was launched that names {}{}", what,
        g.all.count == 1 ? "" : fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.all.count))));
    out.what.push_back(
        f.payload ? fmt::format("A host node names payload {}. Its destructor ran at {}, and the graph was "
                                "launched at {}.",
                                findings::handle_text(f.what.parent), findings::time_text(f.gone.at),
                                findings::time_text(f.launched.at))
                  : fmt::format("{} ({}) was captured into the graph, freed at {}, and the graph launched at {}.",
                                findings::handle_text(f.what.handle), findings::bytes_text(f.what.bytes),
                                findings::time_text(f.gone.at), findings::time_text(f.launched.at)));
    out.why =
        "A graph keeps addresses, not memory: it holds what user objects give it, and nothing else. Setting a node's "
        "parameters in an executable graph moves no reference.";
    out.advice = f.payload
                     ? "Give the payload to the graph that the executable graph is updated from (cuGraphExecUpdate "
                       "moves references), or keep it yourself until the executable graph is destroyed."
                     : "Keep the memory until the executable graph is destroyed, by a user object that the graph "
                       "retains; or capture again.";
    out.sites.push_back(site_of("launched", f.launched, on_stream(f.launched)));
    out.sites.push_back(site_of(f.payload ? "destructor ran" : "freed", f.gone));
    out.sites.push_back(site_of(f.payload ? "named by a node" : "captured", f.named));
    if (f.what.created.event) out.sites.push_back(site_of(f.payload ? "payload made" : "allocated", f.what.created));
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
