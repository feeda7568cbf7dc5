#include "collector/drain/spool_drain.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "collector/drain/api_rows.h"

namespace lastref::drain {
namespace {

using spool::record_type;
using spool::thread_state;

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// Times in ns; see docs/adr/0002-order.md for why each is what it is.
constexpr std::uint64_t margin = 1'000'000;      // between taking a stamp and what it says being visible to us
constexpr std::uint64_t window = 2'000'000'000;  // for which a thread may hold others back
constexpr std::uint64_t looking_interval = 1'000'000'000;

constexpr std::uint32_t fewest_per_thread = 256;
constexpr std::uint32_t segments_of_a_busy_pass = 4;

std::uint64_t less(std::uint64_t time, std::uint64_t by) {
    return time > by ? time - by : 0;
}

std::string_view phase_name(spool::phase what) {
    switch (what) {
        case spool::phase::driver_initialized:
            return "driver_initialized";
        case spool::phase::exit_begin:
            return "exit_begin";
        case spool::phase::driver_torn_down:
            return "driver_torn_down";
        case spool::phase::end:
            return "end";
        case spool::phase::driver_found:
            return "driver_found";
        case spool::phase::exec:
            return "exec";
        case spool::phase::python_initialized:
            return "python_initialized";
        case spool::phase::python_finalizing:
            return "python_finalizing";
        case spool::phase::python_finalized:
            return "python_finalized";
    }
    return "unknown";
}

std::string_view resource_name(spool::nvtx_resource what) {
    switch (what) {
        case spool::nvtx_resource::thread:
            return "thread";
        case spool::nvtx_resource::context:
            return "context";
        case spool::nvtx_resource::stream:
            return "stream";
        case spool::nvtx_resource::event:
            return "event";
        case spool::nvtx_resource::device:
            return "device";
        case spool::nvtx_resource::none:
        case spool::nvtx_resource::other:
            break;
    }
    return "other";
}

nvtx_row nvtx_row_of(spool::record_view view, process_id process, said_at const& where) {
    auto const& said = view.nvtx();
    nvtx_row row{.process = process, .where = where, .domain = view.nvtx_domain()};
    if (said.action == spool::nvtx_action::start) row.number = said.number;
    if (said.category != 0) row.category = std::to_string(said.category);
    if (said.category_length != 0) row.category = view.nvtx_category();
    if (said.has_message != 0) row.message = view.nvtx_message();
    if (said.payload_kind == spool::nvtx_payload::f64)
        row.real_payload = std::bit_cast<double>(said.payload);
    else if (said.payload_kind != spool::nvtx_payload::none)
        row.whole_payload = static_cast<std::int64_t>(said.payload);
    return row;
}

}  // namespace

spool_drain::spool_drain(spool::spool_file file, trace_file& trace, trace_writer& writer, drain_limits const& limits)
    : file_(std::move(file)),
      trace_(trace),
      writer_(writer),
      limits_(limits),
      rows_(file_, trace, writer),
      watch_(process_watch::of_writer(file_.identity().pid, file_.identity().process_start, file_.inode())),
      clock_(file_.identity().clock, {file_.identity().first_ticks, file_.identity().first_monotonic_ns}) {
    read_clock_pairs();
    if (rows_.found()) load_earlier_work();
}

// While we watch the process we read the clocks ourselves; for what was before, or where it is gone, there are the
// pairs that its threads read whenever they took a segment.
void spool_drain::read_clock_pairs() {
    std::vector<clock_reading> pairs;
    for (std::uint32_t i = 0; i < file_.segments(); ++i) {
        auto const* const segment = file_.segment(i);
        if (segment->serial != 0 && !file_.writable()) pairs.push_back({segment->clock_ticks, segment->clock_ns});
    }
    auto const& last = file_.header().last_clock;
    pairs.push_back({last.ticks.load(std::memory_order_acquire), last.monotonic_ns.load(std::memory_order_acquire)});
    std::ranges::sort(pairs, {}, &clock_reading::ticks);
    for (clock_reading const& pair : pairs) clock_.add(pair);
    now_ = read_clocks(file_.identity().clock);
    if (clock_.continues(now_)) clock_.add(now_);
}

void spool_drain::load_earlier_work() {
    statement progress(writer_.db(),
                       "SELECT thread_serial, thread, segment_serial, slot, read_segment_serial, read_slot, watermark"
                       " FROM spool_progress WHERE process = ?");
    progress.bind(trace_writer::number(rows_.id()));
    while (progress.next()) {
        auto const value = [&](int column) { return static_cast<std::uint64_t>(progress.integer(column)); };
        thread_progress const done{thread_id{progress.integer(1)},
                                   {value(2), static_cast<std::uint32_t>(value(3))},
                                   {value(4), static_cast<std::uint32_t>(value(5))},
                                   value(6)};
        earlier_.emplace(value(0), done);
        watermark_ = std::max(watermark_, done.watermark);
    }
    statement open(writer_.db(),
                   "SELECT thread, api, event.id FROM event JOIN thread ON thread.id = thread"
                   " WHERE process = ? AND duration IS NULL ORDER BY event.id");
    open.bind(trace_writer::number(rows_.id()));
    while (open.next())
        earlier_open_[open.integer(0)].push_back(
            {std::nullopt, static_cast<std::uint16_t>(abi_of(open.integer(1))), event_id{open.integer(2)}});
    statement phase(writer_.db(), "SELECT max(at) FROM phase WHERE process = ? AND what = 'exec'");
    phase.bind(trace_writer::number(rows_.id()));
    if (phase.next() && !phase.is_null(0)) last_phase_ = spool::phase::exec;
    if (watermark_ != never && watermark_ != 0) written_ns_ = newest_ns_ = clock_.ns(watermark_);
}

// --- reading ------------------------------------------------------------------------------------------------------

void spool_drain::note_now() {
    bool const was_replaced = replaced_ || (last_phase_ == spool::phase::exec && !watch_.maps(file_.inode()));
    alive_ = watch_.alive() && !was_replaced;
    if (!alive_) supplier_.reset();  // nobody is left to supply
    now_ = read_clocks(file_.identity().clock);
    if (!alive_ || !clock_.continues(now_) || !clock_.add(now_) || !file_.writable()) return;
    // For a later drain, should this one be killed.
    auto& last = file_.header().last_clock;
    last.ticks.store(now_.ticks, std::memory_order_release);
    last.monotonic_ns.store(now_.ns, std::memory_order_release);
}

thread_drain& spool_drain::thread(std::uint32_t slot, std::uint64_t serial, std::uint32_t tid) {
    auto& place = threads_[serial];
    if (place) return *place;
    thread_progress done{};
    if (auto const known = earlier_.find(serial); known != earlier_.end()) {
        done = known->second;
    } else {
        done.row = writer_.add_thread(rows_.id(), tid, tid == file_.identity().pid);
    }
    place = std::make_unique<thread_drain>(static_cast<record_sink&>(*this), slot, serial, tid, done);
    if (auto const open = earlier_open_.find(trace_writer::number(done.row)); open != earlier_open_.end())
        place->open_calls = open->second;
    if (alive_) name_thread(*place);
    return *place;
}

void spool_drain::read() {
    soft_limit_ = alive_ ? clock_.ticks(less(now_.ns, margin)) : never;
    hard_limit_ = never;
    new_segments_ = 0;
    std::uint32_t const slots = file_.thread_slots_used();
    auto const share = static_cast<std::uint32_t>(limits_.records_ahead / std::max<std::size_t>(threads_.size(), 1));
    std::uint32_t const most = std::max(fewest_per_thread, share);
    for (std::uint32_t slot = 0; slot < slots; ++slot) read_slot(slot, most);
    if (!alive_ && read_everything()) read_what_is_left();
    for (auto const& [serial, one] : threads_) {
        // Records that end at the same tick may be written in any order, hence one tick on: so there is always
        // progress.
        if (!one->read_everything()) hard_limit_ = std::min(hard_limit_, one->unread_from() + 1);
    }
    if (alive_ && now_.ns > looked_ns_ + looking_interval) look_at_threads();
}

// The order of the loads matters: the state first, since a thread that has ended publishes nothing more; then what it
// holds back, since a thread that is not seen holding has published its record; then the records.
void spool_drain::read_slot(std::uint32_t slot, std::uint32_t most) {
    auto& owner = file_.thread(slot);
    auto const state = static_cast<thread_state>(owner.state.load(std::memory_order_acquire));
    if (state != thread_state::live && state != thread_state::ended) return;
    thread_drain& reader = thread(slot, owner.serial, owner.tid);
    if (reader.slot() != slot) return;  // two slots with one serial: damage, the strays are found later
    reader.ended = state == thread_state::ended || reader.gone;
    std::uint64_t const hold = owner.order_hold.load(std::memory_order_acquire);
    if (hold != 0 && !reader.ended) soft_limit_ = std::min(soft_limit_, hold);
    reader.read(file_, most);
}

bool spool_drain::read_everything() const {
    return std::ranges::all_of(threads_, [](auto const& one) { return one.second->read_everything(); });
}

// What a process leaves that no chain leads to, once it is gone and all chains are read.
void spool_drain::read_what_is_left() {
    if (leftovers_ == leftovers::unknown) {
        find_strays();
        leftovers_ = leftovers::strays;
    }
    if (leftovers_ == leftovers::strays && read_strays()) {
        add_calls_in_flight();
        leftovers_ = leftovers::none;
    }
}

bool spool_drain::is_stray(std::uint32_t index, spool::segment_header const& segment) const {
    if (segment.serial == 0 || segment.committed.load(std::memory_order_acquire) < 2) return false;
    // A drain that was killed while it moved a segment has left the original behind: of a thread that has been read to
    // its end nothing is lost.
    if (finished_.contains(segment.thread_serial)) return false;
    if (index < entered_.size() && entered_[index] == segment.serial) return false;
    if (auto const known = threads_.find(segment.thread_serial); known != threads_.end())
        return segment.serial > known->second->place().segment_serial;
    auto const earlier = earlier_.find(segment.thread_serial);
    return earlier == earlier_.end() || segment.serial >= earlier->second.from.segment_serial;
}

void spool_drain::find_strays() {
    for (std::uint32_t i = 0; i < file_.segments(); ++i) {
        if (auto const* const segment = file_.segment(i); is_stray(i, *segment))
            strays_.push_back({segment->serial, i});
    }
    std::ranges::sort(strays_, std::ranges::greater{}, &stray::serial);
}

// Returns true when there is none left. Their serials tell the order in which they were taken; that must do for the
// order of their records where there are too many to sort.
bool spool_drain::read_strays() {
    while (!strays_.empty()) {
        stray const next = strays_.back();
        auto const* const segment = file_.segment(next.index);
        if (segment && segment->serial == next.serial) {
            thread_drain& owner = thread(segment->thread_slot, segment->thread_serial, segment->tid);
            owner.read_stray(file_, next.index, limits_.records_ahead);
            if (!owner.read_everything() || waiting_.size() >= limits_.records_ahead) {
                force();
                return false;
            }
        }
        strays_.pop_back();
    }
    return true;
}

// Has the call that a thread was in left a record after all: its begin, or all of it, just before the thread could say
// so?
bool spool_drain::is_recorded(thread_drain const& thread, std::uint32_t api, std::uint64_t begin) const {
    auto const same = [&](thread_drain::open_call const& open) {
        return open.api == api && open.begin.value_or(begin) == begin;
    };
    return thread.last_begin == begin || std::ranges::any_of(thread.open_calls, same);
}

// A process that died inside calls: they get rows without an end.
void spool_drain::add_calls_in_flight() {
    for (std::uint32_t slot = 0; slot < file_.thread_slots_used(); ++slot) {
        auto& owner = file_.thread(slot);
        if (owner.state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(thread_state::live)) continue;
        std::uint64_t const begin = owner.call_begin.load(std::memory_order_acquire);
        std::uint32_t const api = owner.call_api.load(std::memory_order_acquire) - 1;
        if (begin == 0 || begin > clock_.last().ticks || api >= static_cast<std::uint32_t>(hooks::abi::count)) continue;
        thread_drain& inside = thread(slot, owner.serial, owner.tid);
        if (is_recorded(inside, api, begin)) continue;
        spool::call_record& call = in_flight_.emplace_back();
        call.api = static_cast<std::uint16_t>(api);
        call.type = record_type::open;
        call.slots = 1;
        call.begin = begin;
        spool::record_view const view{reinterpret_cast<spool::segment_header const*>(&call), 0};
        // What sorts by its end comes after all that has ended.
        std::uint64_t const key = sorts_by_begin(call) && begin >= watermark_ ? begin : std::max(newest_key_, begin);
        waiting_.push_back({key, view, &inside, nullptr});
    }
}

void spool_drain::wait(waiting_record const& record) {
    newest_key_ = std::max(newest_key_, record.key);
    ++records_read_;
    waiting_.push_back(record);
}

void spool_drain::entered(std::uint32_t segment_index, std::uint64_t serial) {
    if (entered_.size() <= segment_index) entered_.resize(segment_index + std::size_t{1});
    entered_[segment_index] = serial;
    ++new_segments_;
}

void spool_drain::text(thread_drain& thread, spool::text_kind kind, std::string const& text) {
    ++records_read_;
    if (kind != spool::text_kind::thread_name) return rows_.text(kind, text);
    thread.named = true;
    writer_.name_thread(thread.row(), text);
}

void spool_drain::name_thread(thread_drain& thread) {
    if (thread.named || !watch_.same_numbers()) return;
    auto const name = read_thread_name(file_.identity().pid, thread.tid());
    if (!name || *name == thread.name) return;
    thread.name = *name;
    writer_.name_thread(thread.row(), *name);
}

// Threads name themselves some time after they have begun. And some end without telling us: killed by exec, or inside a
// callback. What is no thread of the process any more writes no more.
void spool_drain::look_at_threads() {
    looked_ns_ = now_.ns;
    if (watch_.image_changed() && !watch_.maps(file_.inode())) replaced_ = true;
    for (auto const& [serial, one] : threads_) {
        if (one->ended) continue;
        name_thread(*one);
        one->gone = watch_.same_numbers() && !thread_exists(file_.identity().pid, one->tid());
    }
}

// --- order --------------------------------------------------------------------------------------------------------

std::uint64_t spool_drain::limit_ns() {
    std::uint64_t const patient = alive_ ? std::max(soft_limit_, clock_.ticks(less(now_.ns, window))) : never;
    own_limit_ = std::min(hard_limit_, patient);
    return own_limit_ == never ? never : clock_.ns(own_limit_);
}

void spool_drain::force() {
    forced_ = true;
}

void spool_drain::collect(std::uint64_t limit_ns, std::vector<ready_record>& ready) {
    bool const own = own_limit_ == never ? limit_ns == never : limit_ns >= clock_.ns(own_limit_);
    std::uint64_t limit = own ? own_limit_ : std::min(clock_.ticks(limit_ns), own_limit_);
    if (forced_) limit = newest_key_ + 1;
    forced_ = false;
    watermark_ = std::max(watermark_, limit);
    auto const stays = [&](waiting_record const& record) { return record.key >= watermark_; };
    auto const rest = std::stable_partition(waiting_.begin(), waiting_.end(), stays);
    for (auto record = rest; record != waiting_.end(); ++record)
        ready.push_back({clock_.ns(record->key), *record, this});
    waiting_.erase(rest, waiting_.end());
}

// --- writing ------------------------------------------------------------------------------------------------------

std::int64_t spool_drain::time(std::uint64_t ticks) const {
    return static_cast<std::int64_t>(clock_.ns(ticks)) - trace_.start_monotonic_ns();
}

void spool_drain::write(ready_record const& ready) {
    if (ready.ns < written_ns_) writer_.add_loss(rows_.id(), spool::loss::late_records, 1);
    newest_ns_ = std::max(newest_ns_, ready.ns);
    switch (ready.what.view.type()) {
        case record_type::phase:
            write_phase(ready);
            break;
        case record_type::range:
            write_range(ready);
            break;
        case record_type::nvtx:
            write_nvtx(ready);
            break;
        default:
            write_call(ready);
    }
    ready.what.thread->written(ready.what.segment);
}

void spool_drain::write_range(ready_record const& ready) {
    auto const& record = ready.what.view.range();
    said_at const where{time(record.at), ready.what.thread->row(), rows_.context(record.context)};
    if (record.end == 0)
        writer_.begin_range(rows_.id(), record.number, where, ready.what.view.range_name());
    else
        writer_.end_range(rows_.id(), record.number, where);
}

void spool_drain::write_nvtx(ready_record const& ready) {
    using spool::nvtx_action;
    spool::record_view const view = ready.what.view;
    auto const& record = view.nvtx();
    said_at const where{time(record.at), ready.what.thread->row(), rows_.context(record.context)};
    switch (record.action) {
        case nvtx_action::mark:
            return writer_.add_nvtx_mark(nvtx_row_of(view, rows_.id(), where));
        case nvtx_action::push:
        case nvtx_action::start:
            return writer_.begin_nvtx(nvtx_row_of(view, rows_.id(), where));
        case nvtx_action::pop:
            return writer_.pop_nvtx(rows_.id(), where, view.nvtx_domain());
        case nvtx_action::end:
            return writer_.end_nvtx(rows_.id(), where, record.number);
        case nvtx_action::name:
            return write_nvtx_name(*ready.what.thread, view);
    }
}

// What the program calls its thread counts more than what the system does. A thread that names itself is known, though
// it may have ended by now; another of that number has to be there still, since numbers are given out again.
void spool_drain::write_nvtx_name(thread_drain& by, spool::record_view record) {
    auto const& said = record.nvtx();
    writer_.add_nvtx_name(rows_.id(), resource_name(said.resource), said.number, record.nvtx_message(), time(said.at));
    if (said.resource != spool::nvtx_resource::thread) return;
    for (auto const& [serial, one] : threads_) {
        bool const meant = by.tid() == said.number ? one.get() == &by : one->tid() == said.number && !one->ended;
        if (!meant) continue;
        one->named = true;
        writer_.name_thread(one->row(), record.nvtx_message());
    }
}

void spool_drain::write_phase(ready_record const& ready) {
    auto const& record = ready.what.view.phase();
    if (record.what < spool::phase::python_initialized) {  // those of an interpreter say nothing of the process's end
        last_phase_ = record.what;
        last_phase_of_ = ready.what.thread;
    }
    writer_.add_phase(rows_.id(), time(record.at), phase_name(record.what), ready.what.thread->row());
    if (record.what == spool::phase::driver_initialized) rows_.driver_version(record.value);
}

event_row spool_drain::row_of(ready_record const& ready) {
    spool::call_record const& call = ready.what.view.call();
    event_row row{.begin = time(call.begin),
                  .duration = std::nullopt,
                  .thread = ready.what.thread->row(),
                  .api = api_row(static_cast<hooks::abi>(call.api)),
                  .result = std::nullopt,
                  .context = rows_.context(call.context),
                  .stream = call.stream,
                  .object = call.object,
                  .other = call.other,
                  .size = call.size,
                  .extra = call.extra,
                  .stack = stack_of(ready.what),
                  .flags = call.flags & ~spool::flag_stack_cut};
    if (call.type != record_type::open) {
        row.duration = time(call.begin + spool::unpack_duration(call.duration)) - row.begin;
        row.result = call.result;
    }
    return row;
}

std::optional<stack_id> spool_drain::stack_of(waiting_record const& record) {
    std::uint16_t const number = record.view.call().stack;
    if (number == 0 || !record.segment) return std::nullopt;
    segment_stack* const stack = record.thread->stack(*record.segment, number);
    if (!stack) {
        damaged(spool::loss::damaged_records);
        return std::nullopt;
    }
    if (!stack->id) stack->id = rows_.stack({record.segment->header, stack->slot});
    return stack->id;
}

void spool_drain::write_call(ready_record const& ready) {
    event_row const row = row_of(ready);
    // A thread that makes calls after its exec is one whose exec has failed.
    if (last_phase_ == spool::phase::exec && last_phase_of_ == ready.what.thread) last_phase_.reset();
    if (ready.what.view.type() == record_type::close) return write_close(ready, row);
    bool const open = ready.what.view.type() == record_type::open;
    event_id const id = writer_.add_event(row);
    spool::call_record const& call = ready.what.view.call();
    if (open) ready.what.thread->open_calls.push_back({call.begin, call.api, id});
    ++calls_;
}

// Calls of a thread nest, so the innermost that fits is the one; those inside it that never ended (a thread left them
// by longjmp or exit) stay without an end.
void spool_drain::write_close(ready_record const& ready, event_row const& row) {
    spool::call_record const& call = ready.what.view.call();
    auto& open_calls = ready.what.thread->open_calls;
    auto const is_its_open = [&](thread_drain::open_call const& open) {
        return open.api == call.api && open.begin.value_or(call.begin) == call.begin;
    };
    auto const open = std::find_if(open_calls.rbegin(), open_calls.rend(), is_its_open);
    if (open == open_calls.rend()) {  // its begin found no room in the spool
        writer_.add_loss(rows_.id(), spool::loss::late_records, 1);
        writer_.add_event(row);
        ++calls_;
        return;
    }
    writer_.finish_event(open->row, row);
    open_calls.erase(open.base() - 1, open_calls.end());
}

void spool_drain::save_progress() {
    written_ns_ = std::max(written_ns_, newest_ns_);
    for (auto const& [serial, one] : threads_) {
        auto const now = one->progress(watermark_);
        if (!now) continue;
        writer_.save({rows_.id(), serial, now->row, now->from.segment_serial, now->from.slot,
                      now->read_to.segment_serial, now->read_to.slot, now->watermark});
    }
}

// --- giving back --------------------------------------------------------------------------------------------------

void spool_drain::committed() {
    if (!alive_ || !file_.writable()) return;
    std::vector<std::uint64_t> gone;
    for (auto const& [serial, one] : threads_) {
        auto const done = one->take_done_segments();
        // First out of the chain, then onto the free list: a drain killed in between loses a segment, but never shares
        // one.
        if (!done.empty())
            file_.thread(one->slot()).first_segment.store(one->first_segment(), std::memory_order_release);
        for (std::uint32_t const index : done) file_.recycle_segment(index);
        if (one->ended && one->read_everything() && one->waiting() == 0 && one->unfinished_texts() == 0)
            gone.push_back(serial);
    }
    for (std::uint64_t const serial : gone) {
        release_slot(*threads_.at(serial));
        finished_.insert(serial);
        threads_.erase(serial);
    }
    // Most processes record little; a thread of their own is for those that do not.
    if (!supplier_ && alive_ && file_.writable() && new_segments_ >= segments_of_a_busy_pass)
        supplier_ = std::make_unique<segment_supplier>(file_);
}

void spool_drain::release_slot(thread_drain& thread) {
    auto& owner = file_.thread(thread.slot());
    {
        std::lock_guard const lock(file_.reading().mutex);
        file_.reading().leave(thread.slot());
    }
    owner.first_segment.store(spool::no_segment, std::memory_order_relaxed);
    for (std::uint32_t const index : thread.take_all_segments()) file_.recycle_segment(index);
    auto& dropped = file_.header().losses[static_cast<std::size_t>(spool::loss::records_dropped)];
    dropped.fetch_add(owner.dropped.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
    // Release: the next owner of the slot finds it as it was left here.
    owner.state.store(static_cast<std::uint32_t>(thread_state::unused), std::memory_order_release);
}

// --- the end ------------------------------------------------------------------------------------------------------

bool spool_drain::complete() const {
    return !alive_ && leftovers_ == leftovers::none && waiting_.empty() && read_everything();
}

std::int64_t spool_drain::last_sign_of_life() const {
    std::uint64_t const clock = file_.header().last_clock.monotonic_ns.load(std::memory_order_relaxed);
    std::uint64_t const known = clock <= clock_.last().ns ? std::max(clock, newest_ns_) : newest_ns_;
    return static_cast<std::int64_t>(std::max(known, file_.identity().first_monotonic_ns)) -
           trace_.start_monotonic_ns();
}

void spool_drain::finish() {
    process_end end = process_end::abrupt;
    if (file_.header().ended.load(std::memory_order_acquire) == 1 || last_phase_ == spool::phase::end)
        end = process_end::clean;
    else if (replaced_ || last_phase_ == spool::phase::exec)
        end = process_end::exec;
    for (auto const& [serial, one] : threads_)
        writer_.add_loss(rows_.id(), spool::loss::damaged_records, one->unfinished_texts());
    rows_.finish(end, last_sign_of_life(), exit_);
}

void spool_drain::leave_unfinished() {
    rows_.leave_unfinished(last_sign_of_life());
}

}  // namespace lastref::drain
