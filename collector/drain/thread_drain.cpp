#include "collector/drain/thread_drain.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "collector/preload/hooks/api_table.h"

namespace lastref::drain {
namespace {

using spool::record_type;

constexpr auto entry_points = static_cast<std::uint32_t>(hooks::abi::count);
// A place behind every record of its segment: a chain that broke there has been reported.
constexpr std::uint32_t behind_all = std::numeric_limits<std::uint32_t>::max();
// Records read beyond the wanted number in search of a good place to stop.
constexpr std::uint32_t patience = 65536;

std::uint64_t end_of(spool::call_record const& call) {
    return call.begin + spool::unpack_duration(call.duration);
}

}  // namespace

bool sorts_by_begin(spool::call_record const& call) {
    auto const kind = hooks::info(static_cast<hooks::abi>(call.api)).kind;
    return info(kind).order != event_order::end;
}

std::uint64_t sort_key(spool::record_view record) {
    if (record.type() == record_type::phase) return record.phase().at;
    if (record.type() == record_type::range) return record.range().at;
    if (record.type() == record_type::nvtx) return record.nvtx().at;
    spool::call_record const& call = record.call();
    if (record.type() == record_type::open) return call.begin;
    // A close completes a row whose place in the order its open has fixed.
    if (record.type() == record_type::close) return end_of(call);
    return sorts_by_begin(call) ? call.begin : end_of(call);
}

thread_drain::thread_drain(record_sink& sink, std::uint32_t slot, std::uint64_t serial, std::uint32_t tid,
                           thread_progress const& done)
    : sink_(sink), reader_(slot, serial, entry_points), tid_(tid), row_(done.row), done_(done), saved_(done) {}

void thread_drain::read(spool::spool_file& file, std::uint32_t most) {
    if (waiting_ >= most && !read_everything_) return;
    most_ = most;
    read_ = 0;
    read_everything_ = reader_.read(file, *this) == spool::chain_reader::outcome::all;
}

void thread_drain::read_stray(spool::spool_file& file, std::uint32_t index, std::uint32_t most) {
    most_ = most;
    read_ = 0;
    read_everything_ = reader_.read_stray(file, index, *this) == spool::chain_reader::outcome::all;
}

void thread_drain::segment_begins(std::uint32_t index, spool::segment_header const& segment) {
    held_.push_back({.index = index, .serial = segment.serial, .header = &segment, .stacks = {}});
    sink_.entered(index, segment.serial);
}

bool thread_drain::record(spool::record_view record) {
    spool::chain_place const place{record.segment->serial, record.slot};
    bool const read_before = place < done_.read_to;
    ++read_;
    switch (record.type()) {
        case record_type::stack:
            define_stack(record);
            break;
        case record_type::text:
            if (place >= done_.from) add_text(record, read_before);
            break;
        case record_type::module:
            if (!read_before) sink_.module(record);
            break;
        case record_type::python:
            if (!read_before) sink_.python_frame(record);
            break;
        default:
            if (place >= done_.from) enqueue(record, read_before);
            break;
    }
    return !may_stop_behind(record);
}

void thread_drain::enqueue(spool::record_view record, bool read_before) {
    bool const is_call = record.type() != record_type::phase && record.type() != record_type::range &&
                         record.type() != record_type::nvtx;
    if (is_call) last_begin = record.call().begin;
    std::uint64_t const key = sort_key(record);
    if (read_before && key < done_.watermark) return;
    held_segment& segment = held_.back();
    ++segment.waiting;
    ++waiting_;
    sink_.wait({key, record, this, &segment});
}

// Behind a call that no other surrounds, everything that this thread writes later has begun later: only there can
// something be said about what was left unread.
bool thread_drain::may_stop_behind(spool::record_view record) {
    bool const is_end = record.type() == record_type::call || record.type() == record_type::close;
    // One watermark describes all that was read, so what an earlier drain had read is read in one go.
    if (!is_end || reader_.place() < done_.read_to) return false;
    bool const good_place = record.call().depth == 0 && waiting_ >= most_;
    if (!good_place && read_ < most_ + patience) return false;
    unread_from_ = end_of(record.call());
    return true;
}

void thread_drain::define_stack(spool::record_view record) {
    auto& stacks = held_.back().stacks;
    std::uint16_t const number = record.stack().number;
    if (stacks.size() <= number) stacks.resize(number + std::size_t{1});
    stacks[number] = {record.slot, std::nullopt};
}

segment_stack* thread_drain::stack(held_segment& segment, std::uint16_t number) {
    if (number >= segment.stacks.size() || segment.stacks[number].slot == 0) return nullptr;
    return &segment.stacks[number];
}

void thread_drain::add_text(spool::record_view record, bool done_before) {
    spool::text_record const& part = record.text();
    auto known = texts_.find(part.kind);
    if (part.part == 0 && known != texts_.end()) {  // the former one was never finished
        --known->second.from->waiting;
        texts_.erase(known);
        known = texts_.end();
    }
    if (known == texts_.end()) {
        held_segment& segment = held_.back();
        ++segment.waiting;
        known = texts_.emplace(part.kind, partial_text{{}, &segment}).first;
    }
    known->second.bytes += record.text_bytes();
    if (!part.last) return;
    partial_text const text = std::move(known->second);
    texts_.erase(known);
    --text.from->waiting;
    if (!done_before) sink_.text(*this, part.kind, text.bytes);
}

void thread_drain::damaged_record(spool::chain_place where) {
    if (where >= done_.read_to) sink_.damaged(spool::loss::damaged_records);
}

void thread_drain::segment_finished() {
    held_.back().finished = true;
}

void thread_drain::unreadable_segment(spool::chain_place after) {
    spool::chain_place const reported{after.segment_serial, behind_all};
    if (done_.read_to < reported) sink_.damaged(spool::loss::unreadable_segments);
}

void thread_drain::written(held_segment* segment) {
    if (!segment) return;
    --segment->waiting;
    --waiting_;
}

std::optional<thread_progress> thread_drain::progress(std::uint64_t watermark) {
    thread_progress now{row_, reader_.place(), reader_.place(), watermark};
    if (reader_.broken()) now.read_to.slot = behind_all;
    // Damage may keep this drain from places where an earlier one has been.
    now.read_to = std::max(now.read_to, done_.read_to);
    now.from = now.read_to;
    for (held_segment const& segment : held_) {
        if (segment.waiting == 0) continue;
        now.from = {segment.serial, 1};
        break;
    }
    bool const same_place = now.from == saved_.from && now.read_to == saved_.read_to;
    // With nothing in between, the watermark says nothing.
    if (same_place && (now.from == now.read_to || now.watermark == saved_.watermark)) return std::nullopt;
    saved_ = now;
    return now;
}

std::vector<std::uint32_t> thread_drain::take_done_segments() {
    std::vector<std::uint32_t> done;
    while (held_.size() > 1 && held_.front().finished && held_.front().waiting == 0) {
        done.push_back(held_.front().index);
        held_.pop_front();
    }
    return done;
}

std::vector<std::uint32_t> thread_drain::take_all_segments() {
    std::vector<std::uint32_t> all;
    for (held_segment const& segment : held_) all.push_back(segment.index);
    held_.clear();
    return all;
}

}  // namespace lastref::drain
