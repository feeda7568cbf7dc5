// Which captured call comes after which in the graph that its capture makes: the calls of one stream, and an event's
// record and what waits for it. A capture's streams give nothing to each other beside; the host and the legacy stream
// take no part.
//
// Where a capture's edges are not only those, all of it counts as ordered: dependencies that the program set itself
// (cuStreamUpdateCaptureDependencies), external events, semaphores and words in memory.
#pragma once

#include "analyzer/timeline/order.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace lastref::timeline {

class captured_order : public model::observer {
  public:
    void on_event(model::process_state const& process, model::event const& e) override;

    // The capture that a stream takes part in, by a number that is never used again; 0 for none.
    std::uint32_t capture_of(model::stream_identity const& stream) const;

    // The capture that ended with the present event; 0 for none.
    std::uint32_t ended() const { return ended_; }

    // What the event adds to its stream's capture. Points of another capture than `later`'s mean nothing here.
    point work(model::event const& e) const;
    bool before(point const& earlier, model::stream_identity const& later) const;

  private:
    struct stream_state {
        std::uint32_t number = 0;
        std::uint32_t capture = 0;
        clock after;  // what it waited for
    };
    struct record {
        std::uint32_t capture = 0;
        std::shared_ptr<clock const> what;
    };

    void begin(model::event const& e);
    void end(model::event const& e);
    void recorded(model::event const& e);
    void waited(model::event const& e);

    std::uint32_t last_stream_ = 0;
    std::uint32_t last_capture_ = 0;
    std::uint32_t ended_ = 0;
    std::unordered_map<model::stream_identity, stream_state, model::hash_stream> streams_;
    std::unordered_map<model::object_id, record> records_;  // events, of open captures
    std::unordered_set<std::uint32_t> doubtful_;
};

}  // namespace lastref::timeline
