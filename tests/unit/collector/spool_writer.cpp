#include "spool_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "collector/drain/clock_map.h"
#include "collector/drain/process_watch.h"

namespace lastref::test {

using namespace spool;

spool_options options_of_this_process() {
    spool_options options;
    options.pid = static_cast<std::uint32_t>(getpid());
    options.process_start = drain::read_process_stat(options.pid)->start_ticks;
    auto const now = drain::read_clocks(clock_kind::monotonic_ns);
    options.first_ticks = now.ticks;
    options.first_ns = now.ns;
    return options;
}

std::uint32_t this_thread_id() {
    return static_cast<std::uint32_t>(gettid());
}

spool_writer::spool_writer(std::filesystem::path path, spool_options const& options)
    : path_(std::move(path)), options_(options) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0 || ftruncate(fd_, header_bytes + thread_slots_bytes)) throw std::runtime_error("spool_writer");
    base_ = mmap(nullptr, options.max_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (base_ == MAP_FAILED) throw std::runtime_error("spool_writer: mmap");
    auto& head = header();
    head.magic = file_magic;
    head.version = format_version;
    head.header_size = header_bytes;
    head.thread_slots_size = thread_slots_bytes;
    head.segment_bytes = segment_size;
    head.table_hash = hooks::table_hash();
    head.pid = options.pid;
    head.parent_pid = options.parent_pid;
    head.process_start = options.process_start;
    head.wall_clock_ns = 1;
    head.clock = options.clock;
    head.stacks = 1;
    head.first_clock.ticks = options.first_ticks;
    head.first_clock.monotonic_ns = options.first_ns;
    head.max_bytes = options.max_bytes;
    head.free_list.store(empty_free_list);
    head.next_segment_serial.store(1);
    head.next_thread_serial.store(1);
    head.contexts_used.store(1);
    head.ready.store(options.ready ? 1 : 0, std::memory_order_release);
}

spool_writer::~spool_writer() {
    munmap(base_, options_.max_bytes);
    close(fd_);
}

std::unique_ptr<thread_writer> spool_writer::thread(std::uint32_t tid) {
    for (std::uint32_t i = 0; i < max_threads; ++i) {
        auto& slot = *thread_slot_at(base_, i);
        std::uint32_t unused = static_cast<std::uint32_t>(thread_state::unused);
        // A state of our own while the slot is filled in: the drain passes over what it does not know.
        if (!slot.state.compare_exchange_strong(unused, 77)) continue;
        slot.tid = tid;
        slot.serial = header().next_thread_serial.fetch_add(1);
        slot.first_segment.store(no_segment);
        slot.order_hold.store(0);
        slot.call_begin.store(0);
        slot.call_api.store(0);
        slot.state.store(static_cast<std::uint32_t>(thread_state::live), std::memory_order_release);
        std::uint32_t used = header().thread_slots_used.load();
        while (used < i + 1 && !header().thread_slots_used.compare_exchange_weak(used, i + 1)) {
        }
        return std::unique_ptr<thread_writer>(new thread_writer(*this, i));
    }
    throw std::runtime_error("no thread slot");
}

std::uint16_t spool_writer::context(std::uint64_t handle, std::uint32_t device, context_kind kind) {
    std::uint32_t const index = header().contexts_used.fetch_add(1);
    header().contexts[index].device_and_kind.store((device + 1) | std::uint64_t{static_cast<std::uint32_t>(kind)}
                                                                      << 32);
    header().contexts[index].handle.store(handle, std::memory_order_release);
    return static_cast<std::uint16_t>(index);
}

thread_slot& thread_writer::slot() {
    return *thread_slot_at(spool_.base(), slot_);
}

