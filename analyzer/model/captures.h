// Which streams are being captured: what a capturing stream is given becomes part of a graph instead of happening.
#pragma once

#include "analyzer/model/stream.h"

#include <cstdint>
#include <unordered_map>

namespace lastref::model {

class captures {
  public:
    void begin(stream_identity const& stream, store::handle into_graph);

    // Ends the capture that `stream` takes part in, with all its streams. Returns the graph that was captured into, 0
    // where the capture made its own.
    store::handle end(stream_identity const& stream);

    bool capturing(stream_identity const& stream) const { return streams_.contains(stream); }
    bool any() const { return !streams_.empty(); }

    // An event recorded by a capturing stream draws whichever stream waits for it into the capture.
    void recorded(object_id event, stream_identity const& stream);
    void waited(object_id event, stream_identity const& stream);

  private:
    struct capture {
        store::handle into_graph = 0;
    };
    std::uint32_t next_ = 1;
    std::unordered_map<std::uint32_t, capture> open_;
    std::unordered_map<stream_identity, std::uint32_t, hash_stream> streams_;
    std::unordered_map<object_id, std::uint32_t> events_;
};

}  // namespace lastref::model
