#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/report/escape.h"
#include "analyzer/report/render.h"
#include "tests/unit/analyzer/analyse.h"
#include "tests/unit/analyzer/golden.h"

namespace lastref::report {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t stream = 0x50;

// One fault of each rule, between calls that are in order.
class one_of_each : public test::trace_builder {
  public:
    one_of_each() {
        auto main = thread("main").use(context()).in({"main"});
        auto worker = thread("worker").in({"worker_loop"});
        auto driver = thread("cuda-driver");
        main.call("cuInit");
        main.call("cuStreamCreate", {.object = stream});
        main.call("cuGraphCreate", {.object = 0x100, .stack = {"build_graph", "main"}});
        main.call(
            "cuMemAllocAsync",
            {.stream = stream, .object = 0x7f0000000000, .size = 4 * mib, .stack = {"make_payload", "attach", "main"}});
        main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
        main.call("cuGraphRetainUserObject", {.object = 0x10, .other = 0x100, .size = 1, .extra = 1});
        main.call("cuGraphInstantiateWithFlags", {.object = 0x200, .other = 0x100, .stack = {"build_graph", "main"}});
        main.call("cuGraphLaunch", {.stream = stream, .object = 0x200});
        main.call("cuStreamSynchronize", {.stream = stream, .object = stream});
        main.call("cuGraphDestroy", {.object = 0x100});
        main.call("cuMemAllocAsync_ptsz", {.object = 0x7f0001000000, .size = mib, .stack = {"make_buffer", "main"}});
        worker.call("cuMemFreeAsync_ptsz",
                    {.object = 0x7f0001000000, .result = 201, .stack = {"drop_buffer", "worker_loop"}});
        main.call("cuMemAllocAsync_ptsz", {.object = 0x7f0002000000, .size = mib, .stack = {"make_buffer", "main"}});
        worker.use(1).call("cuMemFreeAsync_ptsz", {.object = 0x7f0002000000, .stack = {"drop_buffer", "worker_loop"}});
        main.call("cuUserObjectCreate", {.object = 0x11, .other = 0x21, .size = 1});
        main.call("cuUserObjectRelease", {.object = 0x11, .size = 1});
        driver.destructor(0x11, 0x21);
        main.call(
            "cuMemAlloc_v2",
            {.object = 0x7f0003000000, .size = 64 * mib, .stack = {"libc10_cuda.so!cudaCachingAllocator", "main"}});
        main.call("cuMemAlloc_v2",
                  {.object = 0x7f0004000000, .size = 3 * mib / 2, .stack = {"load_table", "setup", "main"}});
        phase("exit_begin");
        main.call("cuEventDestroy_v2", {.object = 0x60,
                                        .result = 4,
                                        .flags = 24,
                                        .stack = {"cache::~cache", "libc.so.6!__run_exit_handlers", "libc.so.6!exit"}});
    }
};

std::string rendered(test::trace_builder& t, format as, style const& how = {}) {
    auto const names = t.names();
    auto const path = t.finish();
    auto const trace = store::trace::open(path);
    auto const what = detectors::analyse(trace);
    symbols::stacks stacks(trace, *names);
    auto out = render(as, {trace, what, stacks, {}}, how);
    for (auto at = out.find(path.string()); at != std::string::npos; at = out.find(path.string()))
        out.replace(at, path.string().size(), "demo.lastref");
    return out;
}

TEST(text_report, one_of_each_rule) {
    one_of_each t;
    test::expect_golden(rendered(t, format::text), "one_of_each.txt");
}

// One golden for each rule, by the rule's name.

TEST(rule_report, user_object_leak) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context()).in({"main"});
    for (std::uint64_t i = 0; i < 3; ++i) {
        main.call("cuGraphCreate", {.object = 0x100 + i, .stack = {"build_graph", "main"}});
        main.call("cuUserObjectCreate",
                  {.object = 0x10 + i, .other = 0x20 + i, .size = 2, .stack = {"attach", "main"}});
        main.call("cuGraphRetainUserObject", {.object = 0x10 + i, .other = 0x100 + i, .size = 1, .extra = 1});
        main.call("cuGraphCreate", {.object = 0x180 + i});
        main.call("cuGraphAddChildGraphNode", {.object = 0x300 + i, .other = 0x180 + i, .extra = 0x100 + i});
        main.call("cuGraphInstantiateWithFlags",
                  {.object = 0x200 + i, .other = 0x180 + i, .stack = {"build_graph", "main"}});
        main.call("cuGraphLaunch", {.stream = stream, .object = 0x200 + i});
        main.call("cuGraphExecDestroy", {.object = 0x200 + i, .stack = {"drop_exec", "main"}});
        main.call("cuGraphDestroy", {.object = 0x100 + i});
    }
    test::expect_golden(rendered(t, format::text), "user-object-leak.txt");
}

