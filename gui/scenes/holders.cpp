#include "gui/scenes/holders.h"

#include "analyzer/findings/wording.h"
#include "gui/scenes/timeline_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace lastref::gui::scenes {
namespace {

using k = event_kind;

constexpr std::uint32_t the_program = 0;

holder_kind kind_of(model::object_kind kind) {
    switch (kind) {
        case model::object_kind::child_graph:
            return holder_kind::child_graph;
        case model::object_kind::graph_exec:
            return holder_kind::graph_exec;
        case model::object_kind::child_exec:
            return holder_kind::child_exec;
        default:
            return holder_kind::graph;
    }
}

std::string name_of(holder_kind kind, store::handle handle) {
    auto const numbered = [handle](char const* what) {
        return handle == 0 ? std::string(what) : fmt::format("{} {}", what, findings::handle_text(handle));
    };
    switch (kind) {
        case holder_kind::program:
            return "the program";
        case holder_kind::graph:
            return numbered("graph");
        case holder_kind::child_graph:
            return numbered("child graph");
        case holder_kind::graph_exec:
            return numbered("executable graph");
        case holder_kind::child_exec:
            return "child graph of an executable graph";
        case holder_kind::launch:
            return numbered("launch in flight of executable graph");
    }
    return {};
}

std::string stream_name(model::stream_identity const& s) {
    switch (s.kind) {
        case model::stream_kind::legacy:
            return "the legacy default stream";
        case model::stream_kind::per_thread:
            return "a per-thread default stream";
        default:
            return "stream " + findings::handle_text(s.handle);
    }
}

}  // namespace

// --- a story -------------------------------------------------------------------------------------------------------

std::int64_t holder::count_at(time_ns at) const {
    auto const later = [](time_ns t, reference_step const& s) { return t < s.at; };
    auto const next = std::upper_bound(references.begin(), references.end(), at, later);
    return next == references.begin() ? 0 : std::prev(next)->count;
}

std::int64_t payload_story::references_at(time_ns at) const {
    std::int64_t out = 0;
    for (auto const& h : holders) out += h.count_at(at);
    return out;
}

time_ns payload_story::held_until() const {
    if (!destructor_at && references_at(end) != 0) return end;
    auto out = created_at;
    for (auto const& h : holders)
        for (auto const& r : h.references)
            if (r.count == 0) out = std::max(out, r.at - 1);
    return out;
}

std::string payload_story::verdict() const {
    if (destructor_at && freed_at)
        return fmt::format("Its destructor ran at {}, and its memory was freed {} later.",
                           findings::time_text(*destructor_at), findings::duration_text(*freed_at - *destructor_at));
    if (destructor_at && bytes > 0)
        return fmt::format("Its destructor ran at {}; its memory was never freed.",
                           findings::time_text(*destructor_at));
    if (destructor_at) return fmt::format("Its destructor ran at {}.", findings::time_text(*destructor_at));
    auto const left = references_at(end);
    if (left < 0)
        return fmt::format("More references were released than there were: {}. The destructor will never run.", left);
    if (left == 0) return "No references are left, and its destructor did not run.";
    std::string who;
    for (auto const& h : holders)
        if (h.count_at(end) != 0) who += (who.empty() ? "" : ", ") + fmt::format("{} ({})", h.name, h.count_at(end));
    return fmt::format("{} left at the end, held by {}.",
                       findings::counted(static_cast<std::uint64_t>(left), "reference"), who);
}

std::optional<std::size_t> payload_stories::find(store::event_id created) const {
    auto const earlier = [](payload const& p, store::event_id id) { return p.created < id; };
    auto const found = std::lower_bound(payloads_.begin(), payloads_.end(), created, earlier);
    if (found == payloads_.end() || found->created != created) return {};
    return static_cast<std::size_t>(found - payloads_.begin());
}

holder payload_stories::holder_of(owner const& from) const {
    return {from.kind,
            name_of(from.kind, from.handle),
            from.handle,
            from.made,
            from.made_at,
            from.gone_at,
            {},
            {},
            from.launches,
            from.last_launch,
            from.last_stream};
}

// With those that its references came from, so that a chain can be drawn when these are long gone.
std::size_t payload_stories::add_holder(payload_story& out, std::vector<std::uint32_t>& indices, std::uint32_t number,
                                        int depth) const {
    auto const known = std::find(indices.begin(), indices.end(), number);
    if (known != indices.end()) return static_cast<std::size_t>(known - indices.begin());
    auto const& from = owners_[number];
    auto made = holder_of(from);
    if (from.source && depth < deepest_source) made.source = add_holder(out, indices, *from.source, depth + 1);
    indices.push_back(number);
    out.holders.push_back(std::move(made));
    return out.holders.size() - 1;
}

