// The spool: what the collector writes inside the recorded program and the drain reads from another process.
//
// A spool is one file a process, mapped shared by both sides:
//
//     header (one page-aligned block) | thread slots | segment 0 | segment 1 | ...
//
// Each recording thread owns a thread slot and, through it, a chain of segments that only it writes (single producer)
// and only the drain reads (single consumer). A segment is an array of 64-byte slots; slot 0 is its header. A record
// takes one or more consecutive slots of one segment. The producer fills the slots and then publishes them by storing
// `segment_header::committed` (release); the consumer loads it (acquire) and never looks behind it. Nothing needs a
// lock, and what was published survives the death of the process, since the file holds it.
//
// Segments are self-contained: the stack numbers in a segment's records are defined in the same segment. A segment goes
// back to the free list only after the drain has committed all of it to the trace, and gets a new serial when it is
// taken again.
//
// All integers are little-endian and naturally aligned; the file is read on the machine that wrote it or on one of the
// same architecture. `format_version` changes whenever a reader of the older layout would misread the newer.
//
// This header is the contract between collector/preload (no libstdc++ at run time) and collector/drain: only constants
// and trivially copyable types.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lastref::spool {

inline constexpr std::uint64_t file_magic = 0x4c4f4f5053464552;  // "REFSPOOL" read as bytes
inline constexpr std::uint32_t format_version = 3;

inline constexpr std::size_t slot_size = 64;
inline constexpr std::size_t segment_size = std::size_t{64} << 10;
inline constexpr std::uint32_t slots_per_segment = segment_size / slot_size;  // slot 0 is the segment's header
inline constexpr std::uint32_t max_threads = 16384;                           // live recording threads at one time
inline constexpr std::uint32_t max_contexts = 4096;     // contexts that a process makes in its life
inline constexpr std::uint32_t max_record_slots = 64;   // longest record: 4 KiB
inline constexpr std::uint32_t max_stack_frames = 64;   // of machine code …
inline constexpr std::uint32_t max_python_frames = 96;  // … and of Python, which stand between them
inline constexpr std::uint32_t max_stack_words = max_stack_frames + max_python_frames;
inline constexpr std::uint32_t no_segment = 0xffffffff;

// --- records ------------------------------------------------------------------------------------------------------

enum class record_type : std::uint8_t {
    none = 0,    // never published: a slot of this type is damage
    call = 1,    // call_record: a driver call that returned
    open = 2,    // call_record without result, duration and outputs: a call or callback that began (kinds `begin_mark`)
    close = 3,   // call_record: the end of this thread's latest open call or callback, with everything
    stack = 4,   // stack_record: defines a stack number of this segment
    module = 5,  // module_record: a loaded object that stacks or callbacks point into
    text = 6,    // text_record: a named string about the process
    phase = 7,   // phase_record: a step of the process's life
    range = 8,   // range_record: the begin or the end of a named part of the program's run
    nvtx = 9,    // nvtx_record: what the program said through NVTX: ranges, marks, names
    python = 10,  // python_record: what a Python frame of a stack is called
};

// Flags of a call_record.
inline constexpr std::uint8_t flag_in_callback = 1;      // made inside a destructor, host function or stream callback
inline constexpr std::uint8_t flag_nested = 2;           // made by the driver itself inside another recorded call
inline constexpr std::uint8_t flag_stack_cut = 4;        // the stack was deeper than max_stack_frames
inline constexpr std::uint8_t flag_after_exit = 8;       // made after exit handlers had begun
inline constexpr std::uint8_t flag_after_teardown = 16;  // made after the driver's own exit handler had run
inline constexpr std::uint8_t flag_one_stamp = 64;       // only the stamp that it sorts by was taken: duration is 0

// A driver call, or a callback of the driver into the program. `object`, `other`, `size` and `extra` mean what the
// entry point's line in collector/preload/hooks/driver_api.def says.
struct call_record {
    std::uint16_t api;     // number of the ABI symbol in driver_api.def of this build (see spool_header::table_hash)
    record_type type;      // call, open or close
    std::uint8_t slots;    // 1
    std::uint16_t result;  // CUresult; 0 for a callback
    std::uint8_t flags;
    std::uint8_t depth;      // recorded calls and callbacks that were open on this thread around it
    std::uint64_t begin;     // clock ticks
    std::uint32_t duration;  // packed ticks, see pack_duration
    std::uint16_t stack;     // stack number in this segment, 0 = none
    std::uint16_t context;   // index in spool_header::contexts of the thread's current context, 0 = none
    std::uint64_t stream;    // the token as given: 0, 1 (legacy), 2 (per thread) or a created stream's handle
    std::uint64_t object;
    std::uint64_t other;
    std::uint64_t size;
    std::uint64_t extra;
};
static_assert(sizeof(call_record) == slot_size);

