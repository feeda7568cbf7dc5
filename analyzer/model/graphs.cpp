#include "analyzer/model/graphs.h"

#include <algorithm>
#include <utility>

namespace lastref::model {
namespace {

object_id id_in(std::unordered_map<store::handle, object_id> const& map, store::handle handle) {
    auto const found = map.find(handle);
    return found == map.end() ? object_id{} : found->second;
}

bool is_exec(object_kind kind) {
    return kind == object_kind::graph_exec || kind == object_kind::child_exec;
}

}  // namespace

graphs::part const* graphs::find(object_id id) const {
    auto const found = parts_.find(id);
    return found == parts_.end() ? nullptr : &found->second;
}

graphs::part* graphs::find_mutable(object_id id) {
    return const_cast<part*>(find(id));
}

object const* graphs::find_graph(store::handle handle) const {
    auto const* found = find(id_in(graph_handles_, handle));
    return found ? &found->self : nullptr;
}

object const* graphs::find_exec(store::handle handle) const {
    auto const* found = find(id_in(exec_handles_, handle));
    return found ? &found->self : nullptr;
}

graphs::part const* graphs::holder_of_node(store::handle node) const {
    return find(id_in(nodes_, node));
}

object const& graphs::add(part made) {
    auto const id = made.self.id;
    return parts_.insert_or_assign(id, std::move(made)).first->second.self;
}

object const& graphs::add_graph(object made) {
    if (made.handle != 0) graph_handles_[made.handle] = made.id;
    return add({std::move(made), {}, 0, 0, {}});
}

object const& graphs::add_exec(object made) {
    exec_handles_[made.handle] = made.id;
    return add({std::move(made), {}, 0, 0, {}});
}

object const& graphs::add_child(object_id parent, store::handle node, object made, object const* source,
                                copied const& tell) {
    if (made.handle != 0) graph_handles_[made.handle] = made.id;
    if (node != 0) nodes_[node] = made.id;
    if (depth_of(parent) >= deepest) {
        ++left_out_;
        while (find(parent)->parent) parent = find(parent)->parent;
    }
    auto const& child = add({std::move(made), parent, node, 0, {}});
    if (source != nullptr) {
        tell(*source, child);
        copy_tree(*source, child, tell);
    }
    // Only now: a graph may be added to itself, as it was before.
    if (auto* above = find_mutable(parent)) above->children.push_back(child.id);
    return child;
}

std::size_t graphs::depth_of(object_id id) const {
    std::size_t depth = 0;
    for (auto const* at = find(id); at != nullptr && at->parent; at = find(at->parent)) ++depth;
    return depth;
}

void graphs::copy_tree(object const& from, object const& to, copied const& tell) {
    copy_tree(from, to, tell, depth_of(to.id));
}

void graphs::copy_tree(object const& from, object const& to, copied const& tell, std::size_t depth) {
    auto const* source = find(from.id);
    if (source == nullptr) return;
    for (auto const child_id : source->children) {
        if (parts_.size() >= most_parts || depth >= deepest) return void(++left_out_);
        auto const* child = find(child_id);
        object made = child->self;
        made.id = next_id_();
        made.kind = is_exec(to.kind) ? object_kind::child_exec : object_kind::child_graph;
        made.handle = 0;
        made.created = to.created;
        auto const origin = is_exec(child->self.kind) || child->node == 0 ? child->origin_node : child->node;
        auto const& copy = add({made, to.id, 0, origin, {}});
        find_mutable(to.id)->children.push_back(copy.id);
        auto const& original = find(child_id)->self;
        tell(original, copy);
        copy_tree(original, copy, tell, depth + 1);
    }
}

void graphs::replace(object const& exec, object const& source, copied const& tell, gone const& dropped) {
    auto* target = find_mutable(exec.id);
    if (target == nullptr) return;
    // An update keeps the topology, and set-params calls go on naming nodes of the first source: the old names stay.
    std::vector<store::handle> names;
    for (auto const id : target->children) names.push_back(find(id)->origin_node);
    drop_children(*target, dropped);
    dropped(exec);
    tell(source, exec);
    copy_tree(source, exec, tell);
    target = find_mutable(exec.id);
    if (names.size() != target->children.size()) return;
    for (std::size_t i = 0; i < names.size(); ++i) find_mutable(target->children[i])->origin_node = names[i];
}

void graphs::replace_child(object const& exec, store::handle node, object const& source, copied const& tell,
                           gone const& dropped) {
    auto const* root = find(exec.id);
    if (root == nullptr) return;
    for (auto const id : root->children) {
        auto const* child = find(id);
        if (child->origin_node == node) return replace(child->self, source, tell, dropped);
        replace_child(child->self, node, source, tell, dropped);
    }
}

void graphs::bind_graph(object_id id, store::handle handle) {
    auto* bound = find_mutable(id);
    if (bound == nullptr || handle == 0) return;
    bound->self.handle = handle;
    graph_handles_[handle] = id;
}

void graphs::bind_node(object_id id, store::handle node) {
    auto* bound = find_mutable(id);
    if (bound == nullptr || node == 0) return;
    bound->node = node;
    nodes_[node] = id;
}

object_id graphs::clone_of_node(object_id graph, store::handle original_node) const {
    auto const* above = find(graph);
    if (above == nullptr) return {};
    for (auto const id : above->children)
        if (find(id)->origin_node == original_node) return id;
    return {};
}

void graphs::drop_children(part& of, gone const& tell) {
    auto const children = std::exchange(of.children, {});
    for (auto const id : children) drop(id, tell);
}

void graphs::unlink(part const& from_parent) {
    if (auto* above = find_mutable(from_parent.parent)) std::erase(above->children, from_parent.self.id);
}

void graphs::drop(object_id id, gone const& tell) {
    auto* dropped = find_mutable(id);
    if (dropped == nullptr) return;
    drop_children(*dropped, tell);
    tell(dropped->self);
    unlink(*dropped);
    auto& handles = is_exec(dropped->self.kind) ? exec_handles_ : graph_handles_;
    if (id_in(handles, dropped->self.handle) == id) handles.erase(dropped->self.handle);
    if (id_in(nodes_, dropped->node) == id) nodes_.erase(dropped->node);
    parts_.erase(id);
}

void graphs::for_each(std::function<void(part const&)> const& visit) const {
    for (auto const& [id, made] : parts_) visit(made);
}

}  // namespace lastref::model