TEST(rule_report, failed_free) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    auto worker = t.thread("worker");
    for (std::uint64_t i = 0; i < 3; ++i) {
        main.call("cuMemAllocAsync", {.object = 0x1000 * (i + 1), .size = 0x1000, .stack = {"make_buffer", "main"}});
        worker.call("cuMemFreeAsync",
                    {.object = 0x1000 * (i + 1), .result = 201, .stack = {"drop_buffer", "worker_loop"}});
    }
    main.call("cuMemAlloc_v2", {.object = 0x9000, .size = 64, .stack = {"make_table", "main"}});
    main.call("cuMemFree_v2", {.object = 0x9000, .stack = {"drop_table", "main"}});
    main.call("cuMemFree_v2", {.object = 0x9000, .result = 1, .stack = {"drop_table_again", "main"}});
    worker.call("cuEventDestroy_v2",
                {.object = 0x60, .result = 800, .flags = 1, .stack = {"on_done", "libcuda.so.1!callback"}});
    test::expect_golden(rendered(t, format::text), "failed-free.txt");
}

TEST(rule_report, allocation_leak) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    for (std::uint64_t i = 0; i < 40; ++i)
        main.call("cuMemAllocHost_v2", {.object = 0x100000 + i, .size = 4096, .stack = {"stage", "step", "main"}});
    main.call("cuMemAllocAsync",
              {.stream = stream, .object = 0x7000, .size = 3 << 20, .stack = {"make_payload", "attach", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1, .stack = {"detach", "main"}});
    t.thread("cuda-driver").destructor(0x10, 0x20);
    main.call("cuMemAlloc_v2", {.object = 0x9000, .size = 64 << 20, .stack = {"libcublas.so.13!workspace", "main"}});
    test::expect_golden(rendered(t, format::text), "allocation-leak.txt");
}

TEST(rule_report, shutdown_release) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x7000, .size = 64, .stack = {"cache::cache", "main"}});
    main.call("cuStreamCreate", {.object = stream, .stack = {"open", "main"}});
    main.call("cuUserObjectCreate", {.object = 0x10, .other = 0x20, .size = 1, .stack = {"attach", "main"}});
    t.phase("exit_begin");
    main.call("cuUserObjectRelease", {.object = 0x10, .size = 1, .flags = 8, .stack = {"~owner", "libc.so.6!exit"}});
    t.thread("cuda-driver").destructor(0x10, 0x20, 8);
    main.call("cuStreamDestroy_v2",
              {.stream = stream, .object = stream, .flags = 8, .stack = {"~owner", "libc.so.6!exit"}});
    t.phase("driver_torn_down");
    main.call("cuMemFree_v2",
              {.object = 0x7000, .result = 4, .flags = 24, .stack = {"cache::~cache", "libc.so.6!exit"}});
    test::expect_golden(rendered(t, format::text), "shutdown-release.txt");
}

TEST(text_report, narrow_terminal) {
    one_of_each t;
    auto const text = rendered(t, format::text, {false, 60});
    test::expect_golden(text, "one_of_each_narrow.txt");
}

TEST(text_report, clean) {
    test::trace_builder t;
    auto main = t.thread("main");
    main.use(t.context()).call("cuMemAlloc_v2", {.object = 0x1000, .size = 64});
    main.call("cuMemFree_v2", {.object = 0x1000});
    test::expect_golden(rendered(t, format::text), "clean.txt");
}

TEST(text_report, incomplete) {
    test::trace_builder t;
    auto main = t.thread("main");
    main.call("cuCtxGetCurrent");
    t.loss("records_dropped", 12345);
    t.loss("stacks_cut", 2);
    t.note("LASTREF_STACKS: \"some\" is none of off, create, all; create is used");
    t.sql("INSERT INTO unhooked VALUES (1, 'cuFutureThing', 3)");
    t.ends("abrupt", {}, 9);
    test::expect_golden(rendered(t, format::text), "incomplete.txt");
}

TEST(text_report, deep_stack_is_shortened_around_libraries) {
    test::trace_builder t;
    std::vector<std::string> stack{
        "libcudart.so.13!cudaMalloc", "libx.so!alloc", "libx.so!pool", "libx.so!tensor", "libx.so!op", "my_step"};
    for (int i = 0; i < 20; ++i) stack.push_back("libpython3.11.so!eval" + std::to_string(i));
    for (int i = 0; i < 20; ++i) stack.push_back("level" + std::to_string(i));
    auto main = t.thread("main").use(t.context());
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = stack});
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = 64, .stack = stack});
    main.call("cuMemFree_v2", {.object = 0x2000});
    test::expect_golden(rendered(t, format::text), "deep_stack.txt");
}

