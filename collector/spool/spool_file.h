// A spool file as the drain sees it: mapped, and checked before anything in it is believed.
//
// The file was written by another process that may have been killed at any instant, may lie on a disk that was full,
// may have been cut or altered. So every size and index that comes out of it is checked here against what the file
// really holds, and nothing in this library crashes or reads outside the mapping, whatever the bytes are. One thing
// cannot be checked ahead: that nobody cuts the file while it is mapped. Spools lie in a folder of mode 0700, and
// neither side ever cuts one.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/spool/free_list.h"
#include "collector/spool/reading_places.h"
#include "schema/spool.h"

namespace lastref::spool {

enum class access {
    read_only,   // a spool whose process is gone: nothing is written into it
    read_write,  // the drain of a live process: segments are recycled, the file grows ahead of the program
};

enum class open_failure {
    none,
    missing,        // no such file, or no permission
    locked,         // another drain owns it
    not_a_spool,    // too short or without the magic
    not_ready,      // the program has not finished the header yet, or died before it had
    wrong_version,  // another format_version, layout or clock
};

// What the header says that never changes once it is ready.
struct spool_identity {
    std::uint32_t pid;
    std::uint32_t parent_pid;
    std::uint64_t process_start;  // field 22 of /proc/PID/stat
    std::uint64_t wall_clock_ns;
    std::uint64_t first_ticks;
    std::uint64_t first_monotonic_ns;
    std::uint64_t table_hash;
    std::uint64_t max_bytes;
    clock_kind clock;
    std::uint32_t stacks;  // 0 off, 1 create, 2 all
};

// Owns the mapping, the descriptor and the drain's lock on the file (flock, held until destruction). Movable. One
// thread, but for what says otherwise.
class spool_file {
  public:
    struct result;
    static result open(std::filesystem::path const& path, access how);

    spool_file(spool_file&& other) noexcept;
    spool_file& operator=(spool_file&& other) noexcept;
    ~spool_file();

    std::filesystem::path const& path() const { return path_; }
    spool_identity const& identity() const { return identity_; }
    bool writable() const { return how_ == access::read_write; }

    spool_header& header() const { return *header_at(base_); }
    // Segments that really lie in the file; takes in what has been added since it was opened.
    // Any thread.
    std::uint32_t segments();
    // How many the header promises beyond the file's end: a truncated file.
    std::uint32_t segments_missing();
    // nullptr where the index is not one of a segment in the file. Any thread.
    segment_header* segment(std::uint32_t index);
    std::uint32_t thread_slots_used() const;
    thread_slot& thread(std::uint32_t index) const { return *thread_slot_at(base_, index); }

    // For a writable spool only. Gives a segment back to the program, or keeps it for copies if it was made for them.
    // Any thread.
    void recycle_segment(std::uint32_t index);
    // About how many segments wait for the program in the free list.
    std::uint32_t free_segments() const;
    // Grows the file by a segment, touches its pages and puts it on the free list; false where disk or cap forbid it
    // and no segment for copies is unused. Any thread.
    bool add_free_segment();
    // A segment for a copy of one that the program has filled: never one that the program uses. no_segment where disk
    // or cap forbid it. Any thread.
    std::uint32_t take_cold_segment();
    // Shared by who reads the chains and who moves their segments.
    reading_places& reading() const { return shared_->reading; }

    // To find the file in another process's /proc/PID/maps.
    std::uint64_t inode() const { return inode_; }

  private:
    spool_file() = default;
    open_failure map(int fd);
    std::uint32_t grow_by_one();
    std::uint32_t reuse_cold_segment(bool for_a_copy);
    struct shared {
        reading_places reading;
        std::atomic<std::size_t> file_size{0};
        std::mutex mutex;           // of what follows
        std::vector<bool> is_cold;  // by index: made for copies
        std::vector<std::uint32_t> free_cold;
    };

    open_failure check_header();

    std::filesystem::path path_;
    access how_ = access::read_only;
    int fd_ = -1;
    void* base_ = nullptr;
    std::size_t mapped_ = 0;
    std::uint64_t inode_ = 0;
    spool_identity identity_{};
    std::unique_ptr<shared> shared_ = std::make_unique<shared>();  // between threads
};

struct spool_file::result {
    std::optional<spool_file> file;  // empty on failure
    open_failure failure = open_failure::none;
    std::string reason;  // a sentence's second half: "is not a spool of lastref"
};

}  // namespace lastref::spool
