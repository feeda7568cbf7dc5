// A finding about order as lanes: the threads and streams concerned, what was done to the memory on each, what orders
// them, and the order that is missing. Calls stand one behind the other, evenly spaced: what matters is their order,
// and real times would put most of them on one spot.
#pragma once

#include "analyzer/findings/finding.h"
#include "gui/scenes/pass.h"
#include "gui/scenes/timeline.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lastref::gui::scenes {

enum class lane_kind : std::uint8_t { thread, legacy_stream, per_thread_stream, created_stream };

struct hazard_lane {
    lane_kind kind = lane_kind::thread;
    std::string name;  // "default stream of worker (101)"
};

enum class deed : std::uint8_t { allocate, use, release, record, wait, synchronize, other };

// A call of the story.
struct hazard_point {
    std::size_t column = 0;
    std::size_t lane = 0;               // the stream's, or the thread's for calls without one
    std::optional<std::size_t> caller;  // the thread's lane, for calls with a stream
    scenes::deed deed = scenes::deed::other;
    std::string role;  // "allocated", "last used", "freed"; empty for what only stands in between
    std::string name;  // entry point
    store::event_id event;
    time_ns at = 0;
    bool failed = false;
};

// Order between two points that was recorded: an event's record and what waited for it.
struct hazard_edge {
    std::size_t from = 0, to = 0;
};

// Calls that are left out of the story, between two columns.
struct hazard_gap {
    std::size_t before_column = 0;
    std::uint64_t calls = 0;
};

struct hazard {
    std::string rule, title;
    std::vector<std::string> what;
    std::string why, advice;
    std::vector<hazard_lane> lanes;    // threads first
    std::vector<hazard_point> points;  // in the order of columns
    std::vector<hazard_edge> edges;
    std::optional<hazard_edge> missing;
    std::vector<hazard_gap> gaps;
    std::size_t columns = 0;
};

// What is asked for, without a finding at hand.
struct hazard_request {
    struct site {
        std::string role;
        store::event_id event;
    };
    std::string rule, title;
    std::vector<std::string> what;
    std::string why, advice;
    std::vector<site> sites;
};
hazard_request request_of(findings::finding const& from);

// Rules whose findings are about order, and so have lanes to look at.
bool is_about_order(std::string_view rule);

// Reads the events between the first and the last site. Null where no site is in the trace.
std::shared_ptr<hazard const> build_hazard(store::trace const& trace, hazard_request const& asked,
                                           watch const& tell = {});

}  // namespace lastref::gui::scenes