std::shared_ptr<payload_story const> payload_stories::story(std::size_t number) const {
    auto out = std::make_shared<payload_story>();
    auto const& p = payloads_.at(number);
    out->object = p.object;
    out->handle = p.handle;
    out->payload = p.payload_handle;
    out->created = p.created;
    out->created_at = p.created_at;
    out->destructor_at = p.destructor_at;
    out->freed_at = p.freed_at;
    out->bytes = p.bytes;
    out->marks = marks_;
    out->end = end_;
    std::vector<std::uint32_t> indices;
    add_holder(*out, indices, the_program);
    auto const of_it = [](change const& c, std::size_t wanted) { return c.payload < wanted; };
    auto each = std::lower_bound(changes_.begin(), changes_.end(), number, of_it);
    for (; each != changes_.end() && each->payload == number; ++each) {
        auto& steps = out->holders[add_holder(*out, indices, each->owner)].references;
        auto const at = steps.empty() ? each->at : std::max(each->at, steps.back().at);
        if (!steps.empty() && steps.back().at == at)
            steps.back().count = each->count;
        else
            steps.push_back({at, each->count});
    }
    return out;
}

// --- the pass ------------------------------------------------------------------------------------------------------

holders_builder::holders_builder(store::trace const& trace, ledger::accountant const& accountant,
                                 detectors::payload_links const& links)
    : trace_(trace), accountant_(accountant), links_(links), made_(std::make_shared<payload_stories>()) {
    made_->owners_.emplace_back();
}

void holders_builder::set(std::uint32_t payload, std::uint32_t owner, std::int64_t count, time_ns at) {
    made_->changes_.push_back({payload, owner, at, count});
    auto& all = held_by_[owner];
    if (count == 0)
        all.erase(payload);
    else
        all.insert(payload);
    if (all.empty()) held_by_.erase(owner);
}

std::uint32_t holders_builder::add_owner(model::object const& o, holder_kind kind) {
    auto const index = static_cast<std::uint32_t>(made_->owners_.size());
    made_->owners_.push_back({o.id, kind, o.handle, o.created.event, o.created.at, {}, {}, 0, 0, {}});
    owners_[o.id] = index;
    return index;
}

// The ledger names launches in flight by ids of its own.
std::uint32_t holders_builder::owner_of(model::process_state const& process, model::object_id id) {
    if (auto const known = owners_.find(id); known != owners_.end()) return known->second;
    if (auto const* launch = accountant_.pending(id)) {
        auto const exec = owners_.find(launch->exec.id);
        auto o = launch->exec;
        o.id = id;
        o.created = launch->ended;
        auto const index = add_owner(o, holder_kind::launch);
        if (exec != owners_.end()) made_->owners_[index].source = exec->second;
        return index;
    }
    auto const* part = process.graphs().find(id);
    model::object unknown;
    unknown.id = id;
    return add_owner(part != nullptr ? part->self : unknown,
                     part != nullptr ? kind_of(part->self.kind) : holder_kind::graph);
}

// What the ledger says now against what it said before.
void holders_builder::compare(model::process_state const& process, std::uint32_t payload, time_ns at) {
    std::vector<holding> fresh;
    bool launch = false;
    auto const* account = accountant_.references().find(model::object_id{made_->payloads_[payload].object});
    if (account != nullptr) {
        if (account->caller != 0) fresh.push_back({the_program, account->caller});
        for (auto const& [id, count] : account->owners) {
            fresh.push_back({owner_of(process, id), count});
            launch |= accountant_.pending(id) != nullptr;
        }
    }
    auto& before = now_[payload];
    auto const count_in = [](std::vector<holding> const& all, std::uint32_t owner) {
        auto const found = std::find_if(all.begin(), all.end(), [owner](holding const& h) { return h.owner == owner; });
        return found == all.end() ? 0 : found->count;
    };
    for (auto const& [owner, count] : before)
        if (count_in(fresh, owner) == 0) set(payload, owner, 0, at);
    for (auto const& [owner, count] : fresh)
        if (count_in(before, owner) != count) set(payload, owner, count, at);
    before = std::move(fresh);
    if (launch)
        in_flight_.insert(payload);
    else
        in_flight_.erase(payload);
    if (account == nullptr) now_.erase(payload);
}

void holders_builder::created(model::process_state const&, model::event const& e) {
    if (e.subject == nullptr || e.subject->created.event != e.row.id) return;
    auto const index = static_cast<std::uint32_t>(made_->payloads_.size());
    auto const& o = *e.subject;
    made_->payloads_.push_back(
        {static_cast<std::uint32_t>(o.id.value), e.row.id, e.row.end(), o.handle, o.parent, {}, {}, 0});
    payloads_[o.id] = index;
}

