// Writes spools as the collector does, from records that a test makes up; with several threads at once, if need be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/preload/hooks/api_table.h"
#include "collector/spool/grow.h"
#include "schema/spool.h"

namespace lastref::test {

struct spool_options {
    std::uint32_t pid = 999'999'999;  // no such process: dead
    std::uint64_t process_start = 1;
    std::uint32_t parent_pid = 1;
    std::uint64_t first_ticks = 1'000'000'000;
    std::uint64_t first_ns = 1'000'000'000;
    std::uint64_t max_bytes = std::uint64_t{256} << 20;
    spool::clock_kind clock = spool::clock_kind::monotonic_ns;
    bool ready = true;
};

// This very process, as a spool names it: for spools that a live drain is to read.
spool_options options_of_this_process();

// Of the calling thread. A drain of a live process asks the system whether threads still exist.
std::uint32_t this_thread_id();

class spool_writer;

// One recorded thread. Used by one thread at a time; different ones in parallel.
class thread_writer {
  public:
    // A completed call; `call.begin`, `duration` and the like as given.
    void call(spool::call_record record);
    void open(spool::call_record record);
    void close(spool::call_record record);
    // Defines a stack in the segment and returns its number; the next call goes into the same segment.
    std::uint16_t stack(std::vector<std::uint64_t> const& frames, bool cut = false);
    void text(spool::text_kind kind, std::string_view bytes, std::size_t bytes_per_part = spool::text_capacity);
    void module(std::string_view path, std::uint64_t begin, std::uint64_t end, std::string_view build_id = "");
    void phase(spool::phase what, std::uint64_t at, std::uint32_t value = 0);
    void begin_range(std::uint64_t number, std::uint64_t at, std::string_view name);
    void end_range(std::uint64_t number, std::uint64_t at);
    // `said` has what is not in its texts.
    void nvtx(spool::nvtx_record said, std::uint64_t at, std::string_view domain = {}, std::string_view message = {});
    void python_frame(std::uint32_t number, std::string_view function, std::string_view file, std::int32_t line);
    void end();

    spool::thread_slot& slot();
    std::uint32_t index() const { return slot_; }
    std::uint32_t segment() const { return segment_; }
    std::uint64_t dropped = 0;

  private:
    friend class spool_writer;
    thread_writer(spool_writer& spool, std::uint32_t slot) : spool_(spool), slot_(slot) {}
    std::byte* reserve(std::uint32_t slots);
    void publish(std::uint32_t slots);
    bool next_segment();

    spool_writer& spool_;
    std::uint32_t slot_;
    std::uint32_t segment_ = spool::no_segment;
    std::uint32_t used_ = 0;
    std::uint32_t order_ = 0;
    std::uint16_t next_stack_ = 1;
};

class spool_writer {
  public:
    explicit spool_writer(std::filesystem::path path, spool_options const& options = {});
    ~spool_writer();
    spool_writer(spool_writer const&) = delete;

    // Any thread may ask.
    std::unique_ptr<thread_writer> thread(std::uint32_t tid);
    std::uint16_t context(std::uint64_t handle, std::uint32_t device, spool::context_kind kind);
    void end_clean() { header().ended.store(1); }

    spool::spool_header& header() { return *spool::header_at(base_); }
    spool::segment_header& segment(std::uint32_t index) { return *spool::segment_at(base_, index); }
    void* base() { return base_; }
    int fd() const { return fd_; }
    std::filesystem::path const& path() const { return path_; }

  private:
    friend class thread_writer;
    std::filesystem::path path_;
    spool_options options_;
    int fd_;
    void* base_;
};

// A call with every field that tests look at; ticks are ns after the spool's start.
struct call_facts {
    hooks::abi api;
    std::uint64_t begin;
    std::uint64_t duration = 10;
    std::uint64_t object = 0, other = 0, size = 0, extra = 0, stream = 0;
    std::uint16_t result = 0, context = 0, stack = 0;
    std::uint8_t flags = 0, depth = 0;
};
spool::call_record make_call(call_facts const& facts);

// A folder of its own that is gone at the end.
class temporary_folder {
  public:
    temporary_folder();
    ~temporary_folder();
    std::filesystem::path operator/(std::string const& name) const { return path_ / name; }
    std::filesystem::path const& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace lastref::test
