// Quantities over time as charts, and the times from callback to clean-up as a histogram.
#pragma once

#include "analyzer/curves/marks.h"
#include "analyzer/curves/series.h"
#include "analyzer/curves/units.h"
#include "analyzer/detectors/payload_links.h"
#include "analyzer/model/process_state.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lastref::curves {

struct chart {
    std::string title;
    curves::unit unit = unit::count;
    std::vector<series> lines;
    std::vector<mark> marks;
    time_ns begin = 0, end = 0;

    std::uint64_t greatest() const;
};

// Lengths of time in bins of a third of a decade each: 1, 2, 5, 10, …
struct histogram {
    struct bin {
        time_ns from = 0, to = 0;  // [from, to)
        std::uint64_t count = 0;
    };
    std::string title;
    std::vector<bin> bins;  // without gaps from the first that holds any to the last
    std::uint64_t count = 0;
    time_ns median = 0, longest = 0;  // exact
    bool inferred = false;            // which memory belongs to which payload was guessed for some
};
histogram histogram_of(std::string title, std::vector<time_ns> lengths);

// What deferred queues said of themselves (docs/annotations.md).
struct queue_marks {
    std::uint64_t callbacks = 0;  // of payloads: these are the driver's, not the queues'
    std::uint64_t enqueued = 0, asked = 0, refused = 0, declined = 0, drains = 0, cleaned = 0, stopped = 0;

    bool any() const { return enqueued + asked + drains + cleaned + stopped > 0; }
};

struct all_curves {
    chart payloads;            // user objects whose destructor has not run
    chart memory;              // bytes: of the device, of the host
    std::vector<chart> pools;  // used, reserved, threshold; of the greatest ones
    std::size_t pools_left_out = 0;
    std::vector<chart> graph_memory;  // by device, as the program asked for it
    chart backlog;                    // payloads whose destructor ran and whose memory is not freed yet
    chart backlog_bytes;
    histogram clean_up;  // from destructor to free
    queue_marks marks;
};

// To be told of events after `links`.
class curves_builder : public model::observer {
  public:
    curves_builder(store::trace const& trace, detectors::payload_links const& links) : trace_(trace), links_(links) {}

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;

    std::shared_ptr<all_curves const> take();  // after the pass; once

  private:
    static constexpr std::size_t most_pools = 16;

    // A quantity while it is counted.
    struct counter {
        series line;
        std::uint64_t value = 0;
        void change(time_ns at, std::int64_t by);
    };
    struct pool_lines {
        counter used{series("used")};
        series reserved{"reserved"};
        series threshold{"release threshold"};
        series reported{"used, as the driver says"};
    };
    struct waiting {
        time_ns since = 0;
        std::uint64_t bytes = 0;
    };
    using pool_key = std::pair<store::process_id, store::handle>;

    void made(model::event const& e);
    void destructor(model::event const& e);
    void marked(model::event const& e);
    void pool_known(model::event const& e);
    void pool_read(model::event const& e);
    void graph_memory_read(model::event const& e);
    pool_lines& pool_of(store::process_id process, store::handle handle);
    chart chart_of(std::string title, unit of, std::vector<series> lines) const;
    void take_pools(all_curves& out);

    store::trace const& trace_;
    detectors::payload_links const& links_;
    counter payloads_{series("payloads")};
    counter device_{series("on the device")};
    counter host_{series("on the host, pinned or registered")};
    counter backlog_{series("waiting for clean-up")};
    counter backlog_bytes_{series("waiting for clean-up")};
    std::map<pool_key, pool_lines> pools_;
    std::map<pool_key, store::handle> pool_of_memory_;            // parent as given → pool that it is counted in
    std::unordered_map<model::object_id, pool_key> memory_pool_;  // of live memory
    std::map<pool_key, std::pair<series, series>> graph_memory_;  // used and reserved, by device
    std::unordered_map<model::object_id, waiting> waiting_;
    std::vector<time_ns> clean_ups_;
    queue_marks marks_;
    bool inferred_ = false;
    time_ns begin_ = INT64_MAX, end_ = 0;
};

}  // namespace lastref::curves
