// What was made of a trace, kept in the user's cache folder: opening the same trace again then takes as long as reading
// that. Never beside the trace and never in it: the folder may not be ours to write, and what others can write is not
// believed.
#pragma once

#include "gui/loader/load.h"

#include <atomic>
#include <filesystem>

namespace lastref::gui {

class summary_cache {
  public:
    // Below so many events, reading the trace is quick enough.
    static constexpr std::uint64_t least_events = 200'000;
    static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;  // of all traces; the oldest go

    explicit summary_cache(std::filesystem::path folder, std::uint64_t least = least_events)
        : folder_(std::move(folder)), least_(least) {}

    // As load(), but from what was kept, where that is of this state of this file, these suppressions and this program.
    trace_pointer load(load_request const& request, load_watch const& watch) const;

    // For a background job. Only of complete traces: others grow. What cannot be kept is not; no word about it.
    void keep(loaded_trace const& trace, std::atomic<bool> const& stopped) const;

    std::filesystem::path file_of(std::string const& trace) const;

  private:
    trace_pointer find(load_request const& request, std::string const& key, load_watch const& watch) const;
    void write(loaded_trace const& trace, std::filesystem::path const& to, std::atomic<bool> const& stopped) const;
    void make_room() const;

    std::filesystem::path folder_;
    std::uint64_t least_;
};

// The user's cache folder of this program.
summary_cache default_cache();

// load() by way of that.
trace_pointer load_or_find(load_request const& request, load_watch const& watch);

}  // namespace lastref::gui
