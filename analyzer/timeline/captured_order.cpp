#include "analyzer/timeline/captured_order.h"

namespace lastref::timeline {
namespace {

using k = event_kind;

constexpr std::uint64_t external = 1;  // CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL

// What gives order that this engine does not follow.
bool gives_other_order(model::event const& e) {
    switch (e.kind()) {
        case k::capture_set:
        case k::stream_memory_op:
        case k::semaphore_signal:
        case k::semaphore_wait:
            return true;
        case k::event_record:
        case k::stream_wait_event:
            return (e.row.extra & external) != 0 || e.subject == nullptr;
        default:
            return false;
    }
}

}  // namespace

std::uint32_t captured_order::capture_of(model::stream_identity const& stream) const {
    if (streams_.empty()) return 0;
    auto const found = streams_.find(stream);
    return found == streams_.end() ? 0 : found->second.capture;
}

point captured_order::work(model::event const& e) const {
    auto const found = streams_.find(e.stream);
    return {found == streams_.end() ? 0 : found->second.number, {e.row.id, e.row.begin}};
}

bool captured_order::before(point const& earlier, model::stream_identity const& later) const {
    auto const to = streams_.find(later);
    if (to == streams_.end() || doubtful_.contains(to->second.capture)) return true;
    return to->second.number == earlier.stream ||
           to->second.after.covers({scope::stream, earlier.stream}, earlier.given.event);
}

void captured_order::begin(model::event const& e) {
    streams_[e.stream] = {++last_stream_, ++last_capture_, {}};
}

// A capture that was broken ends as well.
void captured_order::end(model::event const& e) {
    ended_ = capture_of(e.stream);
    if (ended_ == 0) return;
    std::erase_if(streams_, [this](auto const& s) { return s.second.capture == ended_; });
    std::erase_if(records_, [this](auto const& r) { return r.second.capture == ended_; });
    doubtful_.erase(ended_);
}

void captured_order::recorded(model::event const& e) {
    auto const on = streams_.find(e.stream);
    if (on == streams_.end()) {
        records_.erase(e.subject->id);
        return;
    }
    auto what = on->second.after;
    what.add({scope::stream, on->second.number}, {e.row.id, e.row.begin});
    records_[e.subject->id] = {on->second.capture, std::make_shared<clock const>(std::move(what))};
}

// Draws the stream into the capture where it is in none.
void captured_order::waited(model::event const& e) {
    auto const what = records_.find(e.subject->id);
    if (what == records_.end()) return;
    auto const [on, fresh] = streams_.try_emplace(e.stream);
    if (fresh) on->second = {++last_stream_, what->second.capture, {}};
    on->second.after.join(*what->second.what);
}

void captured_order::on_event(model::process_state const&, model::event const& e) {
    ended_ = 0;
    if (e.kind() == k::capture_begin && e.row.succeeded()) return begin(e);
    if (streams_.empty() || e.stream.kind == model::stream_kind::none) return;
    if (e.kind() == k::capture_end) return end(e);
    if (!e.row.succeeded()) return;
    if (gives_other_order(e)) {
        if (auto const capture = capture_of(e.stream)) doubtful_.insert(capture);
        return;
    }
    if (e.kind() == k::event_record) recorded(e);
    if (e.kind() == k::stream_wait_event) waited(e);
}

}  // namespace lastref::timeline
