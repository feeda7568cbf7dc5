#include "analyzer/detectors/failed_free.h"

#include "analyzer/detectors/releases.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace lastref::detectors {
namespace {

using findings::bytes_text;
using findings::counted;

using namespace cuda_result;

bool is_default_token(model::stream_identity const& s) {
    return s.kind == model::stream_kind::legacy || s.kind == model::stream_kind::per_thread;
}

}  // namespace

failed_free::failure failed_free::about_nothing_live(model::process_state const& process, model::event const& e) const {
    failure f;
    f.now = state::unknown;
    f.named = e.row.object;
    f.call = e.where();
    auto const* graph = process.graph_memory(e.row.object);
    if (graph != nullptr && space_released_by(e.kind()) == model::handle_space::device_pointer) {
        f.now = state::of_graph;
        f.earlier = *graph;
    } else if (auto const* around = process.objects().containing(e.row.object);
               around != nullptr && space_released_by(e.kind()) == model::handle_space::device_pointer) {
        f.now = state::inside;
        f.what = *around;
    }
    return f;
}

void failed_free::on_event(model::process_state const& process, model::event const& e) {
    // Told by double-free and cuda-call-in-callback.
    if (!is_refused_release(e) || is_double_free(process, e) || is_refused_in_callback(e.row)) return;
    if (e.subject == nullptr) return count(process, about_nothing_live(process, e));
    auto const [known, fresh] = open_.try_emplace(e.subject->id);
    if (fresh)
        known->second = {state::live, *e.subject, e.row.object, e.where(), {}, 1};
    else
        ++known->second.calls;
}

void failed_free::on_released(model::process_state const& process, model::object const& gone, model::event const&,
                              model::release_cause cause) {
    auto const found = open_.find(gone.id);
    if (found == open_.end()) return;
    if (cause == model::release_cause::context_destroyed) {
        found->second.now = state::gone_with_context;
        count(process, found->second);
    }
    open_.erase(found);
}

void failed_free::count(model::process_state const& process, failure const& f) {
    key const k{f.now, f.call.result, f.call.api, place_of(f.call), place_of(f.what.created)};
    auto& g = closed_[process.process().id][k];
    if (g.objects++ == 0 || f.call.at < g.first.call.at) g.first = f;
    g.calls += f.calls;
    g.last = std::max(g.last, f.call.at);
    if (f.now == state::live && model::is_memory(f.what.kind)) g.bytes += f.what.bytes;
    if (f.now == state::live) g.ids.push_back(f.what.id);
    keep_first(g.some, f.what);
}

void failed_free::on_process_end(model::process_state const& process) {
    for (auto const& [id, f] : open_)
        if (f.what.process == process.process().id && !file_.found.explained(id)) count(process, f);
    std::erase_if(open_, [&process](auto const& o) { return o.second.what.process == process.process().id; });
    auto const found = closed_.find(process.process().id);
    if (found == closed_.end()) return;
    for (auto const& [k, g] : found->second) report(process, g);
    closed_.erase(found);
}

void failed_free::report(model::process_state const& process, group const& g) {
    auto const& f = g.first;
    finding out;
    out.rule = rule::failed_free;
    out.process = process.process().id;
    bool const harmless = f.now == state::gone_with_context;
    out.severity = harmless ? severity::warning : severity::error;
    out.confidence = confidence::proven;
    out.confidence_reason = f.now == state::live
                                ? "the driver's answer was recorded, and no later call released the object"
                                : "the driver's answer was recorded";
    out.first_seen = f.call.at;
    out.last_seen = g.last;
    out.count = g.objects;
    out.bytes = g.bytes;
    for (auto const& o : g.some)
        if (o.id) out.objects.push_back(note_of(o));
    out.fingerprint = findings::hash()
                          .add(info(out.rule).name)
                          .add(api_of(f.call).name)
                          .add(static_cast<std::uint64_t>(f.call.result))
                          .add(static_cast<std::uint64_t>(f.now))
                          .add(place_of(f.call))
                          .add(place_of(f.what.created))
                          .hex();
    describe(out, g);
    explain(out, g);
    auto const index = file_.found.add(std::move(out));
    for (auto const id : g.ids) file_.found.explain(id, index);
}

