#include "gui/scenes/timeline_builder.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace lastref::gui::scenes {
namespace {

std::uint32_t narrow(std::uint64_t id) {
    return id > UINT32_MAX ? 0 : static_cast<std::uint32_t>(id);
}

bool is_callback(event_kind kind) {
    return kind >= event_kind::callback_user_object && kind <= event_kind::callback_stream;
}

std::uint32_t subject_of(model::event const& e) {
    if (e.subject != nullptr) return narrow(e.subject->id.value);
    return narrow(e.stream.stream.value);  // a wait for a stream, or a launch into it, is part of the stream's life
}

track_kind kind_of(model::stream_kind kind) {
    switch (kind) {
        case model::stream_kind::legacy:
            return track_kind::legacy_stream;
        case model::stream_kind::per_thread:
            return track_kind::per_thread_stream;
        default:
            return track_kind::created_stream;
    }
}

}  // namespace

timeline_builder::timeline_builder(store::trace const& trace)
    : trace_(trace), made_(std::make_shared<call_timeline>()) {
    std::size_t greatest = 0;
    for (auto const& api : trace.apis()) greatest = std::max<std::size_t>(greatest, api.id.value);
    greatest = std::min<std::size_t>(greatest, span::unknown_api - 1);
    made_->names_.resize(greatest + 1);
    made_->styles_.resize(greatest + 1, style::other);
    for (auto const& api : trace.apis()) {
        if (api.id.value > greatest) continue;
        made_->names_[api.id.value] = api.name;
        made_->styles_[api.id.value] = scenes::style_of(api.kind, api.verb);
    }
    // An upper bound in a trace of one process; a huge one in a damaged trace is not believed.
    auto const expected = static_cast<std::size_t>(std::clamp<std::int64_t>(trace.event_count(), 0, 1 << 27));
    made_->spans_.reserve(expected);
    made_->begin_ = INT64_MAX;
}

std::string timeline_builder::thread_label(store::thread_id id) const {
    auto const& t = trace_.at(id);
    if (t.main) return "main thread";
    return t.name.empty() ? fmt::format("thread {}", t.tid) : fmt::format("{} ({})", t.name, t.tid);
}

void timeline_builder::name_stream(track& t, model::event const& e) {
    auto const& s = e.stream;
    t.kind = kind_of(s.kind);
    if (s.kind == model::stream_kind::legacy) t.name = "legacy default stream";
    if (s.kind == model::stream_kind::per_thread) {
        t.thread = s.thread;
        t.name = "default stream of " + thread_label(s.thread);
    }
    if (s.kind != model::stream_kind::created) return;
    t.stream = s.handle;
    auto const use = ++handles_[{e.process, s.handle}];
    t.name = use == 1 ? fmt::format("stream {:#x}", s.handle) : fmt::format("stream {:#x}, life {}", s.handle, use);
}

// Default streams are each context's own: worth saying where there are several contexts, or where there was none.
void timeline_builder::name_contexts(std::vector<model::stream_identity> const& streams) {
    std::set<store::context_id> contexts;
    for (auto const& s : streams)
        if (s.context) contexts.insert(s.context);
    for (auto const& s : streams) {
        if (s.kind == model::stream_kind::created) continue;
        auto& name = streams_.at(s).name;
        if (!s.context) name += ", no context";
        if (s.context && contexts.size() > 1) name += fmt::format(", context {:#x}", trace_.at(s.context).handle);
    }
}

track& timeline_builder::stream_track(model::event const& e) {
    auto const [found, fresh] = streams_.try_emplace(e.stream);
    if (fresh) {
        name_stream(found->second, e);
        order_of_streams_[e.process].push_back(e.stream);
    }
    return found->second;
}

track& timeline_builder::callback_track(store::process_id process) {
    auto& made = callbacks_[process];
    made.kind = track_kind::callbacks;
    made.name = "callbacks";
    return made;
}

