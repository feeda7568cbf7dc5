// The rules of references themselves, without events: cuda.h and measurements of what a driver really does.
#include "analyzer/ledger/book.h"

#include <gtest/gtest.h>

namespace lastref::ledger {
namespace {

constexpr object_id object{1};
constexpr object_id graph{10};
constexpr object_id clone{11};
constexpr object_id exec{12};

std::int64_t total(book const& b) {
    return b.find(object)->total;
}
std::int64_t held_by(book const& b, object_id owner) {
    for (auto const& held : b.find(object)->owners)
        if (held.owner == owner) return held.count;
    return 0;
}

TEST(book, counts_the_callers_references) {
    book b;
    b.create(object, 2);
    b.retain(object, 3);
    b.release(object, 4);
    EXPECT_EQ(b.find(object)->caller, 1);
    EXPECT_EQ(total(b), 1);
}

TEST(book, retain_by_a_graph_adds_references) {
    book b;
    b.create(object, 1);
    b.retain_by(graph, object, 2, false);
    EXPECT_EQ(b.find(object)->caller, 1);
    EXPECT_EQ(held_by(b, graph), 2);
    EXPECT_EQ(total(b), 3);
}

TEST(book, move_transfers_the_callers_references) {
    book b;
    b.create(object, 2);
    b.retain_by(graph, object, 2, true);
    EXPECT_EQ(b.find(object)->caller, 0);
    EXPECT_EQ(held_by(b, graph), 2);
    EXPECT_EQ(total(b), 2);
}

TEST(book, release_after_a_move_ends_the_object_while_the_graph_still_counts_on_it) {
    book b;
    b.create(object, 1);
    b.retain_by(graph, object, 1, true);
    b.release(object, 1);
    EXPECT_EQ(total(b), 0);
    EXPECT_EQ(held_by(b, graph), 1);
}

TEST(book, copy_keeps_multiplicity) {
    book b;
    b.create(object, 1);
    b.retain_by(graph, object, 3, true);
    b.copy(graph, clone);
    EXPECT_EQ(held_by(b, clone), 3);
    EXPECT_EQ(total(b), 4);
}

TEST(book, drop_gives_up_all_of_an_owners_references) {
    book b;
    b.create(object, 1);
    b.retain_by(graph, object, 1, true);
    b.copy(graph, exec);
    b.drop(graph);
    EXPECT_EQ(total(b), 1);
    EXPECT_FALSE(b.holds_any(graph));
    b.drop(exec);
    EXPECT_EQ(total(b), 0);
}

TEST(book, release_by_a_graph_that_holds_none_changes_nothing_but_is_remembered) {
    book b;
    b.create(object, 1);
    b.release_by(graph, object, 1);
    EXPECT_EQ(total(b), 1);
    EXPECT_EQ(b.find(object)->excess, 1);
}

TEST(book, release_by_a_graph_gives_back_at_most_what_it_holds) {
    book b;
    b.create(object, 5);
    b.retain_by(graph, object, 2, true);
    b.release_by(graph, object, 3);
    EXPECT_EQ(total(b), 3);
    EXPECT_EQ(b.find(object)->excess, 1);
    EXPECT_FALSE(b.holds_any(graph));
}

TEST(book, hand_over_keeps_the_total) {
    book b;
    b.create(object, 1);
    b.retain_by(exec, object, 2, true);
    auto const before = total(b);
    b.hand_over(exec, clone);
    EXPECT_EQ(total(b), before);
    EXPECT_EQ(held_by(b, clone), 2);
    EXPECT_FALSE(b.holds_any(exec));
}

TEST(book, closed_object_is_forgotten_by_its_owners) {
    book b;
    b.create(object, 1);
    b.retain_by(graph, object, 1, false);
    b.close(object);
    EXPECT_EQ(b.find(object), nullptr);
    EXPECT_FALSE(b.holds_any(graph));
    b.drop(graph);
    b.copy(graph, clone);
    b.retain(object, 1);
}

TEST(book, releasing_below_zero_is_kept_as_it_is) {
    book b;
    b.create(object, 1);
    b.release(object, 2);
    EXPECT_EQ(total(b), -1);
}

}  // namespace
}  // namespace lastref::ledger
