#include "analyzer/detectors/user_object_over_release.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

constexpr std::uint64_t flag_move = 1;  // CU_GRAPH_USER_OBJECT_MOVE

}  // namespace

void user_object_over_release::on_event(model::process_state const&, model::event const& e) {
    using k = event_kind;
    if (e.subject == nullptr || e.subject->kind != model::object_kind::user_object || !e.row.succeeded()) return;
    auto const id = e.subject->id;
    if (e.kind() == k::graph_retain_user_object && (e.row.extra & flag_move) != 0) moved_[id] = e.where();
    auto const* account = file_.accountant.references().find(id);
    if (account == nullptr) return;
    if (e.kind() == k::user_object_release && account->caller < 0) {
        excess found{*e.subject, e.where(), {}, -account->caller, false, false};
        if (auto const moved = moved_.find(id); moved != moved_.end()) found.moved = moved->second;
        open_.try_emplace(id, found).first->second.missing = -account->caller;
    }
    // The releases of one thread may be recorded before the retain of another that they go with.
    bool const retained = e.kind() == k::user_object_retain;
    if (auto const open = open_.find(id);
        retained && open != open_.end() && !open->second.by_graph && account->caller >= 0)
        open_.erase(open);
    if (e.kind() == k::graph_release_user_object && account->excess > 0)
        open_.try_emplace(id, excess{*e.subject, e.where(), {}, account->excess, true, false}).first->second.missing =
            account->excess;
}

void user_object_over_release::on_released(model::process_state const& process, model::object const& gone,
                                           model::event const&, model::release_cause) {
    if (gone.kind != model::object_kind::user_object) return;
    moved_.erase(gone.id);
    auto const found = open_.find(gone.id);
    if (found == open_.end()) return;
    found->second.destroyed = true;
    confirm(process, found->second);
    open_.erase(found);
}

void user_object_over_release::confirm(model::process_state const& process, excess const& e) {
    auto const key = findings::hash()
                         .add(e.by_graph ? 1 : 0)
                         .add(e.destroyed ? 1 : 0)
                         .add(place_of(e.release))
                         .add(place_of(e.object.created))
                         .value();
    groups_.of(process.process().id, key, e).all.add(e.release.at, &e.object);
    if (!e.destroyed) ids_[key].push_back(e.object.id);
}

void user_object_over_release::on_process_end(model::process_state const& process) {
    std::erase_if(open_, [&](auto const& o) {
        if (o.second.object.process != process.process().id) return false;
        confirm(process, o.second);
        return true;
    });
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
    ids_.clear();
}

void user_object_over_release::report(model::process_state const& process, std::uint64_t key,
                                      groups<excess>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::user_object_over_release, process, g.all, key);
    out.severity = severity::error;
    out.confidence = confidence::proven;
    out.confidence_reason = "every reference was counted; the driver reports success all the same";
    auto const references = findings::counted(static_cast<std::uint64_t>(f.missing), "reference");
    out.title = fmt::format("{} released more often than held by {}", findings::counted(g.all.count, "user object"),
                            f.by_graph ? "the graph" : "the program");
    out.what.push_back(fmt::format("{} called {} for user object {}, which gave up {} that {} did not hold.",
                                   thread_of(f.release), api_of(f.release).symbol,
                                   findings::handle_text(f.object.handle), references,
                                   f.by_graph ? "the graph" : "the program"));
    out.what.back()[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out.what.back()[0])));
    if (f.moved.event)
        out.what.push_back(fmt::format("A reference had been moved into a graph at {} (CU_GRAPH_USER_OBJECT_MOVE).",
                                       findings::time_text(f.moved.at)));
    out.what.push_back(f.destroyed ? "The destructor ran, though others may still have counted on their reference."
                                   : "The destructor had not run when the process ended.");
    out.why = f.by_graph
                  ? "The driver says success and does nothing good: measured, the graph's destruction may crash later."
                  : "The count falls to zero while a graph still holds a reference, or below it: then the payload goes "
                    "too early, or the destructor never runs.";
    out.advice =
        "Release each reference once. A reference that was moved into a graph is the graph's: do not release it "
        "as well.";
    out.sites.push_back(site_of("released", f.release));
    if (f.moved.event) out.sites.push_back(site_of("moved into a graph", f.moved));
    out.sites.push_back(site_of("created", f.object.created));
    auto const index = file_.found.add(std::move(out));
    if (auto const ids = ids_.find(key); ids != ids_.end())
        for (auto const id : ids->second) file_.found.explain(id, index);
}

}  // namespace lastref::detectors