// Ticks in 32 bits: exact below 2^31, above that in units of 65536 ticks with the top bit set.
constexpr std::uint32_t pack_duration(std::uint64_t ticks) {
    if (ticks < 0x80000000u) return static_cast<std::uint32_t>(ticks);
    std::uint64_t const coarse = ticks >> 16;
    return 0x80000000u | static_cast<std::uint32_t>(coarse < 0x7fffffffu ? coarse : 0x7fffffffu);
}
constexpr std::uint64_t unpack_duration(std::uint32_t packed) {
    return (packed & 0x80000000u) ? static_cast<std::uint64_t>(packed & 0x7fffffffu) << 16 : packed;
}

// Followed by `count` program counters (8 bytes each, innermost first; return addresses, not yet moved back by one)
// from `frames` on, over the record's slots.
struct stack_record {
    std::uint16_t number;  // 1 … 65535, unique in this segment
    record_type type;
    std::uint8_t slots;
    std::uint16_t count;
    std::uint8_t flags;  // flag_stack_cut
    std::uint8_t reserved;
    std::uint64_t frames[7];
};
static_assert(sizeof(stack_record) == slot_size);
constexpr std::uint32_t stack_slots(std::uint32_t frames) {
    return 1 + (frames > 7 ? (frames - 7 + 7) / 8 : 0);
}

// Words of stacks that are no program counters but Python frames: numbers of python_records of the process. They stand
// before the frame of the interpreter that runs them.
inline constexpr std::uint64_t python_frame_mark = std::uint64_t{0x8000} << 48;
constexpr std::uint64_t python_frame(std::uint32_t number) {
    return python_frame_mark | number;
}
constexpr bool is_python_frame(std::uint64_t word) {
    return word >> 32 == python_frame_mark >> 32;
}

// Followed by the rest of the texts from `text` on, over the record's slots: function, file. Valid for all segments; a
// stack may name a number whose record comes later.
struct python_record {
    std::uint16_t function_length;
    record_type type;
    std::uint8_t slots;
    std::uint16_t file_length;
    std::uint16_t reserved;
    std::uint32_t number;  // from 1
    std::int32_t line;     // 0: not known
    char text[48];
};
static_assert(sizeof(python_record) == slot_size);
inline constexpr std::size_t python_text_capacity = 48 + 30 * slot_size;  // of both texts; longer ones are cut

// Followed by `path_length` bytes of the file's path (no terminator) in the slots after the first.
struct module_record {
    std::uint16_t reserved;
    record_type type;
    std::uint8_t slots;
    std::uint16_t path_length;
    std::uint8_t build_id_length;  // 0 … 32
    std::uint8_t reserved2;
    std::uint64_t load_bias;  // what is added to the file's addresses
    std::uint64_t begin;      // mapped range
    std::uint64_t end;
    std::uint8_t build_id[32];
};
static_assert(sizeof(module_record) == slot_size);

enum class text_kind : std::uint16_t {
    executable = 1,     // path
    command_line = 2,   // arguments, separated by NUL
    environment = 3,    // NAME=value, of CUDA_* and LASTREF_* only
    thread_name = 4,    // of the writing thread
    driver = 5,         // path of the driver's library
    setting_error = 6,  // a LASTREF_* variable that could not be understood, as a sentence
    working_directory = 7,
    note = 8,  // something else for people, as a sentence
};

// Followed by the rest of the text from `text` on, over the record's slots.
struct text_record {
    text_kind kind;
    record_type type;
    std::uint8_t slots;
    std::uint16_t length;  // bytes
    std::uint16_t part;    // longer texts come in several records; 0, 1, 2 …, the last has `last` set
    std::uint8_t last;
    char text[55];
};
static_assert(sizeof(text_record) == slot_size);
inline constexpr std::size_t text_capacity = 55 + (max_record_slots - 1) * slot_size;

enum class phase : std::uint16_t {
    driver_initialized = 1,  // the first cuInit that succeeded
    exit_begin = 2,          // exit handlers registered after the driver's run: main returned, or exit was called
    driver_torn_down = 3,    // the driver's exit handler has run
    end = 4,                 // the last point of a clean exit that the collector sees
    driver_found = 5,        // the driver's library is loaded and its functions are resolved
    exec = 6,                // the process is about to be replaced
    // A CPython interpreter, as it answers itself; each is seen at the latest before the next event that releases
    // something.
    python_initialized = 7,
    python_finalizing = 8,
    python_finalized = 9,
};