bool thread_writer::next_segment() {
    std::uint32_t const index = take_segment(spool_.base(), spool_.fd(), spool_.options_.max_bytes);
    if (index == no_segment) return false;
    auto& segment = spool_.segment(index);
    segment.thread_slot = slot_;
    segment.thread_serial = slot().serial;
    segment.order = order_++;
    segment.tid = slot().tid;
    segment.next.store(no_segment, std::memory_order_relaxed);
    segment.clock_ticks = segment.clock_ns = 0;
    segment.serial = spool_.header().next_segment_serial.fetch_add(1);
    segment.committed.store(1, std::memory_order_release);
    if (segment_ == no_segment)
        slot().first_segment.store(index, std::memory_order_release);
    else
        spool_.segment(segment_).next.store(index, std::memory_order_release);
    segment_ = index;
    used_ = 1;
    next_stack_ = 1;
    return true;
}

std::byte* thread_writer::reserve(std::uint32_t slots) {
    if ((segment_ == no_segment || used_ + slots > slots_per_segment) && !next_segment()) {
        ++dropped;
        slot().dropped.fetch_add(1);
        return nullptr;
    }
    return reinterpret_cast<std::byte*>(&spool_.segment(segment_)) + used_ * slot_size;
}

void thread_writer::publish(std::uint32_t slots) {
    used_ += slots;
    spool_.segment(segment_).committed.store(used_, std::memory_order_release);
}

void thread_writer::call(call_record record) {
    record.type = record_type::call;
    record.slots = 1;
    if (auto* const place = reserve(1)) {
        std::memcpy(place, &record, sizeof record);
        publish(1);
    }
}

void thread_writer::open(call_record record) {
    record.duration = 0;
    record.result = 0;
    record.type = record_type::open;
    record.slots = 1;
    if (auto* const place = reserve(1)) {
        std::memcpy(place, &record, sizeof record);
        publish(1);
    }
}

void thread_writer::close(call_record record) {
    record.type = record_type::close;
    record.slots = 1;
    if (auto* const place = reserve(1)) {
        std::memcpy(place, &record, sizeof record);
        publish(1);
    }
}

std::uint16_t thread_writer::stack(std::vector<std::uint64_t> const& frames, bool cut) {
    auto const count = static_cast<std::uint32_t>(frames.size());
    std::uint32_t const slots = stack_slots(count);
    auto* place = reserve(slots + 1);  // and the call that uses it
    if (!place) return 0;
    stack_record record{};
    record.number = next_stack_++;
    record.type = record_type::stack;
    record.slots = static_cast<std::uint8_t>(slots);
    record.count = static_cast<std::uint16_t>(count);
    record.flags = cut ? flag_stack_cut : std::uint8_t{0};
    std::memcpy(place, &record, sizeof record);
    std::memcpy(place + offsetof(stack_record, frames), frames.data(), frames.size() * 8);
    publish(slots);
    return record.number;
}

void thread_writer::text(text_kind kind, std::string_view bytes, std::size_t bytes_per_part) {
    for (std::uint16_t part = 0;; ++part) {
        std::string_view const piece = bytes.substr(0, bytes_per_part);
        bytes.remove_prefix(piece.size());
        std::size_t const rest = piece.size() > 55 ? piece.size() - 55 : 0;
        auto const slots = static_cast<std::uint32_t>(1 + (rest + 63) / 64);
        auto* const place = reserve(slots);
        if (!place) return;
        text_record record{};
        record.kind = kind;
        record.type = record_type::text;
        record.slots = static_cast<std::uint8_t>(slots);
        record.length = static_cast<std::uint16_t>(piece.size());
        record.part = part;
        record.last = bytes.empty();
        std::memcpy(place, &record, sizeof record);
        std::memcpy(place + offsetof(text_record, text), piece.data(), piece.size());
        publish(slots);
        if (bytes.empty()) return;
    }
}

void thread_writer::module(std::string_view path, std::uint64_t begin, std::uint64_t end, std::string_view build_id) {
    auto const slots = static_cast<std::uint32_t>(1 + (path.size() + 63) / 64);
    auto* const place = reserve(slots);
    if (!place) return;
    module_record record{};
    record.type = record_type::module;
    record.slots = static_cast<std::uint8_t>(slots);
    record.path_length = static_cast<std::uint16_t>(path.size());
    record.build_id_length = static_cast<std::uint8_t>(build_id.size());
    record.load_bias = begin;
    record.begin = begin;
    record.end = end;
    std::memcpy(record.build_id, build_id.data(), build_id.size());
    std::memcpy(place, &record, sizeof record);
    std::memcpy(place + slot_size, path.data(), path.size());
    publish(slots);
}

