// Sequences that no driver would allow: the analysis ends, and its reports can be rendered.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "analyzer/report/render.h"
#include "collector/preload/hooks/api_table.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::test {
namespace {

class dice {
  public:
    explicit dice(unsigned seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    std::uint64_t handle() { return below(12) ? below(16) : std::uint64_t{engine_()} << 32 | engine_(); }

  private:
    std::mt19937 engine_;
};

call any_call(dice& d) {
    constexpr std::array results{0, 0, 0, 0, 0, 0, 1, 4, 201, 400, 700, 800, 901};
    call out{.stream = d.handle(), .object = d.handle(), .other = d.handle(), .size = d.handle(), .extra = d.handle()};
    out.result = results[d.below(results.size())];
    if (d.below(50) == 0) out.result.reset();
    out.flags = static_cast<int>(d.below(128));
    out.lasts_ms = static_cast<std::int64_t>(d.below(4));
    if (d.below(2)) out.stack = {"f" + std::to_string(d.below(5)), "main"};
    return out;
}

class nonsense : public ::testing::TestWithParam<unsigned> {};

TEST_P(nonsense, is_analysed_and_rendered) {
    dice d(GetParam());
    trace_builder t;
    std::vector<thread_builder> threads;
    for (int i = 0; i < 3; ++i) threads.push_back(t.thread("t" + std::to_string(i)).use(t.context(d.below(4))));
    for (int i = 0; i < 3000; ++i) {
        auto const& symbol = hooks::abi_table[d.below(hooks::abi_table.size())].symbol;
        threads[d.below(threads.size())].call(symbol, any_call(d));
    }
    auto const names = t.names();
    auto const trace = store::trace::open(t.finish());
    auto const what = detectors::analyse(trace);
    symbols::stacks stacks(trace, *names);
    report::input const in{trace, what, stacks, {}};
    EXPECT_FALSE(report::render(report::format::text, in, {}).empty());
    EXPECT_TRUE(nlohmann::json::accept(report::render(report::format::json, in, {})));
    EXPECT_EQ(what.events, 3000u);
}

// Graphs and user objects meet seldom in the above; here they do all the time.
TEST_P(nonsense, of_graphs_and_references) {
    constexpr std::array symbols{"cuUserObjectCreate",
                                 "cuUserObjectRetain",
                                 "cuUserObjectRelease",
                                 "cuGraphRetainUserObject",
                                 "cuGraphReleaseUserObject",
                                 "cuGraphCreate",
                                 "cuGraphClone",
                                 "cuGraphDestroy",
                                 "cuGraphAddChildGraphNode",
                                 "cuGraphDestroyNode",
                                 "cuGraphChildGraphNodeGetGraph",
                                 "cuGraphNodeFindInClone",
                                 "cuGraphInstantiateWithFlags",
                                 "cuGraphExecUpdate_v2",
                                 "cuGraphExecChildGraphNodeSetParams",
                                 "cuGraphExecDestroy",
                                 "cuGraphLaunch",
                                 "cuStreamSynchronize",
                                 "graph_body",
                                 "callback:user_object"};
    dice d(GetParam());
    trace_builder t;
    auto main = t.thread("main");
    for (int i = 0; i < 4000; ++i) {
        auto what = any_call(d);
        what.object = 1 + d.below(6);
        what.other = 1 + d.below(6);
        what.extra = 1 + d.below(6);
        what.size = d.below(3);
        main.call(symbols[d.below(symbols.size())], what);
    }
    auto const what = analyse(t);
    EXPECT_LE(what.ledger.agreed, what.ledger.predicted);
}

INSTANTIATE_TEST_SUITE_P(seeds, nonsense, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace lastref::test
