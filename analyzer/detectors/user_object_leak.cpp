#include "analyzer/detectors/user_object_leak.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::detectors {
namespace {

using findings::counted;

std::string references_text(std::int64_t count) {
    return counted(static_cast<std::uint64_t>(count), "reference");
}

bool holds(auto const& holders, auto kind) {
    return std::any_of(holders.begin(), holders.end(), [kind](auto const& h) { return h.kind == kind; });
}

}  // namespace

void user_object_leak::on_event(model::process_state const&, model::event const& e) {
    if (e.kind() == event_kind::user_object_retain && e.subject && e.row.succeeded())
        last_retain_[e.subject->id] = e.where();
}

void user_object_leak::on_released(model::process_state const&, model::object const& gone, model::event const&,
                                   model::release_cause) {
    if (gone.kind == model::object_kind::user_object) last_retain_.erase(gone.id);
}

user_object_leak::holder user_object_leak::holder_for(model::process_state const& process,
                                                      ledger::holding const& held) const {
    holder out;
    out.references = held.count;
    if (auto const* pending = file_.accountant.pending(held.owner)) {
        out.kind = holder_kind::launch;
        out.what = pending->exec;
        out.since = pending->ended;
        return out;
    }
    auto const* part = process.graphs().find(held.owner);
    if (part == nullptr) return out;
    out.what = part->self;
    out.since = part->self.created;
    switch (part->self.kind) {
        case model::object_kind::graph:
            out.kind = holder_kind::graph;
            break;
        case model::object_kind::child_graph:
            out.kind = holder_kind::child_graph;
            break;
        default:
            out.kind = holder_kind::graph_exec;
            break;
    }
    for (auto const* above = process.graphs().find(part->parent); above != nullptr;
         above = process.graphs().find(above->parent))
        out.chain.push_back(above->self);
    return out;
}

user_object_leak::leak user_object_leak::examine(model::process_state const& process, model::object const& object,
                                                 ledger::account const& account) const {
    leak out{object, {}, account.total == 0};
    if (account.caller > 0) {
        auto const retained = last_retain_.find(object.id);
        auto const since = retained == last_retain_.end() ? object.created : retained->second;
        out.holders.push_back({holder_kind::caller, account.caller, {}, since, {}});
    }
    for (auto const& held : account.owners) out.holders.push_back(holder_for(process, held));
    std::sort(out.holders.begin(), out.holders.end(), [](holder const& a, holder const& b) {
        return std::tuple(a.kind, a.what.id) < std::tuple(b.kind, b.what.id);
    });
    return out;
}

// The same user object in as many graphs as you like is one kind of leak: holders count once per kind and place.
std::uint64_t user_object_leak::key_of(leak const& l) const {
    std::vector<std::pair<holder_kind, std::uint64_t>> kinds;
    for (auto const& h : l.holders) kinds.emplace_back(h.kind, place_of(h.since));
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    findings::hash h;
    h.add(info(rule::user_object_leak).name).add(place_of(l.object.created)).add(l.due ? 1u : 0u);
    for (auto const& [kind, place] : kinds) h.add(static_cast<std::uint64_t>(kind)).add(place);
    return h.value();
}

void user_object_leak::on_process_end(model::process_state const& process) {
    std::map<std::uint64_t, group> groups;
    auto const look = [&](model::object const& object) {
        if (object.kind != model::object_kind::user_object || file_.found.explained(object.id)) return;
        if (file_.intended.covers(object)) return;
        auto const* account = file_.accountant.references().find(object.id);
        if (account == nullptr) return;
        auto const l = examine(process, object, *account);
        auto& g = groups[key_of(l)];
        if (g.count++ == 0 || l.object.created.at < g.first.object.created.at) g.first = l;
        g.some.push_back(object);  // all: each may have memory to explain
        for (auto const& h : l.holders)
            if (h.kind != holder_kind::caller && h.kind != holder_kind::launch)
                g.held_by.push_back(h.chain.empty() ? h.what.id : h.chain.back().id);
    };
    process.objects().for_each(look);
    for (auto const& object : process.displaced_user_objects()) look(object);
    for (auto& [k, g] : groups)
        if (!told_with_holders(g)) report(process, g);
}

