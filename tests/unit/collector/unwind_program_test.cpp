// The unwinder against libgcc's in real programs, interrupted anywhere.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/collector/unwind_compare.h"

namespace lastref::unwind::test {
namespace {

namespace fs = std::filesystem;

struct sum {
    std::uint64_t compared = 0, whole = 0, different = 0, refused = 0;
};

class Programs : public testing::Test {
  protected:
    void SetUp() override {
        if (find_object() == nullptr) GTEST_SKIP() << "this glibc has no _dl_find_object";
        char name[] = "/tmp/unwind_test_XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }

    fs::path write(std::string const& name, std::string const& content) {
        std::ofstream(folder_ / name) << content;
        return folder_ / name;
    }

    // What all processes of the command found.
    sum run(std::string const& command) {
        std::string const report = folder_ / "report";
        // Not preloaded into `timeout`, which has its own use for the signal.
        std::string const line = "cd " + folder_.string() + " && timeout 60 env UNWIND_PROBE_REPORT=" + report +
                                 " LD_PRELOAD=" UNWIND_PROBE " " + command + " >output 2>&1";
        EXPECT_EQ(std::system(line.c_str()), 0) << content_of(folder_ / "output");
        sum total;
        for (auto const& entry : fs::directory_iterator(folder_)) {
            if (entry.path().filename().string().find("report.") != 0) continue;
            sum one;
            std::ifstream(entry.path()) >> one.compared >> one.whole >> one.different >> one.refused;
            total.compared += one.compared;
            total.whole += one.whole;
            total.different += one.different;
            total.refused += one.refused;
        }
        return total;
    }

    void expect_same(sum const& found, double whole) {
        RecordProperty("compared", static_cast<int>(found.compared));
        EXPECT_EQ(found.different, 0u) << content_of(folder_ / "output");
        EXPECT_GT(found.compared, 100u);
        EXPECT_GE(static_cast<double>(found.whole), whole * static_cast<double>(found.compared));
        EXPECT_LT(found.refused, found.compared / 10 + 10);
        std::printf("compared %lu, whole %lu, refused %lu\n", found.compared, found.whole, found.refused);
    }

    static std::string content_of(fs::path const& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    fs::path folder_;
};

TEST_F(Programs, Python) {
    if (std::string(UNWIND_PYTHON).empty()) GTEST_SKIP() << "no Python";
    auto const script = write("script.py", R"--(
import ctypes, json, re, sqlite3, threading, time

probe = ctypes.CDLL(None)
library = ctypes.CDLL("libc.so.6")
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))

def difference(a, b):
    probe.unwind_check()
    return a[0] - b[0]

def callbacks():
    numbers = (ctypes.c_int * 50)(*reversed(range(50)))
    library.qsort(numbers, 50, 4, compare(difference))

def recursion(n):
    if n == 0:
        probe.unwind_check()
        return 0
    return sorted([recursion(n - 1) + 1], key=lambda x: -x)[0]

def database():
    with sqlite3.connect(":memory:") as db:
        db.create_function("twice", 1, lambda x: 2 * x)
        db.execute("CREATE TABLE t AS WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x+1 FROM c WHERE x<3000) SELECT x FROM c")
        db.execute("SELECT sum(twice(x)) FROM t WHERE x % 3").fetchall()

def texts():
    text = json.dumps([{"a": i, "b": [str(i)] * 5} for i in range(300)])
    json.loads(text)
    re.findall(r"(\d+|[a-z])+\W", text)

end = time.monotonic() + 1.5
while time.monotonic() < end:
    for work in callbacks, database, texts, lambda: recursion(60):
        try:
            work()
            raise ValueError
        except ValueError:
            pass
thread = threading.Thread(target=callbacks)
thread.start()
thread.join()
)--");
    expect_same(run(std::string(UNWIND_PYTHON) + " " + script.string()), 0.98);
}

TEST_F(Programs, Sqlite) {
    if (std::string(UNWIND_SQLITE).empty()) GTEST_SKIP() << "no sqlite3";
    auto const script = write("script.sql",
                              "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x+1 FROM c WHERE x<1500000) "
                              "SELECT count(*), sum(length(hex(x))), max(x*x%97) FROM c;");
    expect_same(run(std::string(UNWIND_SQLITE) + " :memory: '.read " + script.string() + "'"), 0.98);
}

TEST_F(Programs, Compiler) {
    auto const source = write("source.cpp",
                              "#include <regex>\n#include <map>\n#include <functional>\n"
                              "int main() { return std::regex_match(\"a\", std::regex(\"[a-c]+\")); }\n");
    expect_same(run(std::string(UNWIND_COMPILER) + " -std=c++20 -O1 -c " + source.string() + " -o object.o"), 0.98);
}

TEST_F(Programs, CMake) {
    auto const script = write("script.cmake", R"--(
set(list "")
foreach(i RANGE 20000)
  string(REGEX REPLACE "([0-9])([0-9]*)" "\\2;\\1" turned "${i}abc${i}")
  list(APPEND list ${turned})
endforeach()
list(SORT list)
list(REMOVE_DUPLICATES list)
)--");
    expect_same(run(std::string(UNWIND_CMAKE) + " -P " + script.string()), 0.98);
}

}  // namespace
}  // namespace lastref::unwind::test
