#include "collector/drain/api_rows.h"

#include <gtest/gtest.h>

#include "spool_writer.h"
#include "trace_reader.h"

namespace lastref::drain {
namespace {

TEST(api_rows, captures_are_written_for_people) {
    EXPECT_EQ(readable_capture("out(dptr)"), "dptr");
    EXPECT_EQ(readable_capture("out64(value)"), "value");
    EXPECT_EQ(readable_capture("FIELD(nodeParams, userData)"), "nodeParams.userData");
    EXPECT_EQ(readable_capture("ok ? FIELD(nodeParams, dptr) : 0"), "nodeParams.dptr");
    EXPECT_EQ(readable_capture("ok && count ? dsts[0] : 0"), "dsts[0]");
    EXPECT_EQ(readable_capture("out(pPitch) * Height"), "pPitch * Height");
    EXPECT_EQ(readable_capture("std::uint64_t{FIELD(config, gridDimX)} * FIELD(config, gridDimY)"),
              "config.gridDimX * config.gridDimY");
    EXPECT_EQ(readable_capture("CU_GRAPH_NODE_TYPE_HOST"), "CU_GRAPH_NODE_TYPE_HOST");
    EXPECT_EQ(readable_capture("array_bytes(pAllocateArray)"), "array_bytes(pAllocateArray)");
    EXPECT_EQ(readable_capture("layout(x)"), "layout(x)") << "only whole names are macros";
}

TEST(api_rows, no_capture_of_the_table_shows_its_macros) {
    for (auto const& entry : hooks::abi_table) {
        for (auto const capture : {entry.object, entry.other, entry.size, entry.extra}) {
            auto const text = readable_capture(capture);
            for (auto const* macro : {"out(", "out64(", "FIELD(", "ok ?", "uint64_t{"})
                EXPECT_EQ(text.find(macro), std::string::npos) << entry.symbol << ": " << text;
        }
    }
}

TEST(api_rows, a_new_trace_has_a_row_for_every_entry_point) {
    test::temporary_folder const folder;
    auto const trace = folder / "t.lastref";
    test::drain_folder(folder.path(), trace);
    EXPECT_EQ(test::number(trace, "SELECT count(*) FROM api"), static_cast<std::int64_t>(hooks::abi_table.size()));
    EXPECT_EQ(
        test::rows(trace,
                   "SELECT default_stream, kind.name, kind.verb, api.object, size FROM api JOIN kind ON kind.id = kind"
                   " WHERE symbol = 'cuMemAllocAsync_ptsz'"),
        std::vector<std::string>{"per_thread|memory_alloc_async|create|dptr|bytesize"});
    EXPECT_EQ(test::broken_rule(trace), "");
}

}  // namespace
}  // namespace lastref::drain
