// The timeline as data: a track for each thread, stream and the rest, and on each its calls as spans.
//
// It is meant for tens of millions of calls. A span takes 20 bytes and 4 more for each track that it is on; summaries
// over 16 spans, 256 spans and so on are made once, so that what a picture costs depends on its width and not on how
// many calls it shows.
#pragma once

#include "analyzer/curves/marks.h"
#include "analyzer/model/object.h"
#include "analyzer/store/rows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lastref::gui::scenes {

using store::time_ns;

struct kept_access;  // reads and writes scenes that are kept in a file

// What a call does, as its colour tells it.
enum class style : std::uint8_t {
    allocate,
    release,    // free and destroy
    reference,  // retain and release of user objects
    graph,      // building, instantiating, capturing
    launch,
    work,  // copies, sets, events
    synchronize,
    callback,
    range,
    other,
    count
};
char const* name_of(style s);
style style_of(event_kind kind, store::verb verb);

// One call on the timeline. Lengths are kept to a tenth of a percent: enough to draw.
class span {
  public:
    span(time_ns begin, std::int64_t duration, std::uint32_t event, std::uint32_t object, std::uint32_t api,
         bool failed);

    time_ns begin() const { return static_cast<time_ns>(std::uint64_t{begin_high_} << 32 | begin_low_); }
    time_ns length() const;  // 0 where none was taken, and for calls that had not returned
    bool open() const { return length_ == not_returned; }
    std::uint32_t event() const { return event_; }    // id, 0 where it does not fit; of a range, its index
    std::uint32_t object() const { return object_; }  // model::object_id, 0 for none
    std::uint32_t api() const { return bits_ & api_mask; }
    bool failed() const { return (bits_ & failed_bit) != 0; }
    int depth() const { return bits_ >> depth_shift; }
    void set_depth(int depth);

    static constexpr std::uint32_t unknown_api = 0xfff;
    static constexpr int deepest = 7;

  private:
    static constexpr std::uint16_t not_returned = 0xffff;
    static constexpr std::uint16_t api_mask = 0xfff, failed_bit = 0x1000;
    static constexpr int depth_shift = 13;

    std::uint32_t begin_low_, begin_high_;  // apart, so that a span needs no padding
    std::uint32_t event_;
    std::uint32_t object_;
    std::uint16_t length_;  // six bits of exponent, ten of mantissa
    std::uint16_t bits_;
};
static_assert(sizeof(span) == 20);

enum class track_kind : std::uint8_t { ranges, thread, callbacks, legacy_stream, per_thread_stream, created_stream };

// A summary over up to `fanout` spans or summaries.
struct summary {
    time_ns begin = 0;  // of the first: kept here, since looking it up costs more than all the rest
    time_ns end = 0;    // the latest end
    float busy = 0;     // nanoseconds in the calls below
    style most = style::other;
    std::uint8_t depth = 0;
    bool failed = false;
};

struct track {
    track_kind kind = track_kind::thread;
    std::size_t group = 0;
    std::string name;  // "main thread", "per-thread default stream of worker"
    store::thread_id thread;
    store::handle stream = 0;                  // of a created one
    int depth = 1;                             // rows that nested calls need
    std::vector<std::uint32_t> entries;        // indices of spans, by begin
    std::vector<std::vector<summary>> levels;  // finest first
};

struct group {  // a process
    store::process_id process;
    std::string name;
    std::size_t first_track = 0;
    std::size_t tracks = 0;
};

using lastref::curves::mark;

// What a picture draws as one: a call, or several that are closer together than it can show.
struct block {
    time_ns begin = 0;
    time_ns end = 0;
    scenes::style style = style::other;
    std::uint8_t depth = 0;  // of a summary the deepest
    bool failed = false;     // any of them
    float busy = 1;          // share of the time that is in calls
    std::uint32_t calls = 1;
    std::uint32_t entry = 0;  // index in the track's entries, of the first
};

class call_timeline {
  public:
    static constexpr std::size_t fanout = 16;

    time_ns begin() const { return begin_; }
    time_ns end() const { return end_; }
    std::vector<group> const& groups() const { return groups_; }
    std::vector<track> const& tracks() const { return tracks_; }
    std::vector<mark> const& marks() const { return marks_; }
    std::vector<span> const& spans() const { return spans_; }
    std::vector<store::range> const& ranges() const { return ranges_; }

    span const& at(track const& t, std::uint32_t entry) const { return spans_[t.entries[entry]]; }
    time_ns end_of(span const& s) const { return s.open() ? end_ : s.begin() + s.length(); }
    style style_of(track const& t, span const& s) const;
    bool has(style s) const { return (styles_used_ >> static_cast<unsigned>(s) & 1U) != 0; }  // any call of it
    std::string const& name_of(track const& t, span const& s) const;  // entry point, or the range's name

    // Gives what is seen of a track between two times, in the order of begins, where nothing shorter than `resolution`
    // can be told apart. Returns how many spans and summaries were looked at.
    std::size_t visit(track const& t, time_ns from, time_ns to, time_ns resolution,
                      std::function<void(block const&)> const& take) const;

    // The call of a track at a time, give or take; the deepest, and a single one before many. `depth` < 0: any.
    std::optional<block> pick(track const& t, time_ns at, time_ns tolerance, int depth = -1) const;

    struct place {
        std::size_t track = 0;
        std::uint32_t entry = 0;
    };
    std::optional<place> find(std::uint32_t event) const;             // on its thread's track
    std::vector<std::uint32_t> spans_of(std::uint32_t object) const;  // in the order of events; looks at all spans

    std::size_t bytes() const;  // what it takes in memory

  private:
    friend class timeline_builder;
    friend struct kept_access;
    struct visitor;
    void sort(track& t) const;
    void nest(track& t);
    void summarize(track& t) const;
    summary summary_of(track const& t, std::uint32_t entry) const;

    std::vector<span> spans_;  // in the order of events, ranges last
    std::vector<track> tracks_;
    std::vector<group> groups_;
    std::vector<mark> marks_;
    std::vector<std::string> names_;  // of entry points
    std::vector<scenes::style> styles_;
    std::vector<store::range> ranges_;
    std::uint32_t styles_used_ = 0;  // a bit each
    time_ns begin_ = 0;
    time_ns end_ = 0;
};

}  // namespace lastref::gui::scenes
