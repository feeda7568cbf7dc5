// Writes small traces for tests, in words:
//
//     trace_builder t;
//     auto main = t.thread("main");
//     main.use(t.context());
//     main.call("cuMemAllocAsync_ptsz", {.object = 0x7000, .size = 1 << 20, .stack = {"make_buffer", "main"}});
//
// Each call ends one millisecond after the one before it. Frames are functions of the program itself; "libx.so!f" is a
// function of an installed library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/symbols/source.h"

struct sqlite3;

namespace lastref::test {

struct call {
    std::uint64_t stream = 0;
    std::uint64_t object = 0;
    std::uint64_t other = 0;
    std::uint64_t size = 0;
    std::uint64_t extra = 0;
    std::optional<std::int64_t> result = 0;              // none: had not returned
    std::optional<std::int64_t> context = std::nullopt;  // row id; else the thread's
    int flags = 0;
    std::int64_t lasts_ms = 0;  // began so long before its row's place: calls that sort by their end
    // Innermost first; else the thread's. "f" is of the program, "libx.so!f" of a library, "/app/t.py:12:f" of Python.
    std::vector<std::string> stack = {};
};

// What an NVTX range has beside its name.
struct said {
    std::string domain = {};  // empty: the default one
    std::string kind = "push";
};

class trace_builder;

class thread_builder {
  public:
    // Adds a row and returns its id.
    std::int64_t call(std::string_view symbol, test::call const& what = {});

    // Destructor of a user object, run on this thread.
    std::int64_t destructor(std::uint64_t object, std::uint64_t payload, int flags = 0);

    thread_builder& use(std::int64_t context);           // current from now on; 0 for none
    thread_builder& in(std::vector<std::string> stack);  // the stack of calls that name none

    std::int64_t id() const { return id_; }

  private:
    friend class trace_builder;
    thread_builder(trace_builder& owner, std::int64_t id, std::int64_t process)
        : owner_(owner), id_(id), process_(process) {}
    trace_builder& owner_;
    std::int64_t id_;
    std::int64_t process_;
    std::int64_t context_ = 0;
    std::vector<std::string> stack_;
};

class trace_builder {
  public:
    trace_builder();  // in a folder of its own that goes with the builder
    ~trace_builder();
    trace_builder(trace_builder const&) = delete;

    // A further process; threads and contexts made afterwards belong to it. The first is "/build/demo", pid 4711.
    std::int64_t process(std::string const& executable, std::int64_t pid);
    thread_builder thread(std::string const& name);  // the first of each process is its main thread
    std::int64_t context(std::uint64_t handle = 0xc0, std::string const& kind = "created", int device = 0);

    void ends(std::string const& how, std::optional<int> status = 0, std::optional<int> signal = {});
    void phase(std::string const& what);
    // Of the events behind `before`, up to `last`; none: it did not end.
    void range(std::string const& name, std::int64_t before, std::optional<std::int64_t> last);
    // A range of NVTX's, of the events behind `before` up to `last`, and begun and ended between events.
    void nvtx_range(thread_builder const& thread, std::string const& name, std::int64_t before,
                    std::optional<std::int64_t> last, said const& more = {});
    // Given behind the newest event.
    void nvtx_name(std::string const& resource, std::uint64_t handle, std::string const& name);
    void loss(std::string const& name, std::int64_t count);
    void note(std::string const& text);
    void state(std::string const& text);  // "complete" unless told otherwise
    void wait_ms(std::int64_t milliseconds) { clock_ += milliseconds * 1'000'000; }

    void sql(std::string const& statement);  // for what the words above do not cover

    // Closes the file and returns its path; nothing may be added afterwards.
    std::filesystem::path finish();

    // Names for the frames of this trace, as "function" at "function.cpp:10".
    std::unique_ptr<symbols::source> names() const;

  private:
    friend class thread_builder;
    std::int64_t add_event(thread_builder const& thread, std::string_view symbol, call const& what);
    std::int64_t stack(std::int64_t process, std::vector<std::string> const& functions);
    std::int64_t frame(std::int64_t process, std::string const& function);
    std::int64_t python_frame(std::int64_t process, std::string const& place);
    std::int64_t module(std::int64_t process, std::string const& path);
    void schema();
    void tables();

    std::filesystem::path folder_;
    std::filesystem::path path_;
    sqlite3* db_ = nullptr;
    std::int64_t clock_ = 1'000'000;
    std::int64_t process_ = 0;
    std::map<std::int64_t, std::string> executables_;
    bool has_main_ = false;
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> frames_, modules_;
    std::map<std::pair<std::int64_t, std::vector<std::string>>, std::int64_t> stacks_;
    std::map<std::string, std::uint64_t> offsets_;
    std::map<std::uint64_t, std::string> functions_;  // by offset in their file
};

}  // namespace lastref::test
