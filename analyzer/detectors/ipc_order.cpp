#include "analyzer/detectors/ipc_order.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

using k = event_kind;

bool is_import(model::object_kind kind) {
    return kind == model::object_kind::ipc_memory || kind == model::object_kind::imported_pointer;
}

}  // namespace

std::uint64_t ipc_order::add(store::process_id process, disorder const& found) {
    auto const key = findings::hash()
                         .add(static_cast<std::uint64_t>(found.what))
                         .add(place_of(found.first))
                         .add(place_of(found.second))
                         .value();
    groups_.of(process, key, found).all.add(found.second.at, &found.memory);
    if (found.what == how::closed_too_seldom) ids_[key].push_back(found.memory.id);
    return key;
}

void ipc_order::imported(model::event const& e) {
    if (!e.row.succeeded() || e.subject == nullptr) return;
    auto& i = imports_[e.subject->id];
    if (i.opened++ == 0) i.memory = *e.subject;
    i.latest = e.where();
}

// Measured (580.159.04): the driver refuses; that is the same fault, whatever a driver says to it.
void ipc_order::pool_goes(model::process_state const& process, model::event const& e) {
    if (e.subject == nullptr || !e.subject->created.event) return;
    if (api_of(e.subject->created).kind != k::pool_import) return;
    for (auto const& [id, i] : imports_)
        if (i.memory.process == process.process().id && i.memory.parent == e.row.object &&
            i.memory.created.event > e.subject->created.event) {
            auto const key =
                add(e.process, {how::pool_first, i.memory, i.memory.created, e.where(), i.opened, i.closed});
            if (!e.row.succeeded()) ids_[key].push_back(e.subject->id);  // it explains why the pool is left
        }
}

void ipc_order::on_event(model::process_state const& process, model::event const& e) {
    switch (e.kind()) {
        case k::ipc_open:
        case k::pool_import_pointer:
            return imported(e);
        case k::ipc_close:
        case k::memory_free:
        case k::memory_free_async: {
            auto const found = e.subject && e.row.succeeded() ? imports_.find(e.subject->id) : imports_.end();
            if (found != imports_.end()) ++found->second.closed;
            return;
        }
        case k::ipc_export:
        case k::pool_export_pointer: {
            auto const* memory = process.objects().containing(e.row.object);
            if (e.row.succeeded() && memory != nullptr) exports_[memory->id] = {e.process, *memory, e.where()};
            return;
        }
        case k::pool_destroy:
            return pool_goes(process, e);
        default:
            return;
    }
}

// Which import belongs to which export is not recorded: certain only where a process has more imports open than the
// exporter has exports left.
void ipc_order::exporter_goes(model::process_state const& process, model::object const& gone, model::event const& e) {
    auto const exported = exports_.find(gone.id);
    if (exported == exports_.end()) return;
    auto const exporter = exported->second;
    exports_.erase(exported);
    std::size_t left = 0;
    for (auto const& [id, each] : exports_) left += each.process == process.process().id ? 1 : 0;
    std::map<store::process_id, std::size_t> open;
    import const* latest = nullptr;
    for (auto const& [id, i] : imports_) {
        if (i.memory.process == process.process().id || i.memory.created.event < exporter.call.event) continue;
        if (++open[i.memory.process] > left) latest = &i;
    }
    if (latest != nullptr)
        add(process.process().id, {how::exporter_first, gone, latest->memory.created, e.where(), 0, 0});
}

void ipc_order::on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                            model::release_cause) {
    if (is_import(gone.kind)) imports_.erase(gone.id);
    if (!exports_.empty()) exporter_goes(process, gone, e);
}

void ipc_order::on_process_end(model::process_state const& process) {
    auto const id = process.process().id;
    for (auto const& [object, i] : imports_)
        if (i.memory.process == id && i.opened > 1 && i.closed > 0)
            add(id, {how::closed_too_seldom, i.memory, i.memory.created, i.latest, i.opened, i.closed});
    groups_.report(id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
    std::erase_if(imports_, [id](auto const& i) { return i.second.memory.process == id; });
}

void ipc_order::report(model::process_state const& process, std::uint64_t key, groups<disorder>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::ipc_order, process, g.all, key);
    out.severity = severity::error;
    out.confidence = confidence::proven;
    out.confidence_reason = "every import and close was recorded";
    auto const handle = findings::handle_text(f.memory.handle);
    switch (f.what) {
        case how::closed_too_seldom:
            out.title = fmt::format("Memory of another process was opened {} times and closed {}", f.opened,
                                    f.closed == 1 ? "once" : fmt::format("{} times", f.closed));
            out.what.push_back(
                fmt::format("The same export was imported again and gave {} both times; each import counts.", handle));
            out.why =
                "Imports of one export share an address, and the memory stays mapped until each of them is closed.";
            out.advice = "Import an export once in a process and share the pointer, or close as often as you open.";
            out.sites.push_back(site_of("first import", f.first));
            out.sites.push_back(site_of("latest import", f.second));
            break;
        case how::pool_first:
            out.severity = severity::warning;
            out.title = "An imported pool was destroyed before the pointers that were imported from it";
            out.what.push_back(fmt::format("{} was imported at {} and not freed when its pool went.", handle,
                                           findings::time_text(f.first.at)));
            out.why = "The importer has to free what it imported before the pool, and before the exporter frees it.";
            out.advice = "Free every imported pointer, then destroy the imported pool.";
            out.sites.push_back(site_of("pool destroyed", f.second));
            out.sites.push_back(site_of("imported", f.first));
            break;
        case how::exporter_first:
            out.severity = severity::warning;
            out.confidence = confidence::possible;
            out.confidence_reason =
                "which import belongs to which export is not recorded; another process had more imports open than "
                "exports were "
                "left";
            out.title = "Exported memory was freed while another process had it open";
            out.what.push_back(fmt::format("{} was freed at {}; an import of another process, made at {}, was open.",
                                           handle, findings::time_text(f.second.at), findings::time_text(f.first.at)));
            out.why = "The importer's address then points at memory that the exporter may hand out again.";
            out.advice = "Let the importer close first and say so, then free.";
            out.sites.push_back(site_of("freed", f.second));
            out.sites.push_back(site_of("imported", f.first));
            break;
    }
    auto const index = file_.found.add(std::move(out));
    if (auto const ids = ids_.extract(key))
        for (auto const id : ids.mapped()) file_.found.explain(id, index);
}

}  // namespace lastref::detectors