void holders_builder::on_event(model::process_state const& process, model::event const& e) {
    made_->end_ = std::max(made_->end_, e.row.end());
    switch (e.kind()) {
        case k::user_object_create:
            created(process, e);
            [[fallthrough]];
        case k::user_object_retain:
        case k::user_object_release:
        case k::graph_retain_user_object:
        case k::graph_release_user_object: {
            auto const known = e.subject != nullptr ? payloads_.find(e.subject->id) : payloads_.end();
            bool const gives = e.api.verb == store::verb::release;
            if (known != payloads_.end()) compare(process, known->second, gives ? e.row.begin : e.row.end());
            return;
        }
        case k::callback_user_object:
            return destructor(process, e);
        case k::graph_launch:
            return launched(e);
        default:
            break;
    }
    bool const completes = e.api.verb == store::verb::wait || e.api.verb == store::verb::query;
    if (completes && !in_flight_.empty())
        for (auto const payload : std::vector(in_flight_.begin(), in_flight_.end()))
            compare(process, payload, e.row.end());
}

void holders_builder::link(std::uint32_t payload, model::object_id object) {
    auto const* found = links_.of_user_object(object);
    if (found == nullptr) return;
    made_->payloads_[payload].bytes = found->memory.bytes;
    payload_of_memory_[found->memory.id] = payload;
}

void holders_builder::destructor(model::process_state const& process, model::event const& e) {
    auto const known = e.subject != nullptr ? payloads_.find(e.subject->id) : payloads_.end();
    if (known == payloads_.end()) return;
    auto const payload = known->second;
    made_->payloads_[payload].destructor_at = e.row.begin;
    link(payload, e.subject->id);
    compare(process, payload, e.row.begin);
    payloads_.erase(known);
}

void holders_builder::launched(model::event const& e) {
    auto const known = e.subject != nullptr && e.row.succeeded() ? owners_.find(e.subject->id) : owners_.end();
    if (known == owners_.end()) return;
    auto& exec = made_->owners_[known->second];
    ++exec.launches;
    exec.last_launch = e.row.begin;
    exec.last_stream = stream_name(e.stream);
}

void holders_builder::compare_all_of(model::process_state const& process, model::object_id owner, time_ns at) {
    auto const known = owners_.find(owner);
    auto const all = known != owners_.end() ? held_by_.find(known->second) : held_by_.end();
    if (all == held_by_.end()) return;
    for (auto const payload : std::vector(all->second.begin(), all->second.end())) compare(process, payload, at);
}

void holders_builder::on_owner_copied(model::process_state const& process, model::object const& from,
                                      model::object const& to, model::event const& e) {
    auto const source = owners_.find(from.id);
    if (source == owners_.end() || !held_by_.contains(source->second)) return;
    auto const from_index = source->second;
    auto const known = owners_.find(to.id);
    auto const index = known != owners_.end() ? known->second : add_owner(to, kind_of(to.kind));
    made_->owners_[index].source = from_index;
    compare_all_of(process, from.id, e.row.end());
}

void holders_builder::on_owner_gone(model::process_state const& process, model::object const& owner,
                                    model::event const& e) {
    auto const known = owners_.find(owner.id);
    if (known == owners_.end()) return;
    compare_all_of(process, owner.id, e.row.begin);
    // An executable graph that is updated drops what it held, and lives on.
    bool const lives_on = e.kind() == k::graph_exec_update || e.kind() == k::graph_exec_child_set;
    if (!lives_on) made_->owners_[known->second].gone_at = e.row.begin;
}

void holders_builder::on_released(model::process_state const&, model::object const& gone, model::event const& e,
                                  model::release_cause) {
    auto const payload = payload_of_memory_.find(gone.id);
    if (payload == payload_of_memory_.end()) return;
    made_->payloads_[payload->second].freed_at = e.row.begin;
    payload_of_memory_.erase(payload);
}

void holders_builder::on_process_end(model::process_state const& process) {
    for (auto const& [object, payload] : payloads_)
        if (made_->payloads_[payload].bytes == 0) link(payload, object);
    made_->end_ = std::max(made_->end_, process.last_time());
}

std::shared_ptr<payload_stories const> holders_builder::take() {
    made_->marks_ = marks_of(trace_);
    for (auto const& m : made_->marks_) made_->end_ = std::max(made_->end_, m.at);
    auto const by_payload = [](auto const& a, auto const& b) { return a.payload < b.payload; };
    std::stable_sort(made_->changes_.begin(), made_->changes_.end(), by_payload);
    made_->changes_.shrink_to_fit();
    return std::move(made_);
}

std::shared_ptr<payload_stories const> build_payload_stories(store::trace const& trace, watch const& tell) {
    pass through(trace);
    holders_builder builder(trace, through.accountant(), through.links());
    through.add(builder);
    through.run(tell);
    return builder.take();
}

}  // namespace lastref::gui::scenes
