// The trace as a file: created with mode 0600, owned by one writer at a time, one file once it is finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "collector/drain/sqlite.h"

namespace lastref::drain {

inline constexpr std::int32_t trace_application_id = 0x4c524546;  // "LREF"
inline constexpr std::int32_t trace_version = 1;

// Why a trace could not be created or opened; `what()` is a whole sentence for people.
class trace_error : public std::runtime_error {
  public:
    enum class kind {
        usage,       // exists already, in use, not writable
        unreadable,  // damaged, foreign, too new
    };
    trace_error(kind why, std::string const& what) : std::runtime_error(what), why_(why) {}
    kind why() const { return why_; }

  private:
    kind why_;
};

// The right to write a trace: the file exists, and a lock (flock) on it is held. It survives fork, so the recorder can
// find out that a trace can't be written before it starts the program, and leave the writing to a child.
//
// Note for who changes this: SQLite's own locks are POSIX locks, which a process loses when it closes any descriptor of
// the file. So the claim must outlive the database in the process that writes.
class trace_claim {
  public:
    enum class existing { refuse, replace, continue_it };
    // Throws trace_error.
    trace_claim(std::filesystem::path path, existing what_then);
    trace_claim(trace_claim&& other) noexcept;
    trace_claim& operator=(trace_claim&&) = delete;
    ~trace_claim();

    // Can it be had? Empty where another process is writing the trace.
    static std::optional<trace_claim> try_existing(std::filesystem::path const& path);

    std::filesystem::path const& path() const { return path_; }
    bool is_new() const { return is_new_; }
    // For a trace that nothing was written into: removes the file again.
    void abandon();

  private:
    trace_claim(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
    void open_existing();
    void create();

    std::filesystem::path path_;
    int fd_ = -1;
    bool is_new_ = false;
};

// Opens the database behind a claim; makes the schema in a new one and checks that of an old one. Throws trace_error.
class trace_file {
  public:
    explicit trace_file(trace_claim& claim);

    database& db() { return *db_; }
    std::int64_t start_monotonic_ns() const { return start_monotonic_ns_; }

    std::string meta(std::string const& key);
    void set_meta(std::string const& key, std::string const& value);
    void set_meta(std::string const& key, std::int64_t value);
    void add_note(std::string const& text);
    void remove_meta(std::string const& key);

    // Sets the times that all others count from, in a trace that has none yet.
    void start_at(std::int64_t monotonic_ns, std::int64_t wall_clock_ns);

    // Back to a single file that any reader may open read-only. Where a reader holds the trace open, its log stays
    // beside it.
    void close_log();

  private:
    void create_schema();
    void check_schema(std::filesystem::path const& path);
    std::int64_t pragma(char const* name);

    std::unique_ptr<database> db_;
    std::int64_t start_monotonic_ns_ = -1;
};

}  // namespace lastref::drain