void timeline_builder::on_event(model::process_state const&, model::event const& e) {
    auto const& row = e.row;
    bool const no_duration = (row.flags & store::event_flag::no_duration) != 0;
    auto const length = !row.returned() && !no_duration ? store::not_returned : std::max<std::int64_t>(row.duration, 0);
    auto const index = static_cast<std::uint32_t>(made_->spans_.size());
    made_->spans_.emplace_back(row.begin, length, narrow(static_cast<std::uint64_t>(row.id.value)), subject_of(e),
                               row.api.value, row.returned() && !row.succeeded());
    auto const api = made_->spans_.back().api();
    auto const its_style = api < made_->styles_.size() ? made_->styles_[api] : style::other;
    made_->styles_used_ |= 1U << static_cast<unsigned>(its_style);
    made_->begin_ = std::min(made_->begin_, row.begin);
    made_->end_ = std::max(made_->end_, row.end());
    auto& own = threads_[row.thread];
    own.thread = row.thread;
    own.entries.push_back(index);
    if (e.stream.kind != model::stream_kind::none) stream_track(e).entries.push_back(index);
    if (is_callback(e.kind())) callback_track(e.process).entries.push_back(index);
}

void timeline_builder::add_marks() {
    made_->marks_ = marks_of(trace_);
    for (auto const& m : made_->marks_) {
        made_->begin_ = std::min(made_->begin_, m.at);
        made_->end_ = std::max(made_->end_, m.at);
    }
    if (made_->begin_ > made_->end_) made_->begin_ = made_->end_ = 0;
}

void timeline_builder::add_ranges() {
    made_->ranges_ = trace_.ranges();
    if (!made_->ranges_.empty()) made_->styles_used_ |= 1U << static_cast<unsigned>(style::range);
    for (std::size_t i = 0; i < made_->ranges_.size(); ++i) {
        auto const& r = made_->ranges_[i];
        auto& all = range_tracks_[r.process];
        all.kind = track_kind::ranges;
        all.name = "ranges";
        all.entries.push_back(static_cast<std::uint32_t>(made_->spans_.size()));
        made_->end_ = std::max(made_->end_, r.end.value_or(r.begin));
        auto const length = r.end ? std::max<time_ns>(*r.end - r.begin, 0) : store::not_returned;
        made_->spans_.emplace_back(r.begin, length, static_cast<std::uint32_t>(i), 0, span::unknown_api, false);
    }
}

// Processes in the order of their ids; in each ranges, threads with the main one first, callbacks, streams by kind.
void timeline_builder::arrange() {
    for (auto const& process : trace_.processes()) {
        group g{process.id, findings::process_name(process), made_->tracks_.size(), 0};
        auto const add = [&](track& from) {
            from.group = made_->groups_.size();
            made_->tracks_.push_back(std::move(from));
        };
        if (range_tracks_.contains(process.id)) add(range_tracks_.at(process.id));
        for (bool const main : {true, false})
            for (auto const& thread : trace_.threads()) {
                if (thread.process != process.id || thread.main != main || !threads_.contains(thread.id)) continue;
                threads_.at(thread.id).name = thread_label(thread.id);
                add(threads_.at(thread.id));
            }
        if (callbacks_.contains(process.id)) add(callbacks_.at(process.id));
        auto& streams = order_of_streams_[process.id];
        std::stable_sort(streams.begin(), streams.end(), [](auto const& a, auto const& b) { return a.kind < b.kind; });
        name_contexts(streams);
        for (auto const& stream : streams) add(streams_.at(stream));
        g.tracks = made_->tracks_.size() - g.first_track;
        if (g.tracks > 0) made_->groups_.push_back(std::move(g));
    }
}

std::shared_ptr<call_timeline const> timeline_builder::take() {
    add_ranges();
    add_marks();
    made_->spans_.shrink_to_fit();
    arrange();
    for (auto& t : made_->tracks_) {
        t.entries.shrink_to_fit();
        made_->sort(t);
        if (t.kind == track_kind::thread || t.kind == track_kind::ranges) made_->nest(t);
        made_->summarize(t);
    }
    return std::move(made_);
}

std::shared_ptr<call_timeline const> build_timeline(store::trace const& trace, watch const& tell) {
    // Nothing of what the timeline shows needs the order or the ledger.
    timeline_builder builder(trace);
    model::world world(trace);
    world.add(builder);
    world.run([&tell](double share) {
        if (tell && !tell(share)) throw cancelled();
    });
    return builder.take();
}

}  // namespace lastref::gui::scenes
