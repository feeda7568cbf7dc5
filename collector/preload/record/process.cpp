#include "collector/preload/record/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "collector/nvtx/injection.h"
#include "collector/nvtx/record.h"
#include "collector/preload/arch/clock.h"
#include "collector/preload/driver/bound_past.h"
#include "collector/preload/driver/dlsym.h"
#include "collector/preload/driver/driver.h"
#include "collector/preload/driver/weak.h"
#include "collector/preload/hooks/api_table.h"
#include "collector/preload/python/interpreter_phases.h"
#include "collector/preload/python/watch.h"
#include "collector/preload/record/confine.h"
#include "collector/preload/record/drain_start.h"
#include "collector/preload/record/module.h"
#include "collector/preload/record/python_frames.h"
#include "collector/preload/record/range.h"
#include "collector/preload/record/ring.h"
#include "collector/preload/record/settings.h"
#include "collector/preload/record/stack.h"
#include "collector/spool/grow.h"

extern "C" char** environ;

namespace lastref::preload::process {

shared the;

namespace {

char spool_folder[4096];  // kept for forked children, which spool beside their parent
char spool_path[4200];
setting_errors complaints;
std::uint64_t fork_generation = 1;
std::uint64_t* fork_page = nullptr;
std::atomic<bool> introduced{false};
std::atomic<bool> initialized{false};
std::atomic<bool> expecting_driver{false};
// After the file could not grow: that many segments are not asked for, so that a full disk costs no system calls.
std::atomic<int> growth_pause{0};
pid_t own_pid = 0;  // of the process whose memory this is; a child of vfork shares it

// What a process that confines itself gets ahead of time: 16 MiB, a quarter of a million records.
constexpr std::uint32_t spare_segments = 256;
constexpr std::uint32_t spare_thread_slots = 1024;

// Has this process used a segment before? One bit each; 4 GiB of spool are 65536 segments.
std::atomic<std::uint64_t> used_before[1024];

// --- small reads of /proc
// ---------------------------------------------------------------------------------------------------

std::size_t read_file(char const* path, char* buffer, std::size_t size) {
    int const fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    std::size_t length = 0;
    for (;;) {
        ssize_t const part = read(fd, buffer + length, size - length);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) break;
        length += static_cast<std::size_t>(part);
    }
    close(fd);
    return length;
}

// Field 22 of /proc/self/stat; the second field is the command in parentheses and may hold anything.
std::uint64_t start_ticks() {
    char text[1024];
    std::size_t const length = read_file("/proc/self/stat", text, sizeof text - 1);
    text[length] = 0;
    char const* at = strrchr(text, ')');
    if (at == nullptr) return 0;
    for (int field = 2; field < 22 && at != nullptr; ++field) at = strchr(at + 1, ' ');
    return at != nullptr ? strtoull(at + 1, nullptr, 10) : 0;
}

// --- creating the spool
// -----------------------------------------------------------------------------------------------------

bool make_fork_page() {
    if (fork_page != nullptr) return true;
    void* const page = mmap(nullptr, spool::page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    madvise(page, spool::page, MADV_WIPEONFORK);  // before Linux 4.14 the fork handler alone must do
    fork_page = static_cast<std::uint64_t*>(page);
    the.fork_mark = fork_page;
    return true;
}

// The name says whose it is. A process that was replaced by exec keeps pid and start, and the drain may have removed
// its former spool by now, so the instant is part of the name too: a name is never used twice.
int open_spool_file(std::uint64_t start) {
    line path;
    path << spool_folder << "/" << static_cast<std::uint64_t>(getpid()) << "-" << start << "-" << monotonic_ns()
         << ".spool";
    copy_text(spool_path, path.text());
    return open(spool_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

void* map_spool(int fd, std::uint64_t& bytes) {
    if (bytes < spool::header_bytes + spool::thread_slots_bytes + spool::segment_size) {
        errno = EFBIG;
        return MAP_FAILED;
    }
    int const failed = posix_fallocate(fd, 0, spool::header_bytes);
    if (failed != 0 && failed != EOPNOTSUPP && failed != EINVAL) return MAP_FAILED;
    if (ftruncate(fd, static_cast<off_t>(spool::header_bytes + spool::thread_slots_bytes)) != 0) return MAP_FAILED;
    // The whole spool is mapped once, beyond the end of the file: growing it then needs no new mapping. Under a limit
    // on address space a smaller spool must do.
    errno = EFBIG;
    for (; bytes >= (std::uint64_t{4} << 20); bytes /= 2) {
        void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (base != MAP_FAILED) return base;
    }
    return MAP_FAILED;
}

void fill_header(spool::spool_header& header, std::uint64_t start, std::uint64_t max_bytes) {
    tick_time const now = clock_sample();
    timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    header.magic = spool::file_magic;
    header.version = spool::format_version;
    header.header_size = spool::header_bytes;
    header.thread_slots_size = spool::thread_slots_bytes;
    header.segment_bytes = spool::segment_size;
    constexpr std::uint64_t table = hooks::table_hash();
    header.table_hash = table;
    header.pid = static_cast<std::uint32_t>(getpid());
    header.parent_pid = static_cast<std::uint32_t>(getppid());
    header.process_start = start;
    header.wall_clock_ns =
        static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(wall.tv_nsec);
    header.clock = clock_in_use;
    header.stacks = static_cast<std::uint32_t>(the.options.stacks);
    header.first_clock.ticks.store(now.ticks, std::memory_order_relaxed);
    header.first_clock.monotonic_ns.store(now.ns, std::memory_order_relaxed);
    header.last_clock.ticks.store(now.ticks, std::memory_order_relaxed);
    header.last_clock.monotonic_ns.store(now.ns, std::memory_order_relaxed);
    header.max_bytes = max_bytes;
    header.free_list.store(spool::empty_free_list, std::memory_order_relaxed);
    header.contexts_used.store(1, std::memory_order_relaxed);
    header.ready.store(1, std::memory_order_release);
}

bool create_spool() {
    std::uint64_t const start = start_ticks();
    int const fd = open_spool_file(start);
    if (fd < 0) return false;
    std::uint64_t bytes = the.options.spool_max;
    // Growing a file beyond this limit would not only fail but send SIGXFSZ, which ends the program.
    rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
        bytes = limit.rlim_cur / spool::page * spool::page;
    void* const base = map_spool(fd, bytes);
    close(fd);
    if (base == MAP_FAILED) {
        unlink(spool_path);
        return false;
    }
    madvise(base, bytes, MADV_DONTDUMP);
    madvise(base, bytes, MADV_DONTFORK);
    the.base = static_cast<std::byte*>(base);
    the.header = static_cast<spool::spool_header*>(base);
    the.max_segments =
        static_cast<std::uint32_t>((bytes - spool::header_bytes - spool::thread_slots_bytes) / spool::segment_size);
    fill_header(*the.header, start, bytes);
    return true;
}

// A folder of our own choice goes with its drain. A daemon makes its first call when that of its parents has ended
// already: it gets a drain of its own.
bool create_spool_somewhere() {
    bool const inherited = spool_folder[0] != 0;
    if (inherited && create_spool()) return true;
    if (inherited && (errno != ENOENT || getenv("LASTREF_SPOOL_DIR") != nullptr)) return false;
    line folder;
    spool_folder[0] = 0;
    if (choose_spool_folder(folder)) copy_text(spool_folder, folder.text());
    return create_spool();
}

bool forbidden() {
    char const* const value = getenv("LASTREF_DISABLE");
    return getauxval(AT_SECURE) != 0 || (value != nullptr && strcmp(value, "1") == 0);
}

bool start() {
    if (forbidden() || confined() || !make_fork_page()) return false;
    *fork_page = fork_generation;
    clock_in_use = arch::counter_is_constant() ? spool::clock_kind::tsc : spool::clock_kind::monotonic_ns;
    complaints.count = 0;
    the.options = read_settings(complaints);
    for (int i = 0; i < complaints.count; ++i) say(complaints.text[i]);
    if (create_spool_somewhere()) {
        rings::prepare();
        stacks::prepare();
        return true;
    }
    line message;
    char reason[128];
    message << "not recording process " << static_cast<std::uint64_t>(getpid()) << ": the spool cannot be made in "
            << (spool_folder[0] != 0 ? spool_folder : "any folder") << ": " << strerror_r(errno, reason, sizeof reason);
    say(message.text());
    return false;
}

// --- what the trace says of the process
// -------------------------------------------------------------------------------------

// The program itself and how many arguments it has, as a command line. A title that the program gave itself may hold
// anything, so the program is named by its file.
std::size_t without_arguments(char* buffer, std::size_t size, std::size_t length) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < length; ++i) count += buffer[i] == 0 ? 1 : 0;
    ssize_t const file = readlink("/proc/self/exe", buffer, size);
    std::size_t at = file > 0 ? static_cast<std::size_t>(file) : 0;
    if (count < 2) return at;
    line rest;
    rest << "[" << count - 1 << (count == 2 ? " argument left out]" : " arguments left out]");
    if (at + 1 + strlen(rest.text()) > size) return at;
    buffer[at++] = 0;
    memcpy(buffer + at, rest.text(), strlen(rest.text()));
    return at + strlen(rest.text());
}

void write_texts(thread_ring& r) {
    static char buffer[32768];
    auto const text = [&r](spool::text_kind kind, std::size_t length) { rings::write_text(r, kind, buffer, length); };
    if (ssize_t const length = readlink("/proc/self/exe", buffer, sizeof buffer); length > 0)
        text(spool::text_kind::executable, static_cast<std::size_t>(length));
    std::size_t const given = read_file("/proc/self/cmdline", buffer, sizeof buffer);
    text(spool::text_kind::command_line,
         the.options.arguments ? given : without_arguments(buffer, sizeof buffer, given));
    if (getcwd(buffer, sizeof buffer) != nullptr) text(spool::text_kind::working_directory, strlen(buffer));
    rings::write_text(r, spool::text_kind::driver, driver::path(), strlen(driver::path()));
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (strncmp(*variable, "CUDA_", 5) == 0 || strncmp(*variable, "LASTREF_", 8) == 0)
            rings::write_text(r, spool::text_kind::environment, *variable, strnlen(*variable, sizeof buffer));
    }
    for (int i = 0; i < complaints.count; ++i)
        rings::write_text(r, spool::text_kind::setting_error, complaints.text[i], strlen(complaints.text[i]));
}

// --- fork and exit
// ----------------------------------------------------------------------------------------------------------

void forget_parent() {
    own_pid = getpid();
    rings::abandon();
    the.base = nullptr;  // not mapped in the child (MADV_DONTFORK)
    the.header = nullptr;
    the.exit_flags.store(0, std::memory_order_relaxed);
    modules::forget_all();
    python_frames::forget_all();
    ranges::forget_parent();
    nvtx::forget_parent();
    cpython::forget_parent();
    introduced.store(false, std::memory_order_relaxed);
    initialized.store(false, std::memory_order_relaxed);
    growth_pause.store(0, std::memory_order_relaxed);
    for (auto& bits : used_before) bits.store(0, std::memory_order_relaxed);
    if (fork_page != nullptr) *fork_page = ++fork_generation;
    if (the.current.load(std::memory_order_relaxed) != state::off)
        the.current.store(state::idle, std::memory_order_release);
}

bool recording() {
    return fork_page != nullptr && the.current.load(std::memory_order_acquire) == state::recording &&
           *fork_page == fork_generation;
}

// A child of a confined process can make no spool of its own.
void note_child() {
    if (confined() && recording()) count(spool::loss::fork_unrecorded);
}

void take_last_clock() {
    tick_time const now = clock_sample();
    the.header->last_clock.ticks.store(now.ticks, std::memory_order_relaxed);
    the.header->last_clock.monotonic_ns.store(now.ns, std::memory_order_relaxed);
}

// An interpreter that is a program of its own ends just before exit handlers run.
void note_interpreter() {
    if (the.has_interpreter.load(std::memory_order_relaxed)) cpython::note_phase();
}

// Handlers run in reverse order of registration: this one was registered right after the driver's, so it runs before
// it.
void at_exit_before_driver() {
    if (!recording()) return;
    note_interpreter();
    driver::count_bound_past();
    rings::write_phase(spool::phase::exit_begin);
    the.exit_flags.fetch_or(spool::flag_after_exit, std::memory_order_relaxed);
    take_last_clock();
}

// Registered right before the driver's, so it runs after it.
void at_exit_after_driver() {
    if (!recording() || !initialized.load(std::memory_order_relaxed)) return;
    rings::write_phase(spool::phase::driver_torn_down);
    the.exit_flags.fetch_or(spool::flag_after_exit | spool::flag_after_teardown, std::memory_order_relaxed);
    take_last_clock();
}

[[gnu::constructor]] void loaded() {
    lastref_find_next_dlsym();
    lastref_find_next_confining();
    own_pid = getpid();
    driver::restore_weak_references();
    rings::prepare();
    pthread_atfork(nullptr, note_child, forget_parent);
    if (!forbidden()) {
        nvtx::prepare();
        cpython::prepare();
    }
}

[[gnu::destructor]] void unloaded() {
    if (!recording()) return;
    note_interpreter();
    rings::write_phase(spool::phase::end);
    take_last_clock();
    the.header->ended.store(1, std::memory_order_release);
}

}  // namespace

