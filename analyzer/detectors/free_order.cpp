#include "analyzer/detectors/free_order.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

namespace lastref::detectors {
namespace {

bool is_pool_memory(model::object_kind kind) {
    return kind == model::object_kind::stream_ordered || kind == model::object_kind::imported_pointer;
}

bool is_per_thread(model::stream_identity const& s) {
    return s.kind == model::stream_kind::per_thread;
}

// A free without a stream waits for nothing and assumes that every access is done; that the memory was allocated is no
// access.
bool in_order(case_file const& file, timeline::use const& use, model::event const& e) {
    if (e.kind() == event_kind::memory_free_async) return file.order.before(use.work, e.stream);
    return use.allocation || file.order.completed(use.work);
}

bool beside_legacy(timeline::order const& order, model::stream_identity const& a, model::stream_identity const& b) {
    bool const legacy = a.kind == model::stream_kind::legacy || b.kind == model::stream_kind::legacy;
    return legacy && a.kind != b.kind && !(order.blocking(a) && order.blocking(b));
}

}  // namespace

bool frees_under_another_context(model::process_state const& process, model::event const& e) {
    if (e.kind() != event_kind::memory_free_async || !e.row.succeeded() || e.subject == nullptr) return false;
    bool const by_token =
        e.stream.kind == model::stream_kind::legacy || e.stream.kind == model::stream_kind::per_thread;
    if (!by_token || !is_pool_memory(e.subject->kind) || process.capturing(e.stream)) return false;
    auto const made = e.subject->created.context;
    return made && e.row.context && made != e.row.context;
}

std::optional<unordered_pair> unordered_use(case_file const& file, model::process_state const& process,
                                            model::event const& e) {
    bool const frees = e.kind() == event_kind::memory_free_async || e.kind() == event_kind::memory_free;
    if (!frees || !e.row.succeeded() || e.subject == nullptr || !is_pool_memory(e.subject->kind)) return {};
    if (process.capturing(e.stream) || frees_under_another_context(process, e)) return {};
    if (file.found.claimed(e.subject->id)) return {};
    std::optional<unordered_pair> out;
    for (auto const& use : file.uses.of(e.subject->id)) {
        if (in_order(file, use, e)) continue;
        out = unordered_pair{*e.subject, use, e.where()};
    }
    if (!out) return {};
    out->latest = file.order.latest_before(out->use.work, e.stream);
    out->used_stream_gone = file.order.gone(out->use.work);
    out->beside_legacy = beside_legacy(file.order, out->use.call.stream, e.stream);
    auto const* past = process.recently_released(model::handle_space::stream, e.row.stream);
    out->recycled = past != nullptr && out->use.call.stream.stream && past->what.id == out->use.call.stream.stream;
    return out;
}

bool between_threads_default_streams(unordered_pair const& pair) {
    return is_per_thread(pair.use.call.stream) && is_per_thread(pair.freed.stream) &&
           pair.use.call.stream.thread != pair.freed.stream.thread;
}

std::string order_story::order_there(unordered_pair const& pair) const {
    auto const used_on = stream_of(pair.use.call);
    if (pair.freed.stream.kind == model::stream_kind::none)
        return fmt::format(
            "{} takes no stream and waits for nothing: it assumes that every access is done. Nothing had "
            "waited for {} since.",
            api_of(pair.freed).name, used_on);
    if (pair.captured)
        return "Both were captured into one graph, and none of its edges leads from the one to the other: they may run "
               "in either order, or at once, in every launch.";
    if (pair.latest)
        return fmt::format("Before the free, {} had waited for what {} was given up to {}; this came at {}.",
                           stream_of(pair.freed), used_on, findings::time_text(pair.latest->at),
                           findings::time_text(pair.use.call.at));
    if (pair.beside_legacy)
        return "A non-blocking stream does not wait for the legacy default stream, nor that one for it, and no other "
               "order between the two was recorded.";
    return "Nothing that was recorded orders the two: no event and no wait of a stream or of the host.";
}

std::string order_story::advice(unordered_pair const& pair) const {
    auto const used_on = stream_of(pair.use.call);
    if (pair.freed.stream.kind == model::stream_kind::none)
        return fmt::format("Free it with cuMemFreeAsync on {}, or wait for that stream first.", used_on);
    if (pair.used_stream_gone)
        return fmt::format(
            "Free before the stream is destroyed, on that stream; or record an event on it after the last "
            "use, and let {} wait for it (cuStreamWaitEvent) before the free.",
            stream_of(pair.freed));
    auto const by_event = fmt::format(
        "record an event on {} after the last use, and let {} wait for it (cuStreamWaitEvent) before the free", used_on,
        stream_of(pair.freed));
    if (is_per_thread(pair.use.call.stream))
        return fmt::format("Keep a created stream with the allocation and free on that; or {}.", by_event);
    return fmt::format("Free on {}; or {}.", used_on, by_event);
}

void order_story::tell(finding& out, unordered_pair const& pair) const {
    bool const by_use = !pair.use.allocation;
    auto const how = pair.freed.stream.kind == model::stream_kind::none ? std::string("without a stream")
                                                                        : "on " + stream_of(pair.freed);
    out.what.push_back(fmt::format("{} was {} on {} and freed {}.", findings::handle_text(pair.memory.handle),
                                   by_use ? "last used" : "allocated", stream_of(pair.use.call), how));
    out.what.push_back(order_there(pair));
    if (pair.recycled)
        out.what.push_back(
            "The free names the same handle as the use, but that stream was destroyed in between, and the handle is a "
            "new "
            "stream's.");
    if (pair.freed.stream.kind != model::stream_kind::none)
        out.what.push_back(fmt::format("Missing: a wait of {} for the work on {} from {}.", stream_of(pair.freed),
                                       stream_of(pair.use.call), findings::time_text(pair.use.call.at)));
    out.why =
        "A stream-ordered free takes effect in its own stream only. The pool may hand the memory out again while the "
        "other stream's work still reads or writes it.";
    out.advice = advice(pair);
    out.sites.push_back(site_of("allocated", pair.memory.created, on_stream(pair.memory.created)));
    if (by_use) out.sites.push_back(site_of("last used", pair.use.call, on_stream(pair.use.call)));
    out.sites.push_back(site_of("freed", pair.freed, on_stream(pair.freed)));
}

}  // namespace lastref::detectors
