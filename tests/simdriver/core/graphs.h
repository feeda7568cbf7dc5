// Graphs, their nodes, executable graphs and launches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simdriver/core/call.h"
#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/user_objects.h"
#include "tests/simdriver/core/work.h"

namespace lastref::simdriver {

struct exec;

struct edge {
    node* from = nullptr;
    CUgraphEdgeData data{};
};

struct node {
    CUgraphNode handle = nullptr;  // null inside an executable graph
    graph* of = nullptr;
    std::uint64_t id = 0;           // unique for the life of the process
    std::uint64_t cloned_from = 0;  // id of the node that it was cloned from
    work what;
    std::vector<edge> after;  // what it depends on
    bool enabled = true;      // in an executable graph
    std::map<CUkernelNodeAttrID, CUkernelNodeAttrValue> attributes;
};

struct graph {
    CUgraph handle = nullptr;  // null inside an executable graph
    std::uint64_t id = 0;
    std::uint64_t cloned_from = 0;
    bool embedded = false;  // in a child node or a conditional node, which owns it
    std::vector<node_ptr> nodes;
    // The references of this graph alone: those of a child graph are the child's.
    std::shared_ptr<reference_set> references = std::make_shared<reference_set>();
    std::map<CUgraphConditionalHandle, std::shared_ptr<conditional_value>> conditionals;
    std::weak_ptr<exec> instantiated;  // of a graph with memory nodes there may be one at a time
};

struct exec {
    CUgraphExec handle = nullptr;
    graph_ptr copy;
    std::uint64_t flags = 0;
    operation_ptr last_launch;  // launches of one executable graph run one after the other
};
using exec_ptr = std::shared_ptr<exec>;

handle_table<CUgraph, graph>& graphs();
handle_table<CUgraphNode, node>& nodes();
handle_table<CUgraphExec, exec>& execs();

graph_ptr make_graph();
// Adds a node; children and bodies get handles of their own.
node_ptr add_node(graph& to, work what, std::vector<edge> after);
// Takes the node and its edges out of its graph; what it holds (a child graph and its references) goes with it.
void destroy_node(node_ptr const& gone);
// Takes the handles of the graph and of all in it away, and with the last holder the references.
void destroy_graph(graph_ptr const& gone);

enum class copy_for { program, execution };
// A deep copy, with as many references again at every level; without handles when it is for execution.
graph_ptr clone(graph const& from, copy_for purpose);

// The node of a copy that was cloned from the one with this id, in child graphs and bodies too.
node_ptr find_clone(graph const& in, std::uint64_t id);
// Whether any node, at any level, satisfies the predicate.
template <class Predicate>
bool any_node(graph const& in, Predicate const& predicate);

bool reaches(node const& from, node const& to);
bool has_memory_nodes(graph const& of);
std::vector<node_ptr> in_order(graph const& of);
std::vector<graph_ptr> graphs_inside(node const& one);

// Puts a launch at the stream's end. It keeps the references of the executable graph until it has finished, even when
// the executable graph is destroyed or updated before.
CUresult launch(call const& c, exec_ptr const& what, stream& on);

template <class Predicate>
bool any_node(graph const& in, Predicate const& predicate) {
    for (auto const& each : in.nodes) {
        if (predicate(*each)) return true;
        for (auto const& inside : graphs_inside(*each))
            if (any_node(*inside, predicate)) return true;
    }
    return false;
}

}  // namespace lastref::simdriver
