#include "analyzer/ledger/accountant.h"

#include "analyzer/model/process_state.h"

#include <algorithm>

namespace lastref::ledger {
namespace {

constexpr std::uint64_t flag_move = 1;  // CU_GRAPH_USER_OBJECT_MOVE

// Owners that are no objects of the model's, apart from all that are.
constexpr std::uint64_t pending_ids = std::uint64_t{1} << 63;

object_id root_of(model::process_state const& process, object_id id) {
    auto const* part = process.graphs().find(id);
    while (part != nullptr && part->parent) {
        id = part->parent;
        part = process.graphs().find(id);
    }
    return id;
}

bool is_exec(model::object_kind kind) {
    return kind == model::object_kind::graph_exec || kind == model::object_kind::child_exec;
}

bool may_complete_work(store::verb verb) {
    return verb == store::verb::wait || verb == store::verb::query;
}

}  // namespace

void accountant::on_event(model::process_state const&, model::event const& e) {
    using k = event_kind;
    switch (e.kind()) {
        case k::user_object_create:
        case k::user_object_retain:
        case k::user_object_release:
        case k::graph_retain_user_object:
        case k::graph_release_user_object:
            return on_user_object(e);
        case k::callback_user_object:
            return on_destructor(e);
        case k::graph_launch:
            if (e.subject && e.row.succeeded()) {
                auto const work = order_.work(e);
                auto& launches = launches_[e.subject->id];
                std::erase_if(launches, [&work](timeline::point const& l) { return l.stream == work.stream; });
                launches.push_back(work);
            }
            return;
        default:
            if (!pending_.empty() && may_complete_work(e.api.verb)) settle();
    }
}

void accountant::on_user_object(model::event const& e) {
    using k = event_kind;
    // A call that never returned is counted when it releases: nothing says that it was refused.
    bool const counted = e.row.succeeded() || (!e.row.returned() && e.api.verb == store::verb::release);
    if (e.subject == nullptr || !counted) return;
    auto const object = e.subject->id;
    auto const count = static_cast<std::int64_t>(e.row.size);
    switch (e.kind()) {
        case k::user_object_create:
            return book_.create(object, count);
        case k::user_object_retain:
            return book_.retain(object, count);
        case k::user_object_release:
            return book_.release(object, count);
        case k::graph_retain_user_object:
            if (e.related) book_.retain_by(e.related->id, object, count, (e.row.extra & flag_move) != 0);
            return;
        default:
            if (e.related) book_.release_by(e.related->id, object, count);
    }
}

void accountant::on_destructor(model::event const& e) {
    auto const* account = e.subject ? book_.find(e.subject->id) : nullptr;
    if (account == nullptr) return;
    if (held(*account) != 0) return early_.push_back({e.subject->id, e.process, e.row.id, e.row.begin});
    ++accuracy_.predicted;
    ++accuracy_.agreed;
    book_.close(e.subject->id);
}

// What stands against the destructor. A launch that it waited for is over, as the driver knows better than we do.
std::int64_t accountant::held(account const& of) const {
    auto held = of.total;
    for (auto const& [owner, count] : of.owners)
        if (pending(owner) != nullptr) held -= count;
    return held;
}

void accountant::check_early(model::event const& e) {
    std::erase_if(early_, [&](early_destructor const& early) {
        if (early.process != e.process || early.at < e.row.begin || early.at > e.row.end()) return false;
        auto const* account = book_.find(early.object);
        if (account == nullptr || held(*account) != 0) return false;
        ++accuracy_.predicted;
        ++accuracy_.agreed;
        book_.close(early.object);
        return true;
    });
}

void accountant::on_owner_copied(model::process_state const&, model::object const& from, model::object const& to,
                                 model::event const&) {
    book_.copy(from.id, to.id);
}

timeline::point const* accountant::running(object_id exec) const {
    auto const found = launches_.find(exec);
    if (found == launches_.end()) return nullptr;
    for (auto const& each : found->second)
        if (!order_.completed(each)) return &each;
    return nullptr;
}

void accountant::on_owner_gone(model::process_state const& process, model::object const& owner, model::event const& e) {
    auto const root = is_exec(owner.kind) ? root_of(process, owner.id) : object_id{};
    auto const* launched = root && book_.holds_any(owner.id) ? running(root) : nullptr;
    if (launched != nullptr) {
        if (pending_.size() == most_pending) {
            book_.drop(pending_.front().id);
            pending_.pop_front();
        }
        object_id const id{pending_ids | ++next_pending_};
        auto const* whole = process.graphs().find(root);
        pending_.push_back({id, whole ? whole->self : owner, e.where(), *launched});
        book_.hand_over(owner.id, id);
    } else {
        book_.drop(owner.id);
    }
    if (!early_.empty()) check_early(e);
    bool const lives_on = e.kind() == event_kind::graph_exec_update || e.kind() == event_kind::graph_exec_child_set;
    if (!lives_on && owner.id == root) launches_.erase(root);
}

void accountant::settle() {
    std::erase_if(pending_, [this](pending_release const& p) {
        if (!order_.completed(p.launch)) return false;
        book_.drop(p.id);
        return true;
    });
}

pending_release const* accountant::pending(object_id owner) const {
    if ((owner.value & pending_ids) == 0) return nullptr;
    auto const found = std::lower_bound(pending_.begin(), pending_.end(), owner,
                                        [](pending_release const& p, object_id wanted) { return p.id < wanted; });
    return found != pending_.end() && found->id == owner ? &*found : nullptr;
}

void accountant::on_process_end(model::process_state const& process) {
    auto const count = [this](model::object const& object) {
        if (object.kind != model::object_kind::user_object) return;
        auto const* account = book_.find(object.id);
        if (account != nullptr && account->total == 0) ++accuracy_.predicted;
    };
    std::erase_if(early_, [&](early_destructor const& early) {
        if (early.process != process.process().id) return false;
        if (accuracy_.unexpected++ == 0) accuracy_.first_unexpected = early.event;
        book_.close(early.object);
        return true;
    });
    process.objects().for_each(count);
    for (auto const& object : process.displaced_user_objects()) count(object);
}

}  // namespace lastref::ledger
