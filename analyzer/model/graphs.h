// Graphs and executable graphs of one process, with the parts that hold references of their own: a child-graph node and
// a conditional node hold a graph, an executable graph holds a copy of the tree that it was made from.
#pragma once

#include "analyzer/model/object.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace lastref::model {

class graphs {
  public:
    struct part {
        object self;                      // kind graph, child_graph, graph_exec or child_exec
        object_id parent;                 // none for a root
        store::handle node = 0;           // handle of the node that holds it, where known
        store::handle origin_node = 0;    // the node that it was copied from
        std::vector<object_id> children;  // in the order in which they were added
    };

    // Called for each pair of parts whose references the second took over from the first, and for each part that goes.
    using copied = std::function<void(object const& from, object const& to)>;
    using gone = std::function<void(object const&)>;

    explicit graphs(std::function<object_id()> next_id) : next_id_(std::move(next_id)) {}

    object const* find_graph(store::handle handle) const;  // graphs, child graphs, conditional bodies
    object const* find_exec(store::handle handle) const;
    part const* find(object_id id) const;
    part const* holder_of_node(store::handle node) const;  // the part that a node holds

    object const& add_graph(object made);
    object const& add_exec(object made);

    // A part under `parent` for `node`, empty or (with `source`) with a copy of it.
    object const& add_child(object_id parent, store::handle node, object made, object const* source,
                            copied const& tell);

    // Copies the tree below `from` and its references to `to`, which has none of its own.
    void copy_tree(object const& from, object const& to, copied const& tell);

    // An executable graph takes a new source: everything that it held goes, then it gets a copy of the new one.
    void replace(object const& exec, object const& source, copied const& tell, gone const& dropped);

    // The same for the part of an executable graph that stands for `node` of the graph that it was made from.
    void replace_child(object const& exec, store::handle node, object const& source, copied const& tell,
                       gone const& dropped);

    void bind_graph(object_id id, store::handle handle);  // a child graph's own handle, once it is asked for
    void bind_node(object_id id, store::handle node);     // the node of a clone, once it is looked up
    object_id clone_of_node(object_id graph, store::handle original_node) const;

    void drop(object_id id, gone const& tell);  // with everything below

    // A graph that is added to itself doubles each time: beyond this many parts, or this deep, copies are left out.
    static constexpr std::size_t most_parts = 1 << 18;
    static constexpr std::size_t deepest = 256;
    std::uint64_t parts_left_out() const { return left_out_; }

    void for_each(std::function<void(part const&)> const& visit) const;

  private:
    void copy_tree(object const& from, object const& to, copied const& tell, std::size_t depth);
    std::size_t depth_of(object_id id) const;
    part* find_mutable(object_id id);
    object const& add(part made);
    void drop_children(part& of, gone const& tell);
    void unlink(part const& from_parent);

    std::function<object_id()> next_id_;
    std::uint64_t left_out_ = 0;
    std::unordered_map<object_id, part> parts_;
    std::unordered_map<store::handle, object_id> graph_handles_;
    std::unordered_map<store::handle, object_id> exec_handles_;
    std::unordered_map<store::handle, object_id> nodes_;
};

}  // namespace lastref::model
