// What programs say through NVTX, in findings: names of streams, contexts, events and threads, and ranges.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyzer/findings/during.h"
#include "analyzer/findings/wording.h"
#include "tests/unit/analyzer/rendered.h"
#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {
namespace {

class names : public rules {
  protected:
    names() {
        main.use(context).in({"main"});
        worker.use(context).in({"work"});
    }

    // Memory used on one stream and freed on another, with nothing between: unordered-free.
    void freed_on_another(std::uint64_t used, std::uint64_t freed, std::uint64_t at = buffer) {
        main.call("cuMemAllocAsync", {.stream = used, .object = at, .size = mib});
        main.call("cuMemFreeAsync", {.stream = freed, .object = at});
    }
    void create(std::uint64_t handle) { main.call("cuStreamCreate", {.object = handle}); }
    void destroy(std::uint64_t handle) { main.call("cuStreamDestroy_v2", {.object = handle}); }

    std::string text() {
        std::string out;
        for (auto const& f : what().found) {
            out += f.title + "\n";
            for (auto const& each : f.what) out += each + "\n";
            for (auto const& s : f.sites) out += findings::site_head(s) + ", " + s.note + "\n";
        }
        return out;
    }
    bool says(std::string const& part) { return text().find(part) != std::string::npos; }
};

TEST_F(names, of_streams) {
    create(0x50);
    create(0x60);
    t.nvtx_name("stream", 0x50, "copy");
    freed_on_another(0x50, 0x60);
    destroy(0x50);
    destroy(0x60);
    auto const f = only(rule::unordered_free);
    EXPECT_TRUE(says("stream \"copy\" (0x50)")) << text();
    EXPECT_TRUE(says("stream 0x60")) << text();
    ASSERT_EQ(f.sites.size(), 2u);
    EXPECT_EQ(f.sites[0].stream_name, "copy");
    EXPECT_EQ(f.sites[0].note, "on stream \"copy\" (0x50)");
    EXPECT_EQ(f.sites[1].stream_name, "");
}

// The driver hands a handle out again: the name went with the stream that had it.
TEST_F(names, go_with_the_life_of_a_handle) {
    create(0x50);
    t.nvtx_name("stream", 0x50, "old");
    destroy(0x50);
    t.nvtx_name("stream", 0x50, "of a stream that is gone");
    create(0x50);
    create(0x60);
    freed_on_another(0x50, 0x60);
    destroy(0x50);
    destroy(0x60);
    only(rule::unordered_free);
    EXPECT_TRUE(says("stream 0x50")) << text();
    EXPECT_FALSE(says("old")) << text();
    EXPECT_FALSE(says("gone")) << text();
}

TEST_F(names, of_the_second_life_are_not_those_of_the_first) {
    create(0x50);
    create(0x60);
    t.nvtx_name("stream", 0x50, "first");
    freed_on_another(0x50, 0x60);
    destroy(0x50);
    create(0x50);
    t.nvtx_name("stream", 0x50, "second");
    main.in({"later", "main"});
    freed_on_another(0x50, 0x60, buffer + mib);
    auto const all = found(rule::unordered_free);
    ASSERT_EQ(all.size(), 2u) << titles(what());
    EXPECT_EQ(all[0].sites[0].stream_name + all[1].sites[0].stream_name, "firstsecond");
}

TEST_F(names, hold_from_when_they_are_given) {
    create(0x50);
    create(0x60);
    freed_on_another(0x50, 0x60);
    t.nvtx_name("stream", 0x50, "first");
    main.in({"later", "main"});
    freed_on_another(0x50, 0x60, buffer + mib);
    t.nvtx_name("stream", 0x50, "second");
    auto const all = found(rule::unordered_free);
    ASSERT_EQ(all.size(), 2u) << titles(what());
    EXPECT_EQ(all[0].sites[0].stream_name, "first") << "it had none before";
    EXPECT_EQ(all[1].sites[0].stream_name, "first");
}

TEST_F(names, of_what_was_never_destroyed) {
    create(0x50);
    t.nvtx_name("stream", 0x50, "copy");
    main.call("cuEventCreate", {.object = 0x90});
    t.nvtx_name("event", 0x90, "copied");
    auto const all = found(rule::handle_leak);
    ASSERT_EQ(all.size(), 2u) << titles(what());
    EXPECT_TRUE(says("stream \"copy\" (0x50)")) << text();
    EXPECT_TRUE(says("event \"copied\" (0x90)")) << text();
    EXPECT_EQ(all[0].objects[0].name + all[1].objects[0].name, "copycopied");
}

TEST_F(names, of_many_streams_that_are_gone_are_forgotten) {
    create(0x50);
    create(0x60);
    t.nvtx_name("stream", 0x50, "copy");
    freed_on_another(0x50, 0x60);
    destroy(0x50);
    // 17,000 more of the same handle.
    t.sql(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 33999) "
        "INSERT INTO event (begin, duration, thread, api, result, stream, object, other, size, extra, flags) "
        "SELECT 1000000000 + i, 1, 1, (SELECT id FROM api WHERE symbol = iif(i % 2 = 0, 'cuStreamCreate', "
        "'cuStreamDestroy_v2')), 0, 0, 0x50, 0, 0, 0, 0 FROM n");
    t.sql(
        "INSERT INTO nvtx_name SELECT 1, 'stream', 0x50, 'another', begin, id FROM event WHERE begin >= 1000000000 AND "
        "api = (SELECT id FROM api WHERE symbol = 'cuStreamCreate')");
    destroy(0x60);
    EXPECT_TRUE(found(rule::unordered_free)[0].sites[0].stream_name.empty());
}