void thread_writer::phase(spool::phase what, std::uint64_t at, std::uint32_t value) {
    auto* const place = reserve(1);
    if (!place) return;
    phase_record record{};
    record.what = what;
    record.type = record_type::phase;
    record.slots = 1;
    record.value = value;
    record.at = at;
    std::memcpy(place, &record, sizeof record);
    publish(1);
}

void thread_writer::begin_range(std::uint64_t number, std::uint64_t at, std::string_view name) {
    std::size_t const first = sizeof(range_record::name);
    auto const slots = 1 + static_cast<std::uint32_t>(name.size() > first ? (name.size() - first + 63) / 64 : 0);
    auto* const place = reserve(slots);
    if (!place) return;
    range_record record{};
    record.length = static_cast<std::uint16_t>(name.size());
    record.type = record_type::range;
    record.slots = static_cast<std::uint8_t>(slots);
    record.number = number;
    record.at = at;
    std::memcpy(place, &record, sizeof record);
    std::memcpy(place + offsetof(range_record, name), name.data(), name.size());
    publish(slots);
}

void thread_writer::end_range(std::uint64_t number, std::uint64_t at) {
    auto* const place = reserve(1);
    if (!place) return;
    range_record record{};
    record.type = record_type::range;
    record.slots = 1;
    record.end = 1;
    record.number = number;
    record.at = at;
    std::memcpy(place, &record, sizeof record);
    publish(1);
}

void thread_writer::nvtx(nvtx_record said, std::uint64_t at, std::string_view domain, std::string_view message) {
    std::string const texts = std::string(domain) + std::string(message);
    std::size_t const first = sizeof(nvtx_record::text);
    auto const slots = 1 + static_cast<std::uint32_t>(texts.size() > first ? (texts.size() - first + 63) / 64 : 0);
    auto* const place = reserve(slots);
    if (!place) return;
    said.length = static_cast<std::uint16_t>(texts.size());
    said.type = record_type::nvtx;
    said.slots = static_cast<std::uint8_t>(slots);
    said.domain_length = static_cast<std::uint8_t>(domain.size());
    said.has_message = !message.empty();
    said.at = at;
    std::memcpy(place, &said, sizeof said);
    std::memcpy(place + offsetof(nvtx_record, text), texts.data(), texts.size());
    publish(slots);
}

void thread_writer::python_frame(std::uint32_t number, std::string_view function, std::string_view file,
                                 std::int32_t line) {
    std::string const texts = std::string(function) + std::string(file);
    std::size_t const first = sizeof(python_record::text);
    auto const slots = 1 + static_cast<std::uint32_t>(texts.size() > first ? (texts.size() - first + 63) / 64 : 0);
    auto* const place = reserve(slots);
    if (!place) return;
    python_record head{};
    head.function_length = static_cast<std::uint16_t>(function.size());
    head.type = record_type::python;
    head.slots = static_cast<std::uint8_t>(slots);
    head.file_length = static_cast<std::uint16_t>(file.size());
    head.number = number;
    head.line = line;
    std::memcpy(place, &head, sizeof head);
    std::memcpy(place + offsetof(python_record, text), texts.data(), texts.size());
    publish(slots);
}

void thread_writer::end() {
    slot().state.store(static_cast<std::uint32_t>(thread_state::ended), std::memory_order_release);
}

call_record make_call(call_facts const& facts) {
    call_record record{};
    record.api = static_cast<std::uint16_t>(facts.api);
    record.begin = facts.begin;
    record.duration = pack_duration(facts.duration);
    record.object = facts.object;
    record.other = facts.other;
    record.size = facts.size;
    record.extra = facts.extra;
    record.stream = facts.stream;
    record.result = facts.result;
    record.context = facts.context;
    record.stack = facts.stack;
    record.flags = facts.flags;
    record.depth = facts.depth;
    return record;
}

temporary_folder::temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lastref-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

temporary_folder::~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace lastref::test
