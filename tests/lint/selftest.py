"""Shows of each lint that it can fail: each is run on a small bad example, and on its healthy twin.

One class a lint; ctest runs each by name.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
COMPILER = os.environ.get("LINT_COMPILER", "cc")


class LintCase(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="lint-")
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text, mode=0o644):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        os.chmod(full, mode)
        return full

    def run_lint(self, name, *options):
        return subprocess.run([sys.executable, os.path.join(HERE, name + ".py"), "--root", self.root, *options],
                              capture_output=True, text=True)

    def passes(self, name, *options):
        done = self.run_lint(name, *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def fails(self, name, expected, *options):
        done = self.run_lint(name, *options)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(expected, done.stdout)

    def library(self, source, *options):
        path = self.write("library.c", source)
        out = os.path.join(self.root, "library.so")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", path, "-o", out, *options], check=True)
        return out


class Layers(LintCase):
    def setUp(self):
        super().setUp()
        for path in ("schema/spool.h", "analyzer/store/query.h", "analyzer/report/text.h", "collector/preload/hook.h",
                     "gui/app/window.h", "analyzer/findings/finding.h", "analyzer/reference/queue.h"):
            self.write(path, "#pragma once\n")

    def test_healthy(self):
        self.write("analyzer/store/a.cpp", '#include "query.h"\n#include "schema/spool.h"\n#include <sqlite3.h>\n')
        self.write("collector/preload/a.cpp", '#include "hook.h"\n#include <cuda.h>\n')
        self.write("gui/app/a.cpp", '#include "analyzer/store/query.h"\n#include <QWidget>\n')
        self.write("analyzer/cli/a.cpp", '#include "collector/preload/hook.h"\n')
        self.write("tests/unit/a.cpp", '#include "gui/app/window.h"\n#include <cuda.h>\n#include <sqlite3.h>\n')
        self.write("analyzer/model/a.cpp", '// #include <cuda.h>\n#include <map>\n')
        self.passes("layers")

    def test_each_direction(self):
        for path, include, expected in (
                ("schema/a.h", '"analyzer/store/query.h"', "schema may not include analyzer/store/query.h"),
                ("collector/spool/a.cpp", '"analyzer/store/query.h"', "collector/spool may not include"),
                ("analyzer/store/a.cpp", '"collector/preload/hook.h"', "analyzer may not include collector/preload/hook.h"),
                ("analyzer/store/a.cpp", '"../../collector/preload/hook.h"', "analyzer may not include"),
                ("analyzer/store/a.cpp", '"gui/app/window.h"', "analyzer may not include gui/app/window.h"),
                ("analyzer/detectors/a.cpp", '"analyzer/store/query.h"', "analyzer/detectors may not include"),
                ("analyzer/report/a.cpp", '"analyzer/store/query.h"', "analyzer/report may not include"),
                ("analyzer/reference/a.h", '"schema/spool.h"', "analyzer/reference may not include schema/spool.h"),
                ("collector/preload/a.cpp", '"collector/drain/gone.h"', "collector/preload may not include"),
        ):
            with self.subTest(path=path, include=include):
                file = self.write(path, f"#include {include}\n")
                self.fails("layers", expected)
                os.remove(file)

    def test_each_library(self):
        for path, include, expected in (
                ("analyzer/model/a.cpp", "<QString>", "Qt (QString)"),
                ("analyzer/model/a.cpp", "<QtCore/QString>", "Qt (QtCore/QString)"),
                ("gui/app/a.cpp", "<sqlite3.h>", "SQLite"),
                ("collector/preload/a.cpp", '"sqlite3.h"', "SQLite"),
                ("collector/drain/a.cpp", "<cuda.h>", "CUDA headers (cuda.h)"),
                ("analyzer/store/a.cpp", "<nvtx3/nvToolsExt.h>", "CUDA headers"),
        ):
            with self.subTest(path=path, include=include):
                file = self.write(path, f"#include <vector>\n#include {include}\n")
                self.fails("layers", f"{path}:2: {expected}")
                os.remove(file)

    def test_build_file(self):
        self.write("tests/CMakeLists.txt", "target_link_libraries(a lastref_cuda_headers)\n")
        self.passes("layers")
        self.write("analyzer/store/CMakeLists.txt", "target_link_libraries(a lastref_cuda_headers)\n")
        self.fails("layers", "analyzer/store/CMakeLists.txt:1: CUDA headers")


class Sizes(LintCase):
    LONG = "    work();\n" * 60

    def test_healthy(self):
        self.write("a.cpp", "namespace a {\nclass b {\n" + "    int c() { return 1; }\n" * 70 + "};\n}\n")
        self.write("b.cpp", "char const* text = \"void f() {\";\n// void g() {\n" + "int x;\n" * 100)
        self.passes("sizes")

    def test_long_function(self):
        self.write("a.cpp", f"namespace a {{\nint f(int a)\n    noexcept {{\n    if (a) {{\n{self.LONG}    }}\n}}\n}}\n")
        self.fails("sizes", "a.cpp:2: a function of 65 lines")

    def test_long_method(self):
        self.write("a.h", f"struct a {{\n    void f() const {{\n{self.LONG}    }}\n}};\n")
        self.fails("sizes", "a.h:2: a function of 62 lines")

    def test_reason(self):
        self.write("a.cpp", f"// lint: long function, one case a kind\nint f() {{\n{self.LONG}}}\n")
        self.passes("sizes")
        self.write("a.cpp", f"// lint: long function,\nint f() {{\n{self.LONG}}}\n")
        self.fails("sizes", "a function of")

    def test_long_file(self):
        self.write("a.cpp", "int x;\n" * 601)
        self.fails("sizes", "a.cpp:1: 601 lines")
        self.write("a.cpp", "// lint: long file, a table\n" + "int x;\n" * 601)
        self.passes("sizes")

    def test_python(self):
        self.write("a.py", "def f():\n" + "    work()\n" * 60)
        self.fails("sizes", "a.py:1: a function of 61 lines")


class Exports(LintCase):
    SOURCE = "int cuInit(void) {{ return 0; }}\nint cuFree(void) {{ return 0; }}\nint dlsym(void) {{ return 0; }}\n{more}"

    def check(self, more=""):
        library = self.library(self.SOURCE.format(more=more))
        table = self.write("table", "#!/bin/sh\necho cuInit\necho cuFree\n", 0o755)
        extra = self.write("extra.txt", "# more\ndlsym  # why\n")
        return ("--library", library, "--table", table, "--extra", extra)

    def test_healthy(self):
        self.passes("exports", *self.check("static int hidden(void) { return 1; } int (*p)(void) "
                                           "__attribute__((visibility(\"hidden\"))) = hidden;\n"))

    def test_one_too_many(self):
        self.fails("exports", "exported but in no list: leaked", *self.check("int leaked(void) { return 1; }\n"))

    def test_data_counts(self):
        self.fails("exports", "exported but in no list: leaked_data", *self.check("int leaked_data = 1;\n"))

    def test_missing(self):
        options = self.check()
        self.write("table", "#!/bin/sh\necho cuInit\necho cuFree\necho cuFree_ptsz\n", 0o755)
        self.fails("exports", "not exported: cuFree_ptsz", *options)


class Dependencies(LintCase):
    PLAIN = "#include <string.h>\nsize_t f(char const* t) { return strlen(t); }\n"

    def test_healthy(self):
        self.passes("dependencies", "--library", self.library(self.PLAIN))

    def test_other_library(self):
        self.fails("dependencies", "needs libm.so.6",
                   "--library", self.library(self.PLAIN, "-Wl,--no-as-needed", "-lm"))

    def test_unknown_reference(self):
        self.fails("dependencies", "refers to nobody_has_this",
                   "--library", self.library("int nobody_has_this(void); int f(void) { return nobody_has_this(); }\n"))

    def test_cpp_runtime(self):
        self.fails("dependencies", "refers to _Znwm", "--library", self.library(
            "void* _Znwm(unsigned long); void* f(void) { return _Znwm(8); }\n"))

    def test_newer_libc(self):
        # No libc newer than the limit need be there: a reference's version is what the linked library says it is.
        self.write("versions", "GLIBC_2.99 { global: from_the_future; };\n")
        fake = self.library("int from_the_future(void) { return 1; }\n", "-Wl,-soname,libc.so.6",
                            f"-Wl,--version-script={self.root}/versions")
        os.rename(fake, os.path.join(self.root, "libfuture.so"))
        self.fails("dependencies", "from_the_future of GLIBC_2.99", "--library", self.library(
            "int from_the_future(void); int f(void) { return from_the_future(); }\n", f"-L{self.root}", "-lfuture"))

    def test_perhaps_missing(self):
        source = self.PLAIN + '#include <dlfcn.h>\nvoid* g(void) { return dlopen ? dlopen("x", 1) : 0; }\n'
        source += '__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");\n'
        self.fails("dependencies", "dlopen, which a program may lack", "--library", self.library(source, "-Wno-address"))
        weak = self.library(source + "#pragma weak dlopen\n", "-Wno-address")
        self.passes("dependencies", "--library", weak)

    def test_dynamic_thread_storage(self):
        self.fails("dependencies", "thread-local storage", "--library", self.library(
            "__thread int a[4]; int* f(int i) { return &a[i]; }\n", "-ftls-model=global-dynamic",
            "-mtls-dialect=gnu"))

    def test_writable_code(self):
        self.fails("dependencies", "both writable and executable",
                   "--library", self.library(self.PLAIN, "-Wl,-z,execstack"))
        self.fails("dependencies", "segment LOAD is both", "--library", self.library(
            "int data = 1; int f(void) { return data; }\n", "-nostdlib", "-Wl,--omagic", "-Wl,--no-warn-rwx-segments"))


class Table(LintCase):
    def check(self, *symbols):
        self.write("include/cuda.h", """
            CUresult cuFree(void* p);
            #ifdef __CUDA_API_VERSION_INTERNAL
            CUresult cuFree_v2(void* p);
            CUresult cuFree_v2_ptsz(void* p);
            #endif
            CUresult cuOther(void);
            """)
        lines = "".join(f"echo {s}\n" for s in symbols)
        table = self.write("table", "#!/bin/sh\n" + lines, 0o755)
        return ("--table", table, "--include", os.path.join(self.root, "include"))

    def test_healthy(self):
        self.passes("table", *self.check("cuFree", "cuFree_v2", "cuFree_v2_ptsz"))

    def test_missing_variant(self):
        self.fails("table", "declares cuFree_v2_ptsz", *self.check("cuFree", "cuFree_v2"))

    def test_invented(self):
        self.fails("table", "the table has cuFreed", *self.check("cuFreed"))


class Words(LintCase):
    def test_healthy(self):
        self.write("a.md", "A word that begins with network/ is no place. Neither is ~/work/x, nor the profiler's session.\n")
        self.passes("words")

    def test_each_line_of_the_list(self):
        for line in ("see /wor" "k/main/README.md", "path=/ro" "ot/x", "copied from /hom" "e/somebody/x", "written by Cla" "ude",
                     "the AI" "-generated part", "as the next sess" "ion shall see", "asks for in iss" "ue 12"):
            with self.subTest(line=line):
                self.write("docs/a.md", f"one\n{line}\n")
                self.fails("words", "docs/a.md:2:")

    def test_file_names_count(self):
        self.write("docs/of-the-cla" "ude.md", "one\n")
        self.fails("words", ":0:")


class Docs(LintCase):
    def setUp(self):
        super().setUp()
        self.write("dev", "#!/bin/sh\necho '  demo   shows'\necho '  test   tests'\n", 0o755)
        self.lastref = self.write("lastref", '#!/bin/sh\n[ "$1" = report ] || exit 2\n[ "$4" != xml ] || { echo "no xml"; exit 2; }\n'
                                  'echo "--format TEXT"\n', 0o755)
        self.write("docs/there.md", "here\n")

    def test_healthy(self):
        self.write("README.md", "[a](docs/there.md#part) `./dev demo`\n```\nlastref report t --format json\n```\n")
        self.passes("docs", "--lastref", self.lastref)

    def test_trace_format(self):
        self.write("schema/trace.sql", "CREATE TABLE event (id);\nCREATE VIEW losses AS SELECT 1;\n")
        self.write("docs/trace-format.md", "`event`, losses\n")
        self.fails("docs", "does not tell of losses (schema/trace.sql)")
        self.write("docs/trace-format.md", "`event`, `losses`\n")
        self.passes("docs")

    def test_each_fault(self):
        for text, expected in (
                ("[a](docs/gone.md)", "links to docs/gone.md"),
                ("`./dev dance`", "./dev dance is no command"),
                ("`lastref explain t`", "lastref explain is no command"),
                ("```\nlastref report --colour t\n```", "lastref report has no option --colour"),
                ("Thus:\n\n    lastref report --colour t\n", "lastref report has no option --colour"),
                ("```\nlastref report t --format xml\n```", "lastref report t --format xml: no xml"),
        ):
            with self.subTest(text=text):
                self.write("README.md", text + "\n")
                self.fails("docs", expected, "--lastref", self.lastref)


class Rules(LintCase):
    def setUp(self):
        super().setUp()
        self.write("analyzer/findings/rules.cpp", 'rules{{\n    {"failed-free", "One."},\n}};\n')
        self.write("analyzer/detectors/failed_free.cpp", "code")
        self.write("docs/rules/failed-free.md", "page")
        self.write("tests/golden/reports.txt", "1. error  failed-free  (proven)")

    def test_healthy(self):
        self.passes("rules")

    def test_each_fault(self):
        for path, expected in (("analyzer/detectors/failed_free.cpp", "no analyzer/detectors/failed_free.cpp"),
                               ("analyzer/findings/rules.cpp", "docs/rules/failed-free.md: analyzer/findings/rules.cpp lists"),
                               ("docs/rules/failed-free.md", "no docs/rules/failed-free.md"),
                               ("tests/golden/reports.txt", "no golden report")):
            with self.subTest(path=path):
                os.rename(os.path.join(self.root, path), os.path.join(self.root, "aside"))
                self.fails("rules", expected)
                os.rename(os.path.join(self.root, "aside"), os.path.join(self.root, path))

    def test_longer_name_is_another_rule(self):
        self.write("tests/golden/reports.txt", "1. error  failed-free-again  (proven)")
        self.fails("rules", "no golden report")


class Manual(LintCase):
    PROGRAM = """\
        #!/bin/sh
        case "$*" in
        --help) printf 'Options:\\n  -h,--help  Help\\nSubcommands:\\n  record  Records\\n' ;;
        manual) printf '.SH DESCRIPTION\\nText.\\n.SH OPTIONS\\n.TP\\n\\\\fB\\\\-h\\\\fR, \\\\fB\\\\-\\\\-help\\\\fR\\nHelp.\\n' ;;
        "record --help") printf 'Options:\\n  -o,--output TEXT  The trace\\n  --new  New\\n' ;;
        "manual record") printf '.SH DESCRIPTION\\n%s\\n.SH OPTIONS\\n' "$TEXT"
            for option in $TOLD; do printf '.TP\\n\\\\fB%s\\\\fR\\nIt.\\n' "$option"; done ;;
        *) exit 2 ;;
        esac
        """

    def check(self, told, text="Records."):
        os.environ.update(TOLD=told, TEXT=text)
        return ("--lastref", self.write("lastref", self.PROGRAM, 0o755))

    def test_healthy(self):
        self.passes("manual", *self.check("-o --output --new"))

    def test_each_fault(self):
        self.fails("manual", "lastref record: its page does not tell of --new", *self.check("-o --output"))
        self.fails("manual", "tells of --old, which --help does not have", *self.check("-o --output --new --old"))
        self.fails("manual", "lastref record: its page has no description", *self.check("-o --output --new", ""))


class Format(LintCase):
    def test_both(self):
        shutil.copy(os.path.join(HERE, "..", "..", ".clang-format"), os.path.join(self.root, ".clang-format"))
        self.write("a.cpp", "int f() {\n    return 1;\n}\n")
        done = self.run_lint("format")
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.write("a.cpp", "int  f( ) {return 1;}\n")
        self.fails("format", "a.cpp:1: not as ./dev format leaves it")


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if not result.testsRun:
        sys.exit(1)
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if len(result.skipped) == result.testsRun else 0)
