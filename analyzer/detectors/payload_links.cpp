#include "analyzer/detectors/payload_links.h"

#include "analyzer/detectors/detector.h"

#include <algorithm>

namespace lastref::detectors {

void payload_links::link(model::process_state const& process, model::event const& e) {
    auto const payload = e.row.other;
    auto const* memory = process.objects().find(model::handle_space::device_pointer, payload);
    if (memory == nullptr) memory = process.objects().find(model::handle_space::host_pointer, payload);
    bool const by_address = memory != nullptr;
    auto const last = last_.find(e.row.thread);
    if (memory == nullptr) {
        if (last == last_.end() || last->second.calls_since > most_calls_between) return;
        auto const waiting = by_memory_.find(last->second.memory);
        if (waiting == by_memory_.end() || waiting->second.user_object) return;
        memory = &waiting->second.memory;
    }
    by_memory_[memory->id] = {e.subject->id, *memory, e.where(), by_address, {}, e.row.object, payload};
    memory_of_[e.subject->id] = memory->id;
    if (last != last_.end()) last_.erase(last);
}

void payload_links::on_event(model::process_state const& process, model::event const& e) {
    if (is_creation(e) && model::is_memory(e.subject->kind)) {
        // A candidate until the next one; most never meet a user object.
        if (auto const last = last_.find(e.row.thread); last != last_.end()) {
            auto const passed = by_memory_.find(last->second.memory);
            if (passed != by_memory_.end() && !passed->second.user_object) by_memory_.erase(passed);
        }
        last_[e.row.thread] = {e.subject->id, 0};
        by_memory_[e.subject->id] = {{}, *e.subject, {}, false, {}, 0, 0};
        return;
    }
    if (is_beside_driver(e.kind())) return;
    if (e.kind() == event_kind::user_object_create && e.subject) return link(process, e);
    if (e.kind() == event_kind::callback_user_object && e.subject) {
        auto const memory = memory_of_.find(e.subject->id);
        if (memory != memory_of_.end()) by_memory_[memory->second].destructor = e.where();
    }
    if (auto const last = last_.find(e.row.thread); last != last_.end()) ++last->second.calls_since;
}

void payload_links::on_released(model::process_state const&, model::object const& gone, model::event const&,
                                model::release_cause) {
    if (!model::is_memory(gone.kind)) return;
    auto const found = by_memory_.find(gone.id);
    if (found == by_memory_.end()) return;
    memory_of_.erase(found->second.user_object);
    by_memory_.erase(found);
}

bool payload_links::close_by(payload_link const& l) const {
    if (l.by_address) return true;
    auto const [slot, fresh] = near_.try_emplace({l.memory.created.stack, l.created.stack}, false);
    if (fresh) slot->second = near(l);
    return slot->second;
}

bool payload_links::near(payload_link const& l) const {
    auto const memory = trace_.stack_of(l.memory.created.stack).frames;
    auto const object = trace_.stack_of(l.created.stack).frames;
    if (memory.empty() || object.empty()) return false;
    auto const same = [](store::frame const& a, store::frame const& b) { return a.address == b.address; };
    auto const [m, o] = std::mismatch(memory.rbegin(), memory.rend(), object.rbegin(), object.rend(), same);
    return static_cast<std::size_t>(memory.rend() - m) <= most_frames_apart &&
           static_cast<std::size_t>(object.rend() - o) <= most_frames_apart;
}

payload_link const* payload_links::of_memory(model::object_id memory) const {
    auto const found = by_memory_.find(memory);
    if (found == by_memory_.end() || !found->second.user_object) return nullptr;
    return close_by(found->second) ? &found->second : nullptr;
}

payload_link const* payload_links::of_user_object(model::object_id user_object) const {
    auto const found = memory_of_.find(user_object);
    return found == memory_of_.end() ? nullptr : of_memory(found->second);
}

}  // namespace lastref::detectors
