#include "tests/gui/example_trace.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <QTemporaryDir>

#include <fstream>

namespace lastref::test {
namespace {

namespace fs = std::filesystem;

void add_leaks(thread_builder& main) {
    for (int i = 0; i < 3; ++i)
        main.call(
            "cuMemAlloc_v2",
            {.object = 0x1000u + 0x1000u * static_cast<unsigned>(i), .size = 1 << 20, .stack = {"make_cache", "main"}});
    main.call("cuMemAlloc_v2", {.object = 0x9000, .size = 4096, .stack = {"make_table", "main"}});
    main.call("cuMemFree_v2", {.object = 0x9000, .stack = {"drop_table", "main"}});
}

void add_payload(thread_builder& main) {
    main.call("cuGraphCreate", {.object = 0x60, .stack = {"build", "main"}});
    main.call("cuUserObjectCreate",
              {.object = 0x70, .other = 0x7777, .size = 1, .extra = 0x5555, .stack = {"attach", "build", "main"}});
    main.call("cuGraphRetainUserObject",
              {.object = 0x70, .other = 0x60, .size = 1, .extra = 1, .stack = {"attach", "build", "main"}});
    main.call("cuGraphInstantiateWithFlags", {.object = 0x80, .other = 0x60, .stack = {"build", "main"}});
    main.call("cuGraphDestroy", {.object = 0x60, .stack = {"build", "main"}});
}

void add_refused_free(thread_builder& worker) {
    worker.call("cuMemAllocAsync_ptsz", {.object = 0x20000, .size = 256 << 10, .stack = {"produce", "work"}});
    worker.call("cuMemFreeAsync_ptsz", {.object = 0x20000, .result = 201, .stack = {"consume", "work"}});
}

void add_hazard(thread_builder& main, thread_builder& worker) {
    worker.call("cuMemAllocAsync_ptsz", {.object = 0x30000, .size = 4096, .stack = {"produce", "work"}});
    worker.call("cuMemsetD8Async_ptsz", {.object = 0x30000, .size = 4096, .stack = {"fill", "work"}});
    main.call("cuMemFreeAsync_ptsz", {.object = 0x30000, .stack = {"consume", "main"}});
}

}  // namespace

example_trace::example_trace() {
    auto main = builder_.thread("main");
    auto const context = builder_.context();
    main.use(context);
    builder_.phase("driver_initialized");
    add_leaks(main);
    add_payload(main);
    auto worker = builder_.thread("worker");
    worker.use(context);
    add_refused_free(worker);
    add_hazard(main, worker);
    builder_.loss("stacks_cut", 2);
    builder_.phase("exit_begin");
    builder_.ends("clean");
    path_ = builder_.finish();
}

void example_trace::sql(std::string const& statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, statement.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
    sqlite3_free(message);
    sqlite3_close(db);
}

void example_trace::grow(std::int64_t calls) {
    sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(calls) +
        ") INSERT INTO event SELECT m + i, t + i * 1000, 500, 1, (SELECT id FROM api WHERE symbol = "
        "'cuCtxGetCurrent'), "
        "i % 7 = 0, NULL, 0, i, 0, i % 100, 0, NULL, 0 FROM n, (SELECT max(id) AS m, max(begin) AS t FROM event)");
}

void example_trace::set_state(std::string const& state) {
    sql("UPDATE meta SET value = '" + state + "' WHERE key = 'state'");
}

gui::trace_pointer loaded(fs::path const& path, std::vector<std::string> const& suppressions) {
    return gui::load({path.string(), suppressions}, [](gui::load_stage, double) { return true; });
}

fs::path file_with(std::string const& name, std::string const& content) {
    static QTemporaryDir const folder;
    auto const path = fs::path(folder.path().toStdString()) / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

}  // namespace lastref::test
