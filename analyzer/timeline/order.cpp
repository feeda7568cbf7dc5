#include "analyzer/timeline/order.h"

#include "analyzer/model/process_state.h"

#include <algorithm>

namespace lastref::timeline {
namespace {

using k = event_kind;

constexpr std::uint64_t stream_non_blocking = 1;      // CU_STREAM_NON_BLOCKING
constexpr std::uint64_t graph_node_event_record = 7;  // CU_GRAPH_NODE_TYPE_EVENT_RECORD

moment moment_of(model::event const& e) {
    return {e.row.id, e.row.begin};
}

bool gives_work(k kind) {
    switch (kind) {
        case k::memory_alloc_async:
        case k::memory_free_async:
        case k::kernel_launch:
        case k::copy:
        case k::memory_set:
        case k::prefetch:
        case k::host_function:
        case k::stream_callback:
        case k::graph_launch:
        case k::graph_upload:
        case k::event_record:
        case k::stream_wait_event:
        case k::stream_memory_op:
        case k::stream_attach:
        case k::semaphore_signal:
        case k::semaphore_wait:
            return true;
        default:
            return false;
    }
}

// Copies without a stream return when they are done, but those inside device memory, which the driver may go on with.
bool host_waits_for_copy(model::event const& e) {
    if (e.kind() != k::copy || e.stream.token != model::stream_token::null) return false;
    std::string_view const name = e.api.name;
    return name.find("Async") == std::string_view::npos && name.find("DtoD") == std::string_view::npos;
}

bool frees_synchronously(model::event const& e) {
    if (e.kind() == k::memory_free)
        return e.subject != nullptr && e.subject->kind != model::object_kind::stream_ordered &&
               e.subject->kind != model::object_kind::imported_pointer;
    return e.kind() == k::context_destroy || e.kind() == k::primary_context_reset;
}

}  // namespace

// --- streams -------------------------------------------------------------------------------------------------------

order::stream_state const* order::find(std::uint32_t number) const {
    auto const found = streams_.find(number);
    return found == streams_.end() ? nullptr : &found->second;
}

std::uint32_t order::number_of(model::stream_identity const& stream) const {
    auto const found = numbers_.find(stream);
    return found == numbers_.end() ? 0 : found->second;
}

void order::made(model::event const& e) {
    if (e.subject == nullptr) return;
    stream_state state;
    state.context = e.row.context.value;
    state.blocking = (e.row.extra & stream_non_blocking) == 0;
    made_[e.subject->id] = std::move(state);
}

std::uint32_t order::enter(model::process_state const& process, model::event const& e) {
    auto const [slot, fresh] = numbers_.try_emplace(e.stream, 0);
    if (!fresh) return slot->second;
    slot->second = ++last_number_;
    stream_state state;
    state.context = e.row.context.value;
    if (auto const known = made_.find(e.stream.stream); known != made_.end()) {
        state = std::move(known->second);
        made_.erase(known);
    }
    state.process = process.process().id.value;
    state.legacy = e.stream.kind == model::stream_kind::legacy;
    if (state.legacy) contexts_[state.context].legacy_stream = last_number_;
    streams_[last_number_] = std::move(state);
    return last_number_;
}

void order::forget(std::uint32_t stream) {
    streams_.erase(stream);
    auto const in_stream = [stream](scope_key key, moment const&) {
        return key.kind == scope::stream && key.number == stream;
    };
    host_.erase_if(in_stream);
}

void order::on_released(model::process_state const&, model::object const& released, model::event const&,
                        model::release_cause) {
    if (released.kind == model::object_kind::event) records_.erase(released.id);
    if (released.kind == model::object_kind::graph_exec) launches_.erase(released.id);
    if (released.kind != model::object_kind::stream) return;
    made_.erase(released.id);
    auto const found = numbers_.find({model::stream_kind::created, model::stream_token::created, {}, {}, released.id});
    if (found == numbers_.end()) return;
    state_of(found->second).gone = true;
    gone_.push_back(found->second);
    numbers_.erase(found);
    if (gone_.size() <= most_gone) return;
    forget(gone_.front());
    gone_.pop_front();
}

// --- what comes before what ----------------------------------------------------------------------------------------

bool order::covers(clock const& what, point const& earlier, stream_state const& of) const {
    auto const event = earlier.given.event;
    return what.covers({scope::stream, earlier.stream}, event) ||
           (of.blocking && of.context != 0 && what.covers({scope::legacy_group, of.context}, event)) ||
           what.covers({scope::context, of.context}, event) || what.covers({scope::process, of.process}, event);
}

// What the host has waited for goes without saying.
void order::prune(clock& what) const {
    what.erase_if([this](scope_key key, moment const& until) {
        if (key.kind == scope::legacy_group && host_.covers({scope::context, key.number}, until.event)) return true;
        if (key.kind != scope::stream) return host_.covers(key, until.event);
        auto const* stream = find(key.number);
        return stream == nullptr || covers(host_, {key.number, until}, *stream);
    });
}

// Drops what a wait for the whole context says as well.
void order::compact_host() {
    host_.erase_if([this](scope_key key, moment const& until) {
        if (key.kind != scope::stream) return false;
        auto const* stream = find(key.number);
        return stream == nullptr || host_.covers({scope::context, stream->context}, until.event);
    });
}

// What is done when all that `stream` was given up to `until` is done.
clock order::everything_before(std::uint32_t stream, moment until) const {
    auto const& state = streams_.at(stream);
    clock out = state.after;
    out.add({scope::stream, stream}, until);
    auto const found = contexts_.find(state.context);
    if (found != contexts_.end()) {
        auto const& context = found->second;
        out.join(context.waits);
        if (state.legacy) {
            out.join(context.blocking_pending);
        } else if (state.blocking && context.last_legacy.event) {
            out.add({scope::legacy_group, state.context}, context.last_legacy);
            if (auto const* legacy = find(context.legacy_stream)) out.join(legacy->after);
        }
    }
    if (state.legacy) out.add({scope::legacy_group, state.context}, until);
    prune(out);
    return out;
}

clock order::everything_in(model::process_state const& process, moment until) const {
    clock out;
    out.add({scope::process, process.process().id.value}, until);
    return out;
}

void order::wait_for(std::uint32_t stream, clock const& what) {
    auto& state = state_of(stream);
    prune(state.after);
    state.after.join(what);
    if (!state.blocking || state.legacy) return;
    auto& pending = contexts_[state.context].blocking_pending;
    prune(pending);
    pending.join(what);
}

bool order::before(point const& earlier, model::stream_identity const& later) const {
    auto const* from = find(earlier.stream);
    auto const number = number_of(later);
    auto const* to = find(number);
    if (from == nullptr || to == nullptr || earlier.stream == number) return true;
    if (covers(host_, earlier, *from) || covers(to->after, earlier, *from)) return true;
    auto const found = contexts_.find(to->context);
    if (found == contexts_.end()) return false;
    auto const& context = found->second;
    if (covers(context.waits, earlier, *from)) return true;
    if (!to->blocking) return false;
    bool const joined = from->blocking && from->context == to->context;
    if (joined && (from->legacy || to->legacy || earlier.given.event < context.last_legacy.event)) return true;
    if (to->legacy) return covers(context.blocking_pending, earlier, *from);
    auto const* legacy = find(context.legacy_stream);
    return legacy != nullptr && covers(legacy->after, earlier, *from);
}

bool order::completed(point const& earlier) const {
    auto const* from = find(earlier.stream);
    return from == nullptr || covers(host_, earlier, *from);
}

std::optional<moment> order::latest_before(point const& of, model::stream_identity const& later) const {
    std::optional<moment> out;
    auto const look = [&](clock const& what) {
        auto const* until = what.find({scope::stream, of.stream});
        if (until != nullptr && (!out || out->event < until->event)) out = *until;
    };
    look(host_);
    if (auto const* to = find(number_of(later))) look(to->after);
    return out;
}

bool order::blocking(model::stream_identity const& stream) const {
    auto const* state = find(number_of(stream));
    return state == nullptr || state->blocking;
}

bool order::gone(point const& of) const {
    auto const* state = find(of.stream);
    return state == nullptr || state->gone;
}

point order::work(model::event const& e) const {
    return {number_of(e.stream), moment_of(e)};
}

// --- events --------------------------------------------------------------------------------------------------------

void order::record(model::process_state const& process, model::event const& e, std::uint32_t stream) {
    if (e.subject == nullptr) return;
    auto what = stream != 0 ? everything_before(stream, moment_of(e)) : everything_in(process, moment_of(e));
    records_[e.subject->id] = std::make_shared<clock const>(std::move(what));
}

void order::stream_waits_for_event(model::process_state const& process, model::event const& e, std::uint32_t stream) {
    if (graphs_record_events_.contains(process.process().id))
        return wait_for(stream, everything_in(process, moment_of(e)));
    auto const found = e.subject ? records_.find(e.subject->id) : records_.end();
    if (found != records_.end()) return wait_for(stream, *found->second);
    // An event of another process, or recorded before the recording: nobody knows what it stands for.
    if (e.subject == nullptr) wait_for(stream, everything_in(process, moment_of(e)));
}

void order::host_waits_for_event(model::process_state const& process, model::event const& e) {
    if (e.subject == nullptr || graphs_record_events_.contains(process.process().id))
        return host_waits(everything_in(process, moment_of(e)));
    if (auto const found = records_.find(e.subject->id); found != records_.end()) host_waits(*found->second);
}

// Only streams that were given work before the call began: others may have come while it waited.
void order::host_waits_for_context(model::process_state const& process, model::event const& e) {
    moment const begin{e.row.id, e.row.begin};
    auto const named = static_cast<store::handle>(e.kind() == k::context_synchronize ? e.row.object : 0);
    if (named == 0) host_.add({scope::context, e.row.context.value}, begin);
    for (auto const& context : process.trace().contexts())
        if (named != 0 && context.process == process.process().id && context.handle == named)
            host_.add({scope::context, context.id.value}, begin);
    compact_host();
}

void order::launch(model::event const& e, std::uint32_t stream) {
    if (e.subject == nullptr) return;
    auto& last = launches_[e.subject->id];
    if (last) wait_for(stream, *last);
    last = std::make_shared<clock const>(everything_before(stream, moment_of(e)));
}

void order::signal_or_wait(model::event const& e, std::uint32_t stream) {
    bool const known = e.kind() != k::stream_memory_op;
    bool const may_wait = known ? e.kind() == k::semaphore_wait : e.api.name.find("Write") == std::string::npos;
    bool const may_signal = known ? e.kind() == k::semaphore_signal : e.api.name.find("Wait") == std::string::npos;
    auto& signalled = signalled_[e.process];
    if (may_wait) wait_for(stream, signalled);
    if (!may_signal) return;
    prune(signalled);
    signalled.join(everything_before(stream, moment_of(e)));
}

void order::callback_begins(model::event const& e) {
    auto const found = callbacks_.find({e.row.extra, e.row.object});
    if (found == callbacks_.end()) return;
    host_waits(*found->second.front());
    found->second.pop_front();
    if (found->second.empty()) callbacks_.erase(found);
}

void order::give(model::process_state const& process, model::event const& e) {
    auto const stream = enter(process, e);
    auto const& state = state_of(stream);
    switch (e.kind()) {
        case k::stream_wait_event:
            stream_waits_for_event(process, e, stream);
            break;
        case k::event_record:
            record(process, e, stream);
            break;
        case k::graph_launch:
            launch(e, stream);
            break;
        case k::stream_memory_op:
        case k::semaphore_signal:
        case k::semaphore_wait:
            signal_or_wait(e, stream);
            break;
        case k::host_function:
        case k::stream_callback:
            callbacks_[{e.row.extra, e.row.object}].push_back(
                std::make_shared<clock const>(everything_before(stream, moment_of(e))));
            break;
        default:
            break;
    }
    if (state.legacy) {
        auto& context = contexts_[state.context];
        context.last_legacy = moment_of(e);
        state_of(stream).after.join(context.blocking_pending);
        context.blocking_pending.clear();
    }
    if (host_waits_for_copy(e)) host_waits(everything_before(stream, moment_of(e)));
}

void order::on_event(model::process_state const& process, model::event const& e) {
    if (e.kind() == k::callback_host_function || e.kind() == k::callback_stream) return callback_begins(e);
    if (!e.row.succeeded()) return;
    bool const on_stream = e.stream.kind != model::stream_kind::none;
    if (on_stream && gives_work(e.kind())) {
        if (!process.capturing(e.stream)) give(process, e);
        return;
    }
    switch (e.kind()) {
        case k::stream_create:
            return made(e);
        case k::stream_synchronize:
        case k::stream_query: {
            auto const stream = enter(process, e);
            return host_waits(everything_before(stream, {e.row.id, e.row.begin}));
        }
        case k::event_synchronize:
        case k::event_query:
            return host_waits_for_event(process, e);
        case k::context_synchronize:
            return host_waits_for_context(process, e);
        case k::context_record_event:
            return record(process, e, 0);
        case k::context_wait_event:
            if (auto const found = e.subject ? records_.find(e.subject->id) : records_.end(); found != records_.end()) {
                auto& waits = contexts_[e.row.context.value].waits;
                prune(waits);
                waits.join(*found->second);
            }
            return;
        case k::graph_add_node:
        case k::graph_node_set:
        case k::graph_exec_node_set:
            if (e.kind() != k::graph_add_node ? e.api.name.find("EventRecord") != std::string::npos
                                              : e.row.extra == graph_node_event_record)
                graphs_record_events_[process.process().id] = true;
            return;
        default:
            if (frees_synchronously(e)) host_.add({scope::context, e.row.context.value}, moment_of(e));
    }
}

}  // namespace lastref::timeline
