#include "analyzer/detectors/given_names.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lastref::detectors {

given_names::given_names(store::trace const& trace) : trace_(trace), reader_(trace.given_names()) {
    read_next();
    any_ = more_;
}

void given_names::read_next() {
    more_ = reader_.next(next_);
}

// --- reading along ---------------------------------------------------------------------------------------------------

void given_names::on_event(model::process_state const& process, model::event const& e) {
    if (!any_) return;
    processes_.try_emplace(e.process, &process);
    catch_up(e.row.id);
    see_context(process, e);
}

void given_names::catch_up(store::event_id before) {
    for (; more_ && next_.event < before; read_next())
        if (!next_.name.empty()) take(next_);
}

void given_names::take(store::given_name const& next) {
    switch (next.what) {
        case store::named_resource::stream:
            return name_object(next, model::handle_space::stream);
        case store::named_resource::event:
            return name_object(next, model::handle_space::event);
        case store::named_resource::context:
            return name_context(next);
        case store::named_resource::thread:
            for (auto const& thread : trace_.threads())
                if (thread.main && thread.process == next.process &&
                    static_cast<store::handle>(thread.tid) == next.handle)
                    main_threads_[thread.id] = next.name;
            return;
        case store::named_resource::other:
            return;
    }
}

void given_names::add(names& to, given next) {
    if (to.size() >= most_names) to.erase(to.begin() + 1);
    to.push_back(std::move(next));
}

// The model is at the first event behind the name: what that event made is not meant.
void given_names::name_object(store::given_name const& next, model::handle_space space) {
    auto const process = processes_.find(next.process);
    if (process == processes_.end()) return;
    auto const* const meant = process->second->objects().find(space, next.handle);
    if (meant == nullptr || meant->created.event > next.event) return;
    add(objects_[meant->id], {next.event, next.name});
}

void given_names::on_released(model::process_state const&, model::object const& gone, model::event const&,
                              model::release_cause) {
    if (objects_.empty() || !objects_.contains(gone.id)) return;
    gone_.push_back(gone.id);
    if (gone_.size() <= remembered) return;
    objects_.erase(gone_.front());
    gone_.pop_front();
}

void given_names::on_process_end(model::process_state const&) {
    catch_up(store::event_id{std::numeric_limits<std::int64_t>::max()});
}

// --- contexts --------------------------------------------------------------------------------------------------------

// Contexts have rows by life, which calls name as the one that was current; the call that makes one may come before the
// first call under it.
void given_names::name_context(store::given_name const& next) {
    auto& known = handles_[{next.process, next.handle}];
    bool const used = known.last && known.used >= known.made;
    add(used ? contexts_[known.last] : known.waiting, {next.event, next.name});
}

void given_names::see_context(model::process_state const& process, model::event const& e) {
    if (e.kind() == event_kind::context_create && e.row.succeeded() && e.row.object != 0) {
        auto& made = handles_[{e.process, e.row.object}];
        made.made = e.row.id;
        made.waiting.clear();
    }
    if (!e.row.context) return;
    auto& known = handles_[{process.process().id, trace_.at(e.row.context).handle}];
    // The call that makes a context may still be recorded under the one before of that handle.
    if (known.made == e.row.id && known.last == e.row.context) return;
    known.last = e.row.context;
    known.used = e.row.id;
    if (known.waiting.empty()) return;
    for (auto& each : known.waiting) add(contexts_[known.last], std::move(each));
    known.waiting.clear();
}

// --- asking ----------------------------------------------------------------------------------------------------------

std::string_view given_names::at(names const& all, store::event_id when) {
    auto const next = std::find_if(all.begin(), all.end(), [when](given const& each) { return each.since >= when; });
    return next == all.begin() ? std::string_view(all.front().name) : std::string_view(std::prev(next)->name);
}

std::string_view given_names::of(model::object_id object, store::event_id when) const {
    auto const found = objects_.find(object);
    return found == objects_.end() ? std::string_view{} : at(found->second, when);
}

std::string_view given_names::of(store::context_id context, store::event_id when) const {
    auto const found = contexts_.find(context);
    return found == contexts_.end() ? std::string_view{} : at(found->second, when);
}

std::string_view given_names::of_main_thread(store::thread_id thread) const {
    auto const found = main_threads_.find(thread);
    return found == main_threads_.end() ? std::string_view{} : std::string_view(found->second);
}

}  // namespace lastref::detectors
