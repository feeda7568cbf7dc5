// What the detectors say: the one shape that every report format is rendered from. Texts are plain sentences; names
// that came from the program are in them as they were, and it is the renderer's duty to escape them.
#pragma once

#include "analyzer/findings/rules.h"
#include "analyzer/model/object.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lastref::findings {

// A range that the program marked through NVTX.
struct named_range {
    std::string domain;  // empty: the default one
    std::string name;
    bool pushed = true;  // on the call's own thread; else it was open in the process

    friend bool operator==(named_range const&, named_range const&) = default;
};

// A call that the finding is about. `role` is what it did: "allocated", "freed", "created", "instantiated".
struct site {
    std::string role;
    model::origin call;
    std::string entry_point;  // ABI symbol as called
    std::string note;         // what matters there: "per-thread default stream, no current context"
    std::string thread;       // for people: "the main thread"
    // What the program calls them; empty where it does not.
    std::string stream_name = {};
    std::string context_name = {};
    std::vector<named_range> ranges = {};  // that the call fell into, outermost first (during.h)
};

struct object_note {
    model::object_kind kind = model::object_kind::count;
    store::handle handle = 0;
    std::uint64_t bytes = 0;
    store::event_id created;
    std::string name = {};  // that the program gave it; may be empty
};

// What follows from the finding, and would have been a finding of its own without it.
struct consequence {
    rule from = rule::count;
    std::string text;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::vector<site> sites;
};

struct finding {
    findings::rule rule = findings::rule::count;
    findings::severity severity = severity::note;
    findings::confidence confidence = confidence::possible;
    std::string confidence_reason;
    std::string title;
    std::vector<std::string> what;     // what happened, a sentence each
    std::vector<std::string> holders;  // user-object-leak: who still holds references
    std::string why;                   // why this matters
    std::string advice;                // what to do
    store::process_id process;         // where it was seen first
    std::uint64_t processes = 1;       // in how many: ranks of one job have the same findings
    std::vector<object_note> objects;  // the first few of `count`
    std::vector<site> sites;
    store::time_ns first_seen = 0;
    store::time_ns last_seen = 0;
    std::uint64_t count = 1;
    std::uint64_t bytes = 0;
    std::string fingerprint;
    std::vector<consequence> consequences;
};

inline constexpr std::size_t most_objects = 8;  // listed per finding

// Findings as they are made, and which object each explains: an object is explained once, by its cause.
class collection {
  public:
    // A finding with the fingerprint of an earlier one, of another process, is counted there. Returns its index.
    std::size_t add(finding made);
    finding& at(std::size_t index) { return findings_[index]; }

    void explain(model::object_id object, std::size_t finding) { explained_.emplace(object, finding); }
    bool explained(model::object_id object) const { return explained_.contains(object); }

    // A rule will tell of the object, and others leave it alone; for what is decided before findings are made.
    void claim(model::object_id object) { claimed_.insert(object); }
    void give_up(model::object_id object) { claimed_.erase(object); }
    bool claimed(model::object_id object) const { return claimed_.contains(object); }

    // The finding that explains the object.
    std::optional<std::size_t> explanation(model::object_id object) const {
        auto const found = explained_.find(object);
        return found == explained_.end() ? std::nullopt : std::optional(found->second);
    }

    // Most important first; the collection is empty afterwards.
    std::vector<finding> take();

  private:
    std::vector<finding> findings_;
    std::unordered_map<std::string, std::size_t> by_fingerprint_;
    std::unordered_map<model::object_id, std::size_t> explained_;
    std::unordered_set<model::object_id> claimed_;
};

}  // namespace lastref::findings