TEST_F(names, of_contexts_by_life) {
    auto const first = t.context(0xc1);
    auto const second = t.context(0xc1);
    main.use(first);
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib, .stack = {"f", "main"}});
    t.nvtx_name("context", 0xc1, "training");
    main.call("cuCtxDestroy_v2", {.object = 0xc1});
    main.use(0);
    main.call("cuCtxCreate_v4", {.object = 0xc1});
    t.nvtx_name("context", 0xc1, "evaluation");
    main.use(second);
    main.call("cuMemAlloc_v2", {.object = 0x2000, .size = mib, .stack = {"g", "main"}});
    auto const all = found(rule::allocation_leak);
    ASSERT_EQ(all.size(), 1u) << titles(what());
    EXPECT_EQ(all[0].sites[0].context_name, "evaluation");
    auto const handles = found(rule::handle_leak);
    ASSERT_EQ(handles.size(), 1u) << titles(what());
}

TEST_F(names, of_contexts_in_words) {
    auto const other = t.context(0xc1);
    t.nvtx_name("context", 0xc0, "one");
    main.call("cuMemAllocAsync", {.stream = 0, .object = buffer, .size = mib});
    main.use(other);
    main.call("cuMemFreeAsync", {.stream = 0, .object = buffer});
    t.nvtx_name("context", 0xc1, "two");
    EXPECT_FALSE(found(rule::incomplete_recipe).empty()) << titles(what());
    EXPECT_TRUE(says("under context \"one\" (0xc0)")) << text();
    EXPECT_TRUE(says("while context \"two\" (0xc1) was current")) << text();
}

TEST_F(names, of_the_main_thread) {
    t.nvtx_name("thread", 100, "trainer");
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib});
    worker.call("cuMemAlloc_v2", {.object = 0x2000, .size = mib});
    EXPECT_TRUE(says("by the main thread \"trainer\"")) << text();
    EXPECT_TRUE(says("by thread \"worker\" (101)")) << text();
}

// --- ranges ----------------------------------------------------------------------------------------------------------

TEST_F(names, of_ranges) {
    auto const one = main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib, .stack = {"a", "main"}});
    auto const two = main.call("cuMemAlloc_v2", {.object = 0x2000, .size = mib, .stack = {"b", "main"}});
    auto const three = main.call("cuMemAlloc_v2", {.object = 0x3000, .size = mib, .stack = {"c", "main"}});
    worker.call("cuMemAlloc_v2", {.object = 0x4000, .size = mib, .stack = {"d", "work"}});
    t.nvtx_range(main, "epoch", 0, {});
    t.nvtx_range(main, "warm-up", one, three);
    t.nvtx_range(main, "forward", two, three, {.domain = "trainer"});
    t.nvtx_range(worker, "request", two, {}, {.kind = "start"});
    std::map<std::string, std::string> during;
    for (auto const& f : found(rule::allocation_leak))
        during[f.sites[0].thread] += findings::during_text(f.sites[0]) + "\n";
    EXPECT_EQ(during["the main thread"], "\"epoch\"\n\"warm-up\"\n\"warm-up\" and \"forward\" of domain \"trainer\"\n");
    EXPECT_EQ(during["thread \"worker\" (101)"], "\"request\"\n") << "another thread's pushed ranges are not meant";
}

TEST_F(names, of_ranges_stand_before_the_call) {
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib});
    t.nvtx_range(main, "warm-up", 0, {});
    auto const text = rendered(t, {std::nullopt, {"warm-up"}});
    EXPECT_NE(text.find("allocated at 0.001 s by the main thread during \"warm-up\": cuMemAlloc_v2"), std::string::npos)
        << text;
}

TEST_F(names, of_very_many_open_ranges_are_cut) {
    for (int i = 0; i < 1000; ++i) t.nvtx_range(main, std::to_string(i), 0, {});
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib});
    auto const f = only(rule::allocation_leak);
    ASSERT_EQ(f.sites[0].ranges.size(), findings::most_ranges);
    EXPECT_EQ(f.sites[0].ranges.back().name, "999");
    EXPECT_EQ(findings::during_text(f.sites[0]), "\"999\"");
}

TEST_F(names, of_ranges_of_another_process_do_not_count) {
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib});
    t.process("/build/other", 4712);
    auto const other = t.thread("main");
    t.nvtx_range(other, "started", 0, {}, {.kind = "start"});
    t.nvtx_range(other, "pushed", 0, {});
    EXPECT_EQ(findings::during_text(only(rule::allocation_leak).sites[0]), "");
}

TEST_F(names, are_not_asked_of_older_traces) {
    t.sql("DROP TABLE nvtx_range; DROP TABLE nvtx_name");
    main.call("cuMemAlloc_v2", {.object = 0x1000, .size = mib});
    EXPECT_TRUE(only(rule::allocation_leak).sites[0].ranges.empty());
}

TEST(quoted_names, are_cut_between_characters) {
    EXPECT_EQ(findings::quoted("copy"), "\"copy\"");
    auto const text = findings::quoted(std::string(79, 'x') + "\xc3\xa9\xc3\xa9");
    EXPECT_EQ(text, "\"" + std::string(79, 'x') + "…\"");
    EXPECT_EQ(findings::quoted(std::string(200, '\x80')).size(), 76 + std::string("\"…\"").size());
}

}  // namespace
}  // namespace lastref::test