bool in_forked_child() {
    return fork_page != nullptr && *fork_page != fork_generation;
}

bool ensure_recording() {
    if (in_forked_child()) forget_parent();
    for (;;) {
        state current = the.current.load(std::memory_order_acquire);
        if (current == state::recording) return true;
        if (current == state::off) return false;
        if (current == state::starting) {  // only threads whose first calls fall into these milliseconds wait here
            sched_yield();
            continue;
        }
        if (!the.current.compare_exchange_strong(current, state::starting, std::memory_order_acq_rel)) continue;
        int const saved = errno;
        bool const started = start();
        errno = saved;
        the.current.store(started ? state::recording : state::off, std::memory_order_release);
        return started;
    }
}

void introduce(thread_ring& r) {
    if (introduced.exchange(true, std::memory_order_acq_rel)) return;
    write_texts(r);
    driver::count_earlier_copies();
    ranges::introduce(r);
}

spool::segment_header* segment(std::uint32_t index) {
    return spool::segment_at(the.base, index);
}
spool::thread_slot* thread_slot(std::uint32_t index) {
    return spool::thread_slot_at(the.base, index);
}

namespace {

// The descriptor is not kept: programs close all descriptors, and the number would be another file then.
template <class Use>
auto with_spool_file(Use&& use) -> decltype(use(0)) {
    int const fd = open(spool_path, O_RDWR | O_CLOEXEC);
    auto const result = use(fd);
    if (fd >= 0) close(fd);
    return result;
}

std::uint32_t grow_file() {
    if (growth_pause.load(std::memory_order_relaxed) > 0) {
        growth_pause.fetch_sub(1, std::memory_order_relaxed);
        return spool::no_segment;
    }
    std::uint32_t const index = confined() ? spool::no_segment : with_spool_file([](int fd) {
        return fd < 0 ? spool::no_segment : spool::grow(the.base, fd, the.header->max_bytes);
    });
    if (index == spool::no_segment) {
        growth_pause.store(1000, std::memory_order_relaxed);
        count(spool::loss::spool_unavailable);
    }
    return index;
}

bool first_use(std::uint32_t index) {
    if (index / 64 >= std::size(used_before)) return false;
    std::uint64_t const bit = std::uint64_t{1} << (index % 64);
    return (used_before[index / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

}  // namespace

std::uint32_t take_segment() {
    std::uint32_t index = spool::pop_free(the.base);
    if (index == spool::no_segment) index = grow_file();
    if (index == spool::no_segment || !first_use(index) || confined()) return index;
    // Not in this process's page table yet: one call instead of a page fault every 64 records.
    madvise(segment(index), spool::segment_size, MADV_POPULATE_WRITE);
    return index;
}

bool back_thread_slot(std::uint32_t index) {
    auto const offset = static_cast<off_t>(spool::header_bytes + index * sizeof(spool::thread_slot));
    if (confined()) return index < spare_thread_slots;
    if (index % (spool::page / sizeof(spool::thread_slot)) != 0) return true;
    return with_spool_file([offset](int fd) {
        if (fd < 0) return false;
        int const failed = posix_fallocate(
            fd, offset / static_cast<off_t>(spool::page) * static_cast<off_t>(spool::page), spool::page);
        return failed == 0 || failed == EOPNOTSUPP || failed == EINVAL;
    });
}

namespace {

void take_spares(int fd) {
    if (fd < 0) return;
    posix_fallocate(fd, spool::header_bytes, spare_thread_slots * sizeof(spool::thread_slot));
    for (std::uint32_t i = 0; i < spare_segments; ++i) {
        std::uint32_t const index = spool::grow(the.base, fd, the.header->max_bytes);
        if (index == spool::no_segment) return;
        spool::push_free(the.base, index);
    }
}

}  // namespace

void prepare_confinement() {
    if (own_pid != getpid() && !in_forked_child()) return;  // a child of vfork: the memory is its parent's
    bool const used = the.current.load(std::memory_order_acquire) == state::recording || driver::find_loaded();
    thread_ring* const r = used && !confined() ? rings::acquire() : nullptr;
    if (r != nullptr) {
        stacks::prepare_thread(*r);
        with_spool_file([](int fd) { return take_spares(fd), true; });
    }
    the.confined.store(true, std::memory_order_relaxed);
}

void count(spool::loss what, std::uint64_t n) {
    if (spool::spool_header* const header = the.header; header != nullptr)
        header->losses[static_cast<std::size_t>(what)].fetch_add(n, std::memory_order_relaxed);
}

void count_unhooked(char const* name) {
    if (!ensure_recording()) return;
    count(spool::loss::unhooked_obtained);
    for (auto& entry : the.header->unhooked) {
        std::uint32_t expected = 0;
        if (entry.state.compare_exchange_strong(expected, 1, std::memory_order_acq_rel)) {
            copy_text(entry.name, name);
            entry.obtained.store(1, std::memory_order_relaxed);
            entry.state.store(2, std::memory_order_release);
            return;
        }
        if (expected == 2 && strncmp(entry.name, name, sizeof entry.name - 1) == 0) {
            entry.obtained.fetch_add(1, std::memory_order_relaxed);
            return;
        }
    }
    count(spool::loss::unhooked_overflow);
}

void driver_initializing() {
    if (!expecting_driver.exchange(true, std::memory_order_acq_rel)) atexit(at_exit_after_driver);
}

void driver_initialized(int driver_version) {
    if (initialized.exchange(true, std::memory_order_acq_rel)) return;
    atexit(at_exit_before_driver);
    if (!ensure_recording()) return;
    the.header->driver_version = static_cast<std::uint64_t>(driver_version);
    rings::write_phase(spool::phase::driver_initialized, static_cast<std::uint32_t>(driver_version));
}

}  // namespace lastref::preload::process
