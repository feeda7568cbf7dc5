#include "tests/simdriver/core/graphs.h"

#include <algorithm>
#include <set>

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {
namespace {

std::uint64_t next_id() {
    static std::uint64_t last = 0;
    return ++last;
}

// Gives an embedded graph, and all in it, handles that the program can use.
void publish(graph_ptr const& embedded) {
    embedded->embedded = true;
    if (embedded->handle) return;
    graphs().add(embedded);
    for (auto const& each : embedded->nodes) {
        if (!each->handle) nodes().add(each);
        for (auto const& inside : graphs_inside(*each)) publish(inside);
    }
}

void withdraw(graph& gone) {
    if (gone.handle) graphs().remove(gone.handle);
    for (auto const& each : gone.nodes) {
        if (each->handle) nodes().remove(each->handle);
        for (auto const& inside : graphs_inside(*each)) withdraw(*inside);
    }
}

void point_to_bodies(conditional_work& what) {
    what.handles.clear();
    for (auto const& body : what.bodies) what.handles.push_back(body->handle);
    what.params.phGraph_out = what.handles.data();
}

// What a node holds is copied with it: a child graph belongs to its node.
work copy_work_of(work const& from, copy_for purpose) {
    work copy = from;
    if (auto* const child = std::get_if<child_work>(&copy)) child->child = clone(*child->child, purpose);
    if (auto* const conditional = std::get_if<conditional_work>(&copy)) {
        for (auto& body : conditional->bodies) body = clone(*body, purpose);
        point_to_bodies(*conditional);
    }
    return copy;
}

node_ptr copy_node(node const& from, graph& into, copy_for purpose) {
    auto made = std::make_shared<node>();
    made->of = &into;
    made->id = next_id();
    made->cloned_from = from.id;
    made->what = copy_work_of(from.what, purpose);
    made->enabled = from.enabled;
    made->attributes = from.attributes;
    return made;
}

void copy_edges(graph const& from, graph& into) {
    std::map<node const*, node*> copies;
    for (std::size_t index = 0; index < from.nodes.size(); ++index)
        copies[from.nodes[index].get()] = into.nodes[index].get();
    for (std::size_t index = 0; index < from.nodes.size(); ++index)
        for (auto const& each : from.nodes[index]->after)
            into.nodes[index]->after.push_back({copies[each.from], each.data});
}

}  // namespace

handle_table<CUgraph, graph>& graphs() {
    static auto* const table = new handle_table<CUgraph, graph>;
    return *table;
}

handle_table<CUgraphNode, node>& nodes() {
    static auto* const table = new handle_table<CUgraphNode, node>;
    return *table;
}

handle_table<CUgraphExec, exec>& execs() {
    static auto* const table = new handle_table<CUgraphExec, exec>;
    return *table;
}

graph_ptr make_graph() {
    auto made = std::make_shared<graph>();
    made->id = next_id();
    graphs().add(made);
    return made;
}

node_ptr add_node(graph& to, work what, std::vector<edge> after) {
    auto made = std::make_shared<node>();
    made->of = &to;
    made->id = next_id();
    made->what = std::move(what);
    made->after = std::move(after);
    nodes().add(made);
    to.nodes.push_back(made);
    for (auto const& inside : graphs_inside(*made)) publish(inside);
    if (auto* const conditional = std::get_if<conditional_work>(&made->what)) point_to_bodies(*conditional);
    return made;
}

void destroy_node(node_ptr const& gone) {
    auto& siblings = gone->of->nodes;
    for (auto const& each : siblings)
        std::erase_if(each->after, [&](edge const& one) { return one.from == gone.get(); });
    for (auto const& inside : graphs_inside(*gone)) withdraw(*inside);
    nodes().remove(gone->handle);
    std::erase(siblings, gone);
}

void destroy_graph(graph_ptr const& gone) {
    withdraw(*gone);
}

graph_ptr clone(graph const& from, copy_for purpose) {
    auto made = std::make_shared<graph>();
    made->id = next_id();
    made->cloned_from = from.id;
    made->references = std::make_shared<reference_set>(*from.references);
    made->conditionals = from.conditionals;
    if (purpose == copy_for::program) graphs().add(made);
    for (auto const& each : from.nodes) {
        made->nodes.push_back(copy_node(*each, *made, purpose));
        if (purpose == copy_for::program) nodes().add(made->nodes.back());
        for (auto const& inside : graphs_inside(*made->nodes.back())) inside->embedded = true;
    }
    copy_edges(from, *made);
    return made;
}

node_ptr find_clone(graph const& in, std::uint64_t id) {
    for (auto const& each : in.nodes) {
        if (each->cloned_from == id) return each;
        for (auto const& inside : graphs_inside(*each))
            if (auto const found = find_clone(*inside, id)) return found;
    }
    return nullptr;
}

bool freed_in(graph const& of, graph_memory const& memory) {
    return std::any_of(of.nodes.begin(), of.nodes.end(), [&memory](node_ptr const& each) {
        auto const* const free = std::get_if<free_work>(&each->what);
        return free && free->memory.get() == &memory;
    });
}

bool take_free(graph const& into, graph_memory& memory) {
    if (memory.freed_at_home || freed_in(into, memory)) return false;
    memory.freed_at_home = std::any_of(into.nodes.begin(), into.nodes.end(), [&memory](node_ptr const& each) {
        auto const* const alloc = std::get_if<alloc_work>(&each->what);
        return alloc && alloc->memory.get() == &memory;
    });
    return true;
}

bool reaches(node const& from, node const& to) {
    std::vector<node const*> open{&to};
    std::set<node const*> seen{&to};  // there may be cycles, until a graph is instantiated
    while (!open.empty()) {
        node const* const at = open.back();
        open.pop_back();
        if (at == &from) return true;
        for (auto const& each : at->after)
            if (seen.insert(each.from).second) open.push_back(each.from);
    }
    return false;
}

bool has_memory_nodes(graph const& of) {
    return any_node(of, [](node const& each) {
        return std::holds_alternative<alloc_work>(each.what) || std::holds_alternative<free_work>(each.what);
    });
}

std::vector<node_ptr> in_order(graph const& of) {
    std::vector<node_ptr> sorted;
    std::map<node const*, bool> placed;
    while (sorted.size() < of.nodes.size()) {
        std::size_t const before = sorted.size();
        for (auto const& each : of.nodes) {
            bool const free = std::all_of(each->after.begin(), each->after.end(),
                                          [&placed](edge const& one) { return placed[one.from]; });
            if (placed[each.get()] || !free) continue;
            placed[each.get()] = true;
            sorted.push_back(each);
        }
        if (sorted.size() == before) break;  // a cycle
    }
    return sorted;
}

std::vector<graph_ptr> graphs_inside(node const& one) {
    if (auto const* const child = std::get_if<child_work>(&one.what)) return {child->child};
    if (auto const* const conditional = std::get_if<conditional_work>(&one.what)) return conditional->bodies;
    return {};
}

}  // namespace lastref::simdriver
