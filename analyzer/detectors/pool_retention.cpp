#include "analyzer/detectors/pool_retention.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

using k = event_kind;
using findings::bytes_text;
using findings::counted;

constexpr std::uint64_t pool_reserved = 5, pool_used = 7;    // CU_MEMPOOL_ATTR_…_MEM_CURRENT
constexpr std::uint64_t graph_used = 0, graph_reserved = 2;  // CU_GRAPH_MEM_ATTR_…_MEM_CURRENT

}  // namespace

void pool_retention::add(store::process_id process, retention const& found) {
    auto const key = findings::hash()
                         .add(static_cast<std::uint64_t>(found.what))
                         .add(place_of(found.call))
                         .add(place_of(found.other))
                         .value();
    auto& g = groups_.of(process, key, found);
    g.all.add(found.call.at);
    g.all.bytes += found.bytes;
}

void pool_retention::destroyed(model::process_state const& process, model::event const& e) {
    if (!e.row.succeeded() || e.subject == nullptr) return;
    retention found{how::destroyed_in_use, e.where(), {}, 0, 0, 0};
    process.objects().for_each([&](model::object const& o) {
        if (o.kind != model::object_kind::stream_ordered || o.parent != e.row.object) return;
        if (o.created.event < e.subject->created.event) return;  // of an earlier pool with this handle
        if (found.pieces++ == 0) found.other = o.created;
        found.bytes += o.bytes;
    });
    if (found.pieces > 0) add(e.process, found);
    pending_.erase({e.process, e.row.object});
    if (auto const early = too_early_.find({e.process, e.row.object}); early != too_early_.end()) {
        add(e.process, early->second);
        too_early_.erase(early);
    }
    pools_.erase({e.process, e.row.object});
}

void pool_retention::freed(model::event const& e) {
    if (!e.row.succeeded() || e.subject == nullptr || e.subject->kind != model::object_kind::stream_ordered) return;
    auto& pending = pending_[{e.process, e.subject->parent}];
    if (pending.size() == most_pending) {
        std::erase_if(pending, [this](free_pending const& f) { return file_.order.completed(f.work); });
        if (pending.size() > most_pending / 2)  // the latest say enough
            pending.erase(pending.begin(), pending.end() - most_pending / 2);
    }
    pending.push_back({file_.order.work(e), e.subject->bytes, e.where()});
}

void pool_retention::trimmed(model::event const& e) {
    if (!e.row.succeeded()) return;
    retention found{how::trimmed_too_early, e.where(), {}, 0, 0, 0};
    auto const count = [&](pool_of_process const& pool) {
        auto const known = pending_.find(pool);
        if (known == pending_.end()) return;
        std::erase_if(known->second, [this](free_pending const& f) { return file_.order.completed(f.work); });
        for (auto const& f : known->second) {
            if (found.pieces++ == 0) found.other = f.call;
            found.bytes += f.bytes;
        }
    };
    pool_of_process const pool{e.process, e.row.object};
    count(pool);
    auto const& defaults = defaults_[e.process];
    if (std::find(defaults.begin(), defaults.end(), e.row.object) != defaults.end()) count({e.process, 0});
    if (found.pieces > 0 && found.bytes > e.row.size)
        too_early_[pool] = found;
    else
        too_early_.erase(pool);
}

void pool_retention::read(readings& into, bool reserved, bool used, model::event const& e) {
    if (reserved) into.reserved = e.row.size;
    if (used) into.used = e.row.size;
    if (reserved || used) into.call = e.where();
}

void pool_retention::on_event(model::process_state const& process, model::event const& e) {
    switch (e.kind()) {
        case k::pool_destroy:
            return destroyed(process, e);
        case k::memory_free_async:
            if (!process.capturing(e.stream)) freed(e);
            return;
        case k::pool_trim:
            return trimmed(e);
        case k::pool_get:
        case k::pool_select:
            if (e.row.succeeded()) defaults_[e.process].push_back(e.row.object);
            return;
        case k::pool_attribute:
            if (!e.row.succeeded() || e.api.name != "cuMemPoolGetAttribute") return;
            return read(pools_[{e.process, e.row.object}], e.row.extra == pool_reserved, e.row.extra == pool_used, e);
        case k::graph_memory_attribute:
            if (!e.row.succeeded() || e.api.name != "cuDeviceGetGraphMemAttribute") return;
            return read(graph_memory_[{e.process, e.row.object}], e.row.extra == graph_reserved,
                        e.row.extra == graph_used, e);
        case k::graph_memory_trim:
            if (e.row.succeeded()) graph_memory_.erase({e.process, e.row.object});
            return;
        default:
            return;
    }
}