struct phase_record {
    phase what;
    record_type type;
    std::uint8_t slots;
    std::uint32_t value;  // driver_initialized: driver version, else 0
    std::uint64_t at;     // clock ticks
    std::uint64_t reserved[6];
};
static_assert(sizeof(phase_record) == slot_size);

// A named part of the run, such as a test: the program says when it begins and ends (lastref_range_begin). Ranges are
// of the process, whichever thread says it, and may overlap. A begin is followed by the rest of the name from `name`
// on, over the record's slots.
struct range_record {
    std::uint16_t length;  // bytes of the name; 0 for an end
    record_type type;
    std::uint8_t slots;
    std::uint8_t end;  // 0 begin, 1 end
    std::uint8_t reserved;
    std::uint16_t context;  // index in spool_header::contexts of the saying thread's current context, 0 = none
    std::uint64_t number;   // of this range in its process, from 1
    std::uint64_t at;       // clock ticks
    char name[40];
};
static_assert(sizeof(range_record) == slot_size);
inline constexpr std::size_t range_name_capacity = 40 + 15 * slot_size;  // longer names are cut

enum class nvtx_action : std::uint8_t {
    mark = 1,
    push = 2,  // a range of the thread; those of a thread and domain nest
    pop = 3,
    start = 4,  // a range of the process, by `number`
    end = 5,
    name = 6,  // of what `resource` and `number` say
};

enum class nvtx_payload : std::uint8_t { none = 0, u64 = 1, i64 = 2, f64 = 3 };

enum class nvtx_resource : std::uint8_t {
    none = 0,
    thread = 1,  // `number` is its tid
    context = 2,
    stream = 3,
    event = 4,
    device = 5,  // ordinal
    other = 6,   // a pointer or handle of the program's own
};

// Followed by the rest of the texts from `text` on, over the record's slots: domain (empty: the default one), category,
// message or name. Each record has all that it says, so that none depends on another.
struct nvtx_record {
    std::uint16_t length;  // bytes of all texts
    record_type type;
    std::uint8_t slots;
    nvtx_action action;
    std::uint8_t domain_length;
    std::uint8_t category_length;
    nvtx_payload payload_kind;
    std::uint64_t number;
    std::uint64_t at;  // clock ticks
    std::uint64_t payload;
    std::uint32_t category;
    std::uint16_t context;  // as range_record's
    nvtx_resource resource;
    std::uint8_t has_message;  // 1: the message may be empty, but there is one
    char text[24];
};
static_assert(sizeof(nvtx_record) == slot_size);
inline constexpr std::size_t nvtx_text_capacity = 24 + 15 * slot_size;  // longer messages are cut
inline constexpr std::size_t nvtx_name_capacity = 120;                  // of a domain or category

// --- segments -----------------------------------------------------------------------------------------------------

struct segment_header {
    std::atomic<std::uint32_t> committed;  // slots published, the header's slot included; 1 in an empty segment
    std::uint32_t thread_slot;             // index of the owner's thread slot
    std::uint64_t serial;             // of this use of the segment; unique in the spool and increasing; 0 = never used
    std::uint64_t thread_serial;      // thread_slot::serial of the owner at that time
    std::uint32_t order;              // position in the owner's chain: 0, 1, 2 …
    std::uint32_t tid;                // of the owner
    std::atomic<std::uint32_t> next;  // the chain's next segment once this one is full, no_segment until then
    std::atomic<std::uint32_t> free_next;  // link while it lies in the free list
    std::uint64_t clock_ticks;             // a clock pair read when the segment was taken
    std::uint64_t clock_ns;                // CLOCK_MONOTONIC
    std::uint64_t reserved;
};
static_assert(sizeof(segment_header) == slot_size);

// --- thread slots -------------------------------------------------------------------------------------------------

enum class thread_state : std::uint32_t {
    unused = 0,
    live = 1,
    ended = 2,    // the owner will write no more; the drain sets it back to `unused` when it has read everything
    claimed = 3,  // being filled in by its new owner: not to be read yet
};