// Held by nothing but executable graphs that a rule of their own tells of: a consequence of that.
bool user_object_leak::told_with_holders(group const& g) {
    bool const only_graphs = std::none_of(g.first.holders.begin(), g.first.holders.end(), [](holder const& h) {
        return h.kind == holder_kind::caller || h.kind == holder_kind::launch;
    });
    if (!only_graphs || g.held_by.empty()) return false;
    auto const cause = file_.found.explanation(g.held_by.front());
    if (!cause) return false;
    for (auto const id : g.held_by)
        if (file_.found.explanation(id) != cause) return false;
    findings::consequence held;
    held.from = rule::user_object_leak;
    held.count = g.count;
    held.text = fmt::format("{} that they hold {} never destroyed", counted(g.count, "user object"),
                            g.count == 1 ? "was" : "were");
    held.sites.push_back(site_of("created", g.first.object.created));
    for (auto const& o : g.some)
        if (auto const* link = file_.links.of_user_object(o.id)) {
            held.bytes += link->memory.bytes;
            file_.found.explain(link->memory.id, *cause);
        }
    file_.found.at(*cause).consequences.push_back(std::move(held));
    return true;
}

void user_object_leak::report(model::process_state const& process, group& g) {
    std::sort(g.some.begin(), g.some.end(), [](auto const& a, auto const& b) { return a.id < b.id; });
    auto const& l = g.first;
    finding out;
    out.rule = rule::user_object_leak;
    out.process = process.process().id;
    out.count = g.count;
    for (auto const& o : g.some)
        if (out.objects.size() < findings::most_objects) out.objects.push_back(note_of(o));
    out.first_seen = l.object.created.at;
    out.last_seen = g.some.back().created.at;
    for (auto const& o : g.some) out.last_seen = std::max(out.last_seen, o.created.at);
    out.sites.push_back(site_of("created", l.object.created));
    judge(process, out, l);
    describe_holders(process, out, l);
    add_consequences(out, g);
    out.fingerprint = findings::hash().add(key_of(l)).hex();
    auto const index = file_.found.add(std::move(out));
    for (auto const& o : g.some)
        if (auto const* link = file_.links.of_user_object(o.id)) file_.found.explain(link->memory.id, index);
    for (auto const id : g.held_by) file_.found.explain(id, index);
}

void user_object_leak::judge(model::process_state const& process, finding& out, leak const& l) const {
    auto const objects = counted(out.count, "user object");
    bool const definite = holds(l.holders, holder_kind::caller);
    bool const only_launch =
        !l.holders.empty() && !definite &&
        std::all_of(l.holders.begin(), l.holders.end(), [](holder const& h) { return h.kind == holder_kind::launch; });
    out.confidence = confidence::proven;
    out.confidence_reason = "every reference was counted, and the destructor did not run";
    out.why = "The destructor never ran: the payload and whatever it keeps alive were never released.";
    if (l.due || only_launch) {
        out.severity = severity::note;
        out.confidence = confidence::possible;
        out.confidence_reason = "the destructor was due, and may have been about to run";
        out.title = fmt::format("{} due for destruction when the process ended", objects);
        out.why =
            "The driver runs destructors some time after the last launch, on a thread of its own; the process ended "
            "first.";
        out.advice = "Wait for the launches, and for the destructors' own signal, before the process ends.";
    } else if (definite) {
        out.severity = severity::error;
        out.title = fmt::format("{} never released by the program (definite)", objects);
        out.advice =
            "Release the program's own references (cuUserObjectRelease), or move them into the graph "
            "(CU_GRAPH_USER_OBJECT_MOVE) instead of adding one.";
    } else {
        bool const by_exec = holds(l.holders, holder_kind::graph_exec);
        out.severity = severity::warning;
        out.title = fmt::format("{} still held by {} at the end (reachable)", objects,
                                by_exec ? "an executable graph" : "a graph");
        out.advice = by_exec ? "Destroy the executable graph (cuGraphExecDestroy) and wait for its launches: it keeps "
                               "a copy of every "
                               "reference of the graph that it was made from, even after that graph is destroyed."
                             : "Destroy the graph (cuGraphDestroy): its references go with it.";
    }
    if (!ended_orderly(process)) {
        out.severity = std::min(out.severity, severity::warning);
        out.confidence = confidence::possible;
        out.confidence_reason = doubt_about_end(process);
    }
}