void pool_retention::look_at_readings(model::process_state const& process) {
    auto const look = [&](std::map<pool_of_process, readings> const& all, how what) {
        for (auto const& [pool, r] : all) {
            if (pool.first != process.process().id || !r.reserved || !r.used) continue;
            bool const unused = what == how::graph_memory_unused
                                    ? *r.used == 0 && *r.reserved > 0
                                    : *r.reserved / 4 >= *r.used && *r.reserved - *r.used >= much;
            if (unused && *r.reserved > *r.used) add(pool.first, {what, r.call, {}, 0, *r.reserved - *r.used, *r.used});
        }
    };
    look(pools_, how::reserved_unused);
    look(graph_memory_, how::graph_memory_unused);
}

void pool_retention::on_process_end(model::process_state const& process) {
    for (auto const& [pool, found] : too_early_)
        if (pool.first == process.process().id) add(pool.first, found);
    look_at_readings(process);
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

void pool_retention::describe(finding& out, retention const& f) const {
    switch (f.what) {
        case how::destroyed_in_use:
            out.title = fmt::format("A pool was destroyed while {} of it was in use ({})", bytes_text(f.bytes),
                                    counted(f.pieces, "allocation"));
            out.why = "The pool's memory stays until the last of its allocations is freed; the handle is gone at once.";
            out.advice = "Free what was allocated from the pool before destroying it.";
            out.sites.push_back(site_of("pool destroyed", f.call));
            out.sites.push_back(site_of("allocated", f.other));
            break;
        case how::trimmed_too_early:
            out.severity = severity::warning;
            out.confidence = confidence::likely;
            out.confidence_reason = "nothing that was recorded had waited for the frees";
            out.title = fmt::format("A pool was trimmed while {} that had been freed were not given back ({})",
                                    bytes_text(f.bytes), counted(f.pieces, "free"));
            out.why =
                "A trim counts what a stream has yet to free as used: a free takes effect when its stream gets there, "
                "and the host has to see that.";
            out.advice = "Synchronize the streams of the frees before the trim.";
            out.sites.push_back(site_of("trimmed", f.call));
            out.sites.push_back(site_of("freed before", f.other, on_stream(f.other)));
            break;
        case how::reserved_unused:
            out.title = fmt::format("A pool held {} that it did not use", bytes_text(f.bytes));
            out.what.push_back(fmt::format("The program's own query at {} found {} in use.",
                                           findings::time_text(f.call.at), bytes_text(f.used)));
            out.why =
                "A pool keeps what was freed up to its release threshold. Other pools and processes do without it.";
            out.advice = "Lower the release threshold, or trim the pool (cuMemPoolTrimTo) after a peak.";
            out.sites.push_back(site_of("queried", f.call));
            break;
        case how::graph_memory_unused:
            out.title = fmt::format("{} of graph memory was reserved and not in use", bytes_text(f.bytes));
            out.why =
                "Memory of allocation nodes is kept for the next launch; it does not go back to any pool by itself.";
            out.advice = "Call cuDeviceGraphMemTrim when no graph is running.";
            out.sites.push_back(site_of("queried", f.call));
            break;
    }
}

void pool_retention::report(model::process_state const& process, std::uint64_t key, groups<retention>::group const& g) {
    auto out = finding_of(rule::pool_retention, process, g.all, key);
    out.severity = severity::note;
    out.confidence = confidence::proven;
    out.confidence_reason = "the calls and what they answered were recorded";
    describe(out, g.first);
    file_.found.add(std::move(out));
}

}  // namespace lastref::detectors
