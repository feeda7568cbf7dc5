// Stacks with lines of Python: what is shown of them, whose they are, and what findings are known by.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/findings/code_owner.h"
#include "analyzer/gate/place.h"
#include "analyzer/report/render.h"
#include "tests/unit/analyzer/analyse.h"

namespace lastref::report {
namespace {

constexpr auto torch = "/venv/lib/python3.12/site-packages/torch/nn/module.py";

// A leak of a Python program; `line` is where it is in its file.
class python_program : public test::trace_builder {
  public:
    explicit python_program(int line = 41, std::string const& function = "Model.load") {
        auto main = thread("main").use(context());
        main.call("cuMemAlloc_v2",
                  {.object = 0x7f0000000000,
                   .size = 1 << 20,
                   .stack = {"libffi.so.8!ffi_call", "_ctypes.so!call",
                             "/app/train.py:" + std::to_string(line) + ":" + function, std::string(torch) + ":7:call",
                             std::string(torch) + ":8:forward", "/usr/lib/python3.12/threading.py:5:run",
                             "libpython3.12.so.1.0!_PyEval_EvalFrameDefault", "libpython3.12.so.1.0!PyObject_Call",
                             "libpybind.so!operator()", "/app/train.py:90:<module>", "python3!_PyEval_EvalFrameDefault",
                             "libc.so.6!__libc_start_main", "python3!_start"}});
    }
};

class opened {
  public:
    explicit opened(test::trace_builder& t)
        : names_(t.names()),
          trace_(store::trace::open(t.finish())),
          what_(detectors::analyse(trace_)),
          stacks_(trace_, *names_) {
        findings::give_fingerprints(what_, trace_, stacks_);
        outcome_ = gate::judge(what_, trace_, stacks_, {}, {}, {});
    }
    std::string as(format f, bool all_frames = false) {
        return render(f, {trace_, what_, stacks_, outcome_, all_frames}, {});
    }
    findings::finding const& only() const {
        EXPECT_EQ(what_.found.size(), 1u);
        return what_.found.front();
    }
    findings::named_stack const& stack() { return stacks_.of(only().sites.front().call.stack); }
    gate::place place() { return gate::place_of(only(), trace_, stacks_); }