void failed_free::describe(finding& out, group const& g) const {
    auto const& f = g.first;
    auto const name = api_of(f.call).name;
    auto const refused = g.calls == 1
                             ? std::string("was refused")
                             : fmt::format("was refused {} times", counted(static_cast<std::int64_t>(g.calls)));
    auto const kind = f.what.id ? model::name_of(f.what.kind) : "object";
    switch (f.now) {
        case state::live:
            out.title = g.bytes > 0 ? fmt::format("{} {}: {} stayed allocated", name, refused, bytes_text(g.bytes))
                                    : fmt::format("{} {}: {} {} left", name, refused, counted(g.objects, kind),
                                                  g.objects == 1 ? "was" : "were");
            break;
        case state::gone_with_context:
            out.title = fmt::format("{} {}: the {} went only with its context", name, refused, kind);
            break;
        case state::inside:
            out.title = fmt::format("{} {}: the address lies inside an allocation", name, refused);
            break;
        case state::of_graph:
            out.title = fmt::format("{} {}: the memory belongs to a graph", name, refused);
            break;
        case state::unknown:
            out.title = fmt::format("{} {}", name, refused);
            break;
    }
    auto const context = f.call.context ? "" : ", with no current context";
    auto const stream = f.call.stream.kind == model::stream_kind::none ? "" : " on " + stream_of(f.call);
    out.what.push_back(fmt::format("The driver answered {} when {} called {} for {}{}{}.",
                                   findings::result_text(f.call.result), thread_of(f.call), api_of(f.call).symbol,
                                   findings::handle_text(f.named), stream, context));
    out.sites.push_back(site_of("refused", f.call));
    if (f.what.id && f.what.created.event) {
        auto const where =
            f.what.created.stream.kind == model::stream_kind::none ? "" : " on " + stream_of(f.what.created);
        out.what.push_back(fmt::format("{} had made it with {}{}{}.", thread_of(f.what.created),
                                       api_of(f.what.created).symbol, where,
                                       f.what.created.context ? ", under a current context" : ""));
        out.what.back()[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out.what.back()[0])));
        out.sites.push_back(site_of(model::is_memory(f.what.kind) ? "allocated" : "created", f.what.created));
    }
    if (f.earlier.event) out.sites.push_back(site_of("allocated by the graph", f.earlier));
}

void failed_free::explain(finding& out, group const& g) const {
    auto const& call = g.first.call;
    auto const result = call.result;
    if (result == invalid_context && is_default_token(call.stream) && !call.context) {
        out.why =
            "A default-stream token means the default stream of the thread's current context. This thread had none, so "
            "the "
            "call named no stream. A created stream carries its context, and cuMemFree needs none.";
        out.advice =
            "Keep stream and context together with the allocation. Before the free, make that context current "
            "(cuCtxPushCurrent, afterwards cuCtxPopCurrent), or free on a created stream.";
    } else if (result == not_permitted || (call.flags & store::event_flag::in_callback) != 0) {
        out.why =
            "The call was made inside a callback of the driver (user-object destructor, host function or stream "
            "callback), "
            "where the driver refuses every call.";
        out.advice = "Let the callback put the object into a queue, and release it from an ordinary thread.";
    } else if (is_about_capture(result)) {
        out.why =
            "A stream capture was under way. It forbids this call, and the call may have broken the capture as well.";
        out.advice =
            "Release after the capture has ended, on the thread that captures with a relaxed mode "
            "(cuThreadExchangeStreamCaptureMode), or use cudaStreamCaptureModeThreadLocal for captures.";
    } else if (is_sticky(result)) {
        out.why =
            "The context had failed before: after such an error every call on it answers the same, until it is "
            "destroyed.";
        out.advice = "Look for the first call that failed. What this context held goes with it; no free will help.";
    } else if (g.first.now == state::inside) {
        out.why =
            "Only the address that an allocation returned frees it; this one points further in. The allocation stays.";
        out.advice = "Keep the address that the allocation returned beside the one that the work uses.";
    } else if (g.first.what.kind == model::object_kind::pool && !g.first.what.created.event) {
        out.why = "A device's default pool cannot be destroyed; it was not made by the program.";
        out.advice = "Destroy only pools that cuMemPoolCreate made.";
    } else if (g.first.now == state::of_graph) {
        out.why =
            "Memory from a captured allocation or an allocation node exists only while its graph's launch has "
            "allocated it.";
        out.advice = "Free it inside the graph, or once after each launch; not before the first launch, nor twice.";
    } else {
        out.why = "What a refused call was to release stays, and nobody else will release it.";
        out.advice = "Check the result of every release, and call it again once its condition is met.";
    }
}

}  // namespace lastref::detectors