TEST(text_report, ends_at_what_a_person_can_read) {
    test::trace_builder t;
    auto main = t.thread("main").use(t.context());
    for (std::uint64_t i = 0; i < 60; ++i)
        main.call("cuMemAlloc_v2",
                  {.object = 0x1000 * (i + 1), .size = 64, .stack = {"f" + std::to_string(i), "main"}});
    auto const text = rendered(t, format::text);
    EXPECT_NE(text.find("\n40. "), std::string::npos);
    EXPECT_EQ(text.find("\n41. "), std::string::npos);
    EXPECT_NE(text.find("20 findings more"), std::string::npos);
    EXPECT_NE(text.find("60 warnings"), std::string::npos);
}

TEST(text_report, colour_only_where_asked_for) {
    one_of_each plain;
    EXPECT_EQ(rendered(plain, format::text).find('\x1b'), std::string::npos);
    one_of_each coloured;
    EXPECT_NE(rendered(coloured, format::text, {true, 100}).find("\x1b[1;31m"), std::string::npos);
}

class hostile : public test::trace_builder {
  public:
    hostile() {
        process("/tmp/\x1b]0;owned\x07", 5);
        auto main = thread("\x1b[31mred\nline").use(context());
        thread("other");
        auto named = thread("\xff\xc3\xa9\xe2\x80\xae");
        named.use(1).call("cuMemAlloc_v2", {.object = 0x1000, .size = 64, .stack = {"f\x1b[2J", "main"}});
        note("a note\x9b with \x1b[1m");
    }
};

TEST(text_report, shows_control_characters_instead_of_obeying_them) {
    hostile t;
    auto const text = rendered(t, format::text);
    for (unsigned char const c : text) EXPECT_TRUE(c >= 0x20 || c == '\n') << int{c};
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
    EXPECT_NE(text.find("\\x1b"), std::string::npos);
}

TEST(json_report, one_of_each_rule) {
    one_of_each t;
    test::expect_golden(rendered(t, format::json), "one_of_each.json");
}

TEST(json_report, has_the_promised_keys) {
    one_of_each t;
    auto const json = nlohmann::json::parse(rendered(t, format::json));
    for (auto const* key : {"trace", "loss", "findings", "suppressed"}) EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json["trace"]["calls"]["cuMemAllocAsync"], 3);
    EXPECT_FALSE(json["trace"]["calls"].contains("callback:user_object"));
    EXPECT_EQ(json["trace"]["clean_end"], true);
    EXPECT_EQ(json["trace"]["ledger"]["predicted"], 1);
    EXPECT_EQ(json["trace"]["ledger"]["agreed"], 1);
    EXPECT_EQ(json["trace"]["processes"].size(), 1u);
    for (auto const& [name, count] : json["loss"].items()) EXPECT_EQ(count, 0) << name;
    std::set<std::string> rules;
    for (auto const& f : json["findings"]) {
        rules.insert(f["rule"]);
        for (auto const* key : {"rule", "severity", "confidence", "title", "objects", "sites", "first_seen", "count",
                                "bytes", "fingerprint", "advice"})
            EXPECT_TRUE(f.contains(key)) << key;
        EXPECT_FALSE(f["sites"][0]["stack"].empty());
    }
    EXPECT_GE(rules.size(), 5u);
}

TEST(json_report, hostile_names_stay_valid_json) {
    hostile t;
    auto const text = rendered(t, format::json);
    EXPECT_TRUE(nlohmann::json::accept(text));
    for (unsigned char const c : text) EXPECT_TRUE(c >= 0x20 || c == '\n') << int{c};
}

TEST(escape, leaves_text_alone) {
    EXPECT_EQ(escaped("größe µs 漢字 🙂 ~"), "größe µs 漢字 🙂 ~");
}

TEST(escape, shows_what_could_mislead) {
    EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
    EXPECT_EQ(escaped("\x1b[31m"), "\\x1b[31m");
    EXPECT_EQ(escaped("\x7f"), "\\x7f");
    EXPECT_EQ(escaped("\xc2\x9b"), "\\x9b");        // C1 as UTF-8
    EXPECT_EQ(escaped("\xe2\x80\xae"), "\\u202e");  // right-to-left override
    EXPECT_EQ(escaped("\xff"), "\\xff");
    EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf");  // overlong
    EXPECT_EQ(escaped("\xe0\x80\x80"), "\\xe0\\x80\\x80");
    EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
    EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
    EXPECT_EQ(escaped("\xe2\x82"), "\\xe2\\x82");                    // cut off
    EXPECT_EQ(escaped(std::string("a\0b", 3)), "a\\x00b");
}

}  // namespace
}  // namespace lastref::report
