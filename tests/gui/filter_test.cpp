// The stack of filters, and what it lets through.
#include "gui/models/filter.h"

#include <gtest/gtest.h>

#include <QStringList>

#include "gui/models/filter_offers.h"
#include "tests/gui/example_trace.h"

namespace lastref::gui {
namespace {

facets row() {
    return {store::process_id{1},
            {store::thread_id{2}, store::thread_id{3}},
            {0x50},
            {0x10, 0x11},
            findings::rule::failed_free,
            100,
            200};
}

TEST(filters, each_kind) {
    auto const rule = static_cast<std::int64_t>(findings::rule::failed_free);
    for (auto const& [kind, fits, other] : {std::tuple{filter_kind::process, std::int64_t{1}, std::int64_t{2}},
                                            {filter_kind::thread, 3, 4},
                                            {filter_kind::stream, 0x50, 0x51},
                                            {filter_kind::object, 0x11, 0x12},
                                            {filter_kind::rule, rule, rule + 1}}) {
        EXPECT_TRUE(accepts({kind, fits, 0, {}}, row())) << static_cast<int>(kind);
        EXPECT_FALSE(accepts({kind, other, 0, {}}, row())) << static_cast<int>(kind);
    }
}

TEST(filters, time_ranges_touch) {
    EXPECT_TRUE(accepts({filter_kind::time, 200, 300, {}}, row()));
    EXPECT_TRUE(accepts({filter_kind::time, 0, 100, {}}, row()));
    EXPECT_TRUE(accepts({filter_kind::time, 120, 130, {}}, row()));
    EXPECT_FALSE(accepts({filter_kind::time, 201, 300, {}}, row()));
}

TEST(filters, one_of_a_kind_and_all_must_fit) {
    filter_stack stack;
    stack.add({filter_kind::thread, 9, 0, {}});
    stack.add({filter_kind::object, 0x10, 0, {}});
    std::vector const known{filter_kind::thread, filter_kind::object};
    EXPECT_FALSE(stack.accepts(row(), known));
    stack.add({filter_kind::thread, 2, 0, {}});
    EXPECT_EQ(stack.all().size(), 2u);
    EXPECT_TRUE(stack.accepts(row(), known));
    stack.add({filter_kind::thread, 9, 0, {}});
    EXPECT_TRUE(stack.accepts(row(), {filter_kind::object})) << "a list that knows no threads";
}

TEST(filters, are_offered_in_words) {
    test::example_trace const example;
    auto const trace = test::loaded(example.path());
    auto const offers =
        filters_for({store::process_id{1}, {store::thread_id{1}}, {0x50, 2}, {0x10, 0}, {}, 0, 0}, *trace);
    QStringList labels;
    for (auto const& offer : offers) labels << offer.label;
    EXPECT_EQ(labels.join("; ").toStdString(), "the main thread; stream 0x50; object 0x10");
}

}  // namespace
}  // namespace lastref::gui