struct alignas(128) thread_slot {
    std::atomic<std::uint32_t> state;  // thread_state
    std::uint32_t tid;
    std::uint64_t serial;                      // of this use of the slot; unique in the spool and increasing
    std::atomic<std::uint32_t> first_segment;  // the oldest segment that is not fully read; written by the owner when
                                               // it takes its first, by the drain from then on
    std::uint32_t reserved;
    // While it is not 0, the owner may still publish a record that sorts at or behind this stamp: a lower bound, stored
    // before the stamp by which the record sorts is taken and cleared after the record is published. A call that sorts
    // by its begin holds from its begin to its return, one that sorts by its end while it writes its record. The drain
    // emits nothing later meanwhile.
    std::atomic<std::uint64_t> order_hold;
    // What the owner is doing, for processes that die inside a call: entry point number + 1, and its begin; 0 =
    // outside.
    std::atomic<std::uint64_t> call_begin;
    std::atomic<std::uint32_t> call_api;
    std::atomic<std::uint32_t> dropped;  // records of this thread that found no room
};
static_assert(sizeof(thread_slot) == 128);

// --- header -------------------------------------------------------------------------------------------------------

enum class clock_kind : std::uint32_t { monotonic_ns = 1, tsc = 2 };

struct clock_pair {
    std::atomic<std::uint64_t> ticks;
    std::atomic<std::uint64_t> monotonic_ns;
};

// Named losses counted by the collector; the drain writes those that are not zero into the trace's table `loss`.
enum class loss : std::uint32_t {
#define LASTREF_LOSS(name, text) name,
#include "loss.def"
#undef LASTREF_LOSS
    count
};

// Entry points of the hooked families that the program obtained but the table lacks.
struct unhooked_entry {
    std::atomic<std::uint32_t> state;     // 0 empty, 1 being written, 2 valid
    std::atomic<std::uint32_t> obtained;  // how often
    char name[56];
};
static_assert(sizeof(unhooked_entry) == slot_size);
inline constexpr std::uint32_t max_unhooked = 128;

struct spool_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_size;        // bytes, = offset of the thread slots
    std::uint64_t thread_slots_size;  // bytes; segments begin at header_size + thread_slots_size
    std::uint64_t segment_bytes;      // segment_size of the writer
    std::uint64_t table_hash;         // of driver_api.def: who reads with another table must not interpret `api`
    std::uint32_t pid;
    std::uint32_t parent_pid;
    std::uint64_t process_start;  // field 22 of /proc/self/stat, to tell recycled pids apart
    std::uint64_t wall_clock_ns;  // CLOCK_REALTIME at `first_clock`
    clock_kind clock;
    std::uint32_t stacks;          // 0 off, 1 create, 2 all
    clock_pair first_clock;        // at creation
    clock_pair last_clock;         // newest pair, written by whoever takes one (collector at end, drain while it runs)
    std::uint64_t max_bytes;       // LASTREF_SPOOL_MAX
    std::uint64_t driver_version;  // cuDriverGetVersion

    alignas(64) std::atomic<std::uint32_t> segments;   // in the file
    std::atomic<std::uint32_t> ready;                  // 1 once the header is complete
    std::atomic<std::uint32_t> thread_slots_used;      // high-water mark
    std::atomic<std::uint32_t> ended;                  // 1 after phase `end`
    alignas(64) std::atomic<std::uint64_t> free_list;  // tag << 32 | segment index, no_segment when empty
    std::atomic<std::int32_t> free_segments;           // about how many are in the free list
    std::atomic<std::uint64_t> next_segment_serial;
    std::atomic<std::uint64_t> next_thread_serial;
    alignas(64) std::atomic<std::uint64_t> losses[64];
    alignas(64) std::atomic<std::uint32_t> contexts_used;  // entries of `contexts`; entry 0 is "none"
    alignas(64) unhooked_entry unhooked[max_unhooked];
    struct context_entry {
        std::atomic<std::uint64_t> handle;
        std::atomic<std::uint64_t> device_and_kind;  // device ordinal + 1 (0 = unknown) | kind << 32 (context_kind)
    } contexts[max_contexts];
};
enum class context_kind : std::uint32_t { unknown = 0, created = 1, primary = 2, green = 3 };
static_assert(static_cast<std::size_t>(loss::count) <= 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

inline constexpr std::size_t page = 4096;
inline constexpr std::size_t header_bytes = (sizeof(spool_header) + page - 1) / page * page;
inline constexpr std::size_t thread_slots_bytes = sizeof(thread_slot) * max_threads;
constexpr std::size_t segment_offset(std::uint32_t index) {
    return header_bytes + thread_slots_bytes + index * segment_size;
}

}  // namespace lastref::spool
