#include "analyzer/detectors/capture_interference.h"

#include "analyzer/detectors/releases.h"
#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <array>

namespace lastref::detectors {
namespace {

constexpr std::int64_t unjoined = 904;

char const* mode_name(std::uint64_t mode) {
    static constexpr std::array names{"global", "thread-local", "relaxed"};
    return mode < names.size() ? names[mode] : "unknown";
}

}  // namespace

// A call that was refused on account of a capture breaks the capture of its own stream; else those of its thread, and
// the global ones of all threads.
void capture_interference::blame(model::event const& e) {
    auto const own = open_.find(e.stream);
    for (auto& [stream, each] : open_) {
        if (each.broken_by) continue;
        if (own != open_.end() && !(stream == e.stream)) continue;
        bool const reached = own != open_.end() || each.begin.thread == e.row.thread || each.mode == 0 ||
                             e.stream.kind == model::stream_kind::legacy;
        if (!reached) continue;
        each.broken_by = e.where();
        if (is_refused_release(e) && e.subject != nullptr) each.not_released = *e.subject;
    }
}

void capture_interference::ends(model::event const& e) {
    auto const found = open_.find(e.stream);
    if (found == open_.end()) return;
    auto ended = std::move(found->second);
    open_.erase(found);
    if (e.row.succeeded() || !e.row.returned()) return;
    ended.ended = e.where();
    auto const key = findings::hash()
                         .add(place_of(ended.begin))
                         .add(ended.broken_by ? place_of(*ended.broken_by) : 0)
                         .add(ended.broken_by ? api_of(*ended.broken_by).name : std::string{})
                         .value();
    groups_.of(e.process, key, ended).all.add(ended.begin.at);
    if (ended.not_released) left_[ended.not_released->id] = {key, *ended.not_released};
}

void capture_interference::on_event(model::process_state const&, model::event const& e) {
    if (e.kind() == event_kind::capture_begin && e.row.succeeded()) {
        open_[e.stream] = {e.where(), e.row.extra, {}, {}, {}};
        return;
    }
    if (e.kind() == event_kind::capture_end) return ends(e);
    if (!open_.empty() && is_about_capture(e.row.result)) blame(e);
}

void capture_interference::on_released(model::process_state const&, model::object const& gone, model::event const&,
                                       model::release_cause) {
    if (!left_.empty()) left_.erase(gone.id);
}

void capture_interference::on_process_end(model::process_state const& process) {
    groups_.report(process.process().id, [&](std::uint64_t key, auto const& g) { report(process, key, g); });
}

std::vector<model::object_id> capture_interference::add_left_behind(finding& out, std::uint64_t key) const {
    findings::consequence left;
    left.from = rule::failed_free;
    std::vector<model::object_id> ids;
    for (auto const& [id, each] : left_) {
        if (each.group != key || each.what.process != out.process) continue;
        if (left.count++ == 0 && each.what.created.event) left.sites.push_back(site_of("made", each.what.created));
        if (model::is_memory(each.what.kind)) left.bytes += each.what.bytes;
        ids.push_back(id);
    }
    if (left.count == 0) return ids;
    left.text = fmt::format("{} that the call was to release stayed", findings::counted(left.count, "object"));
    out.bytes += left.bytes;
    out.consequences.push_back(std::move(left));
    return ids;
}

void capture_interference::report(model::process_state const& process, std::uint64_t key,
                                  groups<capture>::group const& g) {
    auto const& f = g.first;
    auto out = finding_of(rule::capture_interference, process, g.all, key);
    out.severity = severity::error;
    out.confidence = confidence::proven;
    out.confidence_reason = "the driver's answers were recorded";
    auto const others = f.broken_by && f.broken_by->thread != f.begin.thread ? " on another thread" : "";
    out.title = f.broken_by ? fmt::format("A capture was broken by {}{}", api_of(*f.broken_by).name, others)
                            : "A capture ended in an error";
    if (g.all.count > 1)
        out.title += fmt::format(", {} times", findings::counted(static_cast<std::int64_t>(g.all.count)));
    out.what.push_back(fmt::format("{} began to capture {} at {} in {} mode; cuStreamEndCapture answered {}.",
                                   thread_of(f.begin), stream_of(f.begin), findings::time_text(f.begin.at),
                                   mode_name(f.mode), findings::result_text(f.ended.result)));
    out.what.back()[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out.what.back()[0])));
    if (f.broken_by)
        out.what.push_back(fmt::format("Meanwhile {} called {}, which was refused with {}.", thread_of(*f.broken_by),
                                       api_of(*f.broken_by).symbol, findings::result_text(f.broken_by->result)));
    out.why =
        f.ended.result == unjoined
            ? "A stream that an event drew into the capture was not joined to the first one again."
            : "While a stream is captured, calls that cannot be captured are refused, and break the capture: those "
              "of the thread itself, in global mode those of every thread, and whatever uses the legacy stream.";
    out.advice =
        f.ended.result == unjoined
            ? "Record an event on each forked stream, and let the first stream wait for it before the capture ends."
            : "Allocate and free before the capture or after it; capture in thread-local mode where other threads go "
              "on "
              "working; let those threads exchange to relaxed mode around such calls "
              "(cuThreadExchangeStreamCaptureMode).";
    if (f.broken_by) out.sites.push_back(site_of("broke the capture", *f.broken_by, on_stream(*f.broken_by)));
    out.sites.push_back(site_of("capture began", f.begin, on_stream(f.begin)));
    out.sites.push_back(site_of("capture ended", f.ended));
    auto const left = add_left_behind(out, key);
    auto const index = file_.found.add(std::move(out));
    for (auto const id : left) file_.found.explain(id, index);
}

}  // namespace lastref::detectors