std::string user_object_leak::holder_text(holder const& h) const {
    auto const references = references_text(h.references);
    auto const handle = h.what.handle ? " " + findings::handle_text(h.what.handle) : std::string{};
    switch (h.kind) {
        case holder_kind::caller:
            return fmt::format("the program itself: {}", references);
        case holder_kind::graph:
            return fmt::format("graph{}: {}", handle, references);
        case holder_kind::launch:
            return fmt::format("a launch in flight of executable graph{}, destroyed or updated while it ran: {}",
                               handle, references);
        case holder_kind::graph_exec: {
            bool const nested = h.what.kind == model::object_kind::child_exec;
            auto const root = nested && !h.chain.empty() ? " " + findings::handle_text(h.chain.back().handle) : handle;
            return fmt::format("executable graph{}{}: {}", root, nested ? ", in a child graph of it" : "", references);
        }
        case holder_kind::child_graph:
            break;
    }
    std::string outer;
    for (auto const& above : h.chain)
        outer += fmt::format(" in {}{}", model::name_of(above.kind),
                             above.handle ? " " + findings::handle_text(above.handle) : "");
    return fmt::format("child graph{}{}: {}", handle, outer, references);
}

void user_object_leak::describe_holders(model::process_state const& process, finding& out, leak const& l) const {
    constexpr std::size_t most_holders = 8;
    out.what.push_back(fmt::format("{} with payload {} was created by {}; its destructor{} never ran.",
                                   "User object " + findings::handle_text(l.object.handle),
                                   findings::handle_text(l.object.parent), thread_of(l.object.created),
                                   called(process, l.object.extra)));
    for (auto const& h : l.holders) {
        if (out.holders.size() == most_holders) {
            out.holders.push_back(fmt::format("and {} more", counted(l.holders.size() - most_holders, "holder")));
            break;
        }
        out.holders.push_back(holder_text(h));
        auto const is_creation_site = h.since.event == l.object.created.event;
        if (!h.since.event || is_creation_site || out.sites.size() >= 4) continue;
        switch (h.kind) {
            case holder_kind::caller:
                out.sites.push_back(site_of("retained", h.since));
                break;
            case holder_kind::launch:
                out.sites.push_back(site_of("given up in flight", h.since));
                break;
            case holder_kind::graph_exec:
                out.sites.push_back(site_of("instantiated", h.since));
                break;
            default:
                out.sites.push_back(site_of("graph made", h.since));
                break;
        }
    }
}

void user_object_leak::add_consequences(finding& out, group const& g) const {
    findings::consequence memory;
    memory.from = rule::allocation_leak;
    for (auto const& o : g.some) {
        auto const* link = file_.links.of_user_object(o.id);
        if (link == nullptr || file_.found.explained(link->memory.id)) continue;
        if (memory.count++ == 0) memory.sites.push_back(site_of("allocated", link->memory.created));
        memory.bytes += link->memory.bytes;
    }
    if (memory.count == 0) return;
    memory.text = fmt::format("{} ({}) that the payload probably stands for was not freed either",
                              counted(memory.count, "allocation"), findings::bytes_text(memory.bytes));
    out.bytes = memory.bytes;
    out.consequences.push_back(std::move(memory));
}

}  // namespace lastref::detectors
