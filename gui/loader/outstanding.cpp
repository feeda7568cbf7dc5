#include "gui/loader/outstanding.h"

#include "analyzer/findings/wording.h"
#include "analyzer/gate/conditions.h"
#include "analyzer/gate/place.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

namespace lastref::gui {
namespace {

using kind = model::object_kind;

bool is_listed(model::object const& object) {
    if (!object.created.event) return false;  // not the program's: it was there before
    switch (object.kind) {
        case kind::address_range:  // no memory, only addresses
        case kind::child_graph:    // go with what they are part of
        case kind::child_exec:
        case kind::context:
        case kind::green_context:
        case kind::count:
            return false;
        default:
            return true;
    }
}

std::string text_of(char const* what, store::handle handle, std::int64_t references) {
    return fmt::format(
        "{} {}: {}", what, findings::handle_text(handle),
        findings::counted(static_cast<std::uint64_t>(std::max<std::int64_t>(references, 0)), "reference"));
}

// The root that the part belongs to: it is what the program can destroy.
model::object root_of(model::graphs const& graphs, model::graphs::part const& part) {
    auto const* above = &part;
    while (auto const* next = graphs.find(above->parent)) above = next;
    return above->self;
}

}  // namespace

holder_row outstanding_collector::holder_of(model::process_state const& process, ledger::holding const& held) const {
    holder_row out;
    out.references = held.count;
    if (auto const* pending = file_.accountant.pending(held.owner)) {
        out.kind = holder_kind::launch;
        out.handle = pending->exec.handle;
        out.since = pending->ended.event;
        out.text = text_of("launch in flight of executable graph", out.handle, held.count);
        return out;
    }
    auto const* part = process.graphs().find(held.owner);
    if (part == nullptr) return out;
    auto const root = root_of(process.graphs(), *part);
    out.kind = root.kind == kind::graph_exec ? holder_kind::graph_exec : holder_kind::graph;
    out.handle = root.handle;
    out.since = part->self.created.event;
    out.text = text_of(out.kind == holder_kind::graph_exec ? "executable graph" : "graph", out.handle, held.count);
    return out;
}

void outstanding_collector::add_payload(outstanding_row& row, model::process_state const& process,
                                        model::object const& object) const {
    row.payload = object.parent;
    if (auto const* link = file_.links.of_user_object(object.id)) row.bytes = link->memory.bytes;
    auto const* account = file_.accountant.references().find(object.id);
    if (account == nullptr) return;
    if (account->caller > 0)
        row.holders.push_back(
            {holder_kind::program,
             "the program itself: " + findings::counted(static_cast<std::uint64_t>(account->caller), "reference"),
             account->caller, 0, object.created.event});
    for (auto const& held : account->owners)
        if (held.count > 0) row.holders.push_back(holder_of(process, held));
}

void outstanding_collector::add(model::process_state const& process, model::object const& object) {
    if (!is_listed(object)) return;
    outstanding_row row;
    row.kind = object.kind;
    row.process = process.process().id;
    row.thread = object.created.thread;
    row.handle = object.handle;
    row.bytes = object.bytes;
    row.created = object.created.at;
    row.age = std::max<store::time_ns>(process.last_time() - object.created.at, 0);
    row.event = object.created.event;
    row.stack = object.created.stack;
    if (object.created.api) row.entry_point = file_.trace.at(object.created.api).name;
    if (object.kind == kind::user_object) add_payload(row, process, object);
    rows_.push_back(std::move(row));
}

void outstanding_collector::on_process_end(model::process_state const& process) {
    auto const look = [&](model::object const& object) { add(process, object); };
    process.objects().for_each(look);
    for (auto const& object : process.displaced_user_objects()) look(object);
    process.graphs().for_each([&](model::graphs::part const& part) { look(part.self); });
    std::sort(rows_.begin(), rows_.end(), [](auto const& a, auto const& b) { return a.event < b.event; });
}

namespace {

// A finding tells of the objects that were made at one of its sites, or of those of its consequences.
std::unordered_map<store::stack_id, std::size_t> findings_by_stack(findings::analysis const& what) {
    std::unordered_map<store::stack_id, std::size_t> out;
    auto const add = [&out](std::vector<findings::site> const& sites, std::size_t i) {
        for (auto const& site : sites)
            if (site.call.stack) out.emplace(site.call.stack, i);
    };
    for (std::size_t i = 0; i < what.found.size(); ++i)
        if (gate::counts_as_lost(what.found[i])) add(what.found[i].sites, i);
    for (std::size_t i = 0; i < what.found.size(); ++i) {
        add(what.found[i].sites, i);
        for (auto const& each : what.found[i].consequences) add(each.sites, i);
    }
    return out;
}

findings::finding as_finding(outstanding_row const& row) {
    findings::site site;
    site.call.stack = row.stack;
    site.call.thread = row.thread;
    site.call.event = row.event;
    findings::finding out;
    out.process = row.process;
    out.sites.push_back(std::move(site));
    return out;
}

}  // namespace

void name_sites(std::vector<outstanding_row>& rows, findings::analysis const& what, store::trace const& trace,
                findings::stacks& stacks) {
    std::unordered_map<store::stack_id, std::string> places;
    auto const told = findings_by_stack(what);
    for (auto& row : rows) {
        auto const [place, fresh] = places.try_emplace(row.stack);
        if (fresh && row.stack) place->second = gate::place_of(as_finding(row), trace, stacks).text();
        row.site = place->second;
        auto const found = told.find(row.stack);
        if (row.stack && found != told.end()) row.finding = found->second;
    }
}

}  // namespace lastref::gui