  private:
    std::unique_ptr<symbols::source> names_;
    store::trace trace_;
    findings::analysis what_;
    findings::stacks stacks_;
    gate::outcome outcome_;
};

TEST(python_stacks, are_without_the_interpreter) {
    python_program t;
    opened it(t);
    std::vector<std::string> functions;
    for (auto const& frame : it.stack().frames) functions.push_back(frame.functions.front().function);
    EXPECT_EQ(functions, (std::vector<std::string>{"ffi_call", "call", "Model.load", "call", "forward", "run",
                                                   "operator()", "<module>", "__libc_start_main"}));
}

TEST(python_stacks, of_native_code_alone_keep_the_interpreter) {
    test::trace_builder t;
    t.thread("main")
        .use(t.context())
        .call("cuMemAlloc_v2",
              {.object = 0x7f0000000000, .size = 1, .stack = {"f", "libpython3.12.so!_PyEval_EvalFrameDefault"}});
    opened it(t);
    EXPECT_EQ(it.stack().frames.size(), 2u);
}

TEST(python_stacks, place_is_the_programs_own_line) {
    python_program t;
    auto const place = opened(t).place();
    EXPECT_EQ(place.function, "Model.load");
    EXPECT_EQ(place.file, "/app/train.py");
    EXPECT_EQ(place.line, 41);
    EXPECT_EQ(place.text(), "Model.load (train.py:41)");
}

TEST(python_stacks, in_every_format) {
    python_program t;
    opened it(t);
    auto const text = it.as(format::text);
    EXPECT_NE(text.find("train.py:41"), std::string::npos) << text;
    EXPECT_NE(text.find("in torch, Python"), std::string::npos) << text;
    EXPECT_NE(text.find("<module>"), std::string::npos) << text;
    EXPECT_EQ(text.find("ffi_call"), std::string::npos) << text;
    EXPECT_NE(it.as(format::text, true).find("ffi_call"), std::string::npos);
    EXPECT_NE(it.as(format::html).find("train.py:41"), std::string::npos);
    EXPECT_NE(it.as(format::markdown).find("train.py:41"), std::string::npos);
    auto const stack = nlohmann::json::parse(it.as(format::json))["findings"][0]["sites"][0]["stack"];
    EXPECT_EQ(
        stack[2],
        (nlohmann::json{{"function", "Model.load"}, {"file", "/app/train.py"}, {"line", 41}, {"language", "python"}}));
    auto const result = nlohmann::json::parse(it.as(format::sarif))["runs"][0]["results"][0];
    auto const where = result["locations"][0]["physicalLocation"];
    EXPECT_EQ(where["artifactLocation"]["uri"], "file:///app/train.py");
    EXPECT_EQ(where["region"]["startLine"], 41);
}

TEST(python_stacks, fingerprints_know_functions_and_not_lines) {
    python_program first, moved(45), other(41, "Model.store");
    auto const known = opened(first).only().fingerprint;
    EXPECT_EQ(opened(moved).only().fingerprint, known);
    EXPECT_NE(opened(other).only().fingerprint, known);
}

// Bindings pass on what the program's Python calls; a library's own Python is the library.
TEST(python_stacks, caller_is_behind_the_bindings) {
    python_program t;
    EXPECT_EQ(opened(t).only().severity, findings::severity::warning);
    test::trace_builder of_library;
    of_library.thread("main")
        .use(of_library.context())
        .call("cuMemAlloc_v2",
              {.object = 0x7f0000000000,
               .size = 1,
               .stack = {"libffi.so.8!ffi_call", std::string(torch) + ":7:call", "/app/train.py:3:f"}});
    opened kept(of_library);
    EXPECT_EQ(kept.only().severity, findings::severity::note);
    EXPECT_NE(kept.only().title.find("torch kept"), std::string::npos) << kept.only().title;
}

TEST(python_stacks, owners_by_file) {
    using findings::code_owner;
    using findings::owner_of_python;
    EXPECT_EQ(owner_of_python("/app/train.py"), code_owner::program);
    EXPECT_EQ(owner_of_python("train.py"), code_owner::program);
    EXPECT_EQ(owner_of_python("<string>"), code_owner::program);
    EXPECT_EQ(owner_of_python("/tmp/ipykernel_12/3456.py"), code_owner::program);
    EXPECT_EQ(owner_of_python(torch), code_owner::library);
    EXPECT_EQ(owner_of_python("/usr/lib/python3/dist-packages/numpy/core.py"), code_owner::library);
    EXPECT_EQ(owner_of_python("/usr/share/tool/tool.py"), code_owner::library);
    EXPECT_EQ(owner_of_python("/usr/lib/python3.11/threading.py"), code_owner::interpreter);
    EXPECT_EQ(owner_of_python("/opt/conda/lib/python3.12/asyncio/events.py"), code_owner::interpreter);
    EXPECT_EQ(owner_of_python("<frozen importlib._bootstrap>"), code_owner::interpreter);
    EXPECT_EQ(findings::package_of(torch), "torch");
    EXPECT_EQ(findings::package_of("/app/train.py"), "train.py");
    EXPECT_EQ(findings::package_of("/usr/lib/python3.11/threading.py"), "Python");
}

TEST(python_stacks, without_a_name) {
    test::trace_builder t;
    t.thread("main")
        .use(t.context())
        .call("cuMemAlloc_v2", {.object = 0x7f0000000000, .size = 1, .stack = {"/app/t.py:1:f"}});
    t.sql("DELETE FROM python_frame");  // it found no room in the spool
    opened it(t);
    EXPECT_EQ(it.stack().frames.front().functions.front().function, "a Python function");
    EXPECT_NE(it.as(format::text).find("a Python function"), std::string::npos);
}

TEST(python_stacks, traces_of_an_older_lastref) {
    test::trace_builder t;
    t.thread("main").use(t.context()).call("cuMemAlloc_v2", {.object = 0x7f0000000000, .size = 1, .stack = {"f"}});
    t.sql("DROP TABLE python_frame");
    EXPECT_EQ(opened(t).stack().frames.size(), 1u);
}

}  // namespace
}  // namespace lastref::report
