"""Wrong input of every kind: one clear line, a fitting exit status, the program never harmed, nothing overwritten."""

import os
import shutil
import sqlite3

import elf
from harness import CLEAN, INCOMPLETE, PRELOAD, UNREADABLE, USAGE, Case, workload

# As a shell and env(1) say it.
NOT_EXECUTABLE, NOT_FOUND = 126, 127


class Program(Case):
    def refused(self, program, status, *parts):
        done = self.record(program)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assert_one_line(done.stderr, os.path.basename(program), *parts)
        self.assertFalse(os.path.exists(self.trace), "a trace was left though nothing was recorded")

    def test_missing(self):
        self.refused("./is-not-there", NOT_FOUND)
        self.refused("is-not-in-path", NOT_FOUND)

    def test_not_executable(self):
        with open(self.path("text"), "w", encoding="utf-8") as file:
            file.write("no program\n")
        self.refused(self.path("text"), NOT_EXECUTABLE)

    def test_folder(self):
        self.refused(self.path("folder", folder=True), NOT_EXECUTABLE)

    def test_static(self):
        self.refused(elf.static_64(self.path("static-program")), NOT_EXECUTABLE, "static")

    def test_32_bit(self):
        self.refused(elf.dynamic_32(self.path("old-program")), NOT_EXECUTABLE, "32-bit")

    def test_garbage(self):
        self.refused(elf.write(self.path("garbage"), b"\x7fELF" + bytes(range(200))), NOT_EXECUTABLE)

    def test_none(self):
        done = self.lastref("record", "-o", self.trace)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("record", done.stderr + done.stdout)

    def test_script_with_missing_interpreter(self):
        script = elf.write(self.path("script"), b"#!/is/not/there\n")
        done = self.record(script)
        self.assertIn(done.returncode, (NOT_EXECUTABLE, NOT_FOUND))
        self.assert_one_line(done.stderr)


class TracePath(Case):
    def unwritable(self, path, *parts):
        done = self.record("sh", "-c", "echo ran", trace=path)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertEqual(done.stdout, "", "the program ran though its trace could not be written")
        self.assert_one_line(done.stderr, path, *parts)

    def test_missing_folder(self):
        self.unwritable(self.path("no/such/folder/t.lastref"))

    def test_is_a_folder(self):
        self.unwritable(self.path("folder", folder=True))

    def test_foreign_file_is_not_overwritten(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            file.write("somebody's letter\n")
        self.unwritable(self.trace)
        with open(self.trace, encoding="utf-8") as file:
            self.assertEqual(file.read(), "somebody's letter\n")

    def test_foreign_database_is_not_overwritten(self):
        with sqlite3.connect(self.trace) as base:
            base.execute("CREATE TABLE letters (text)")
        base.close()
        self.unwritable(self.trace)

    def test_two_records_into_one_file(self):
        first = self.recorded(workload("way_dlsym"))
        calls = first.calls()
        done = self.record(workload("way_dlsym"))
        again = self.open_trace()
        if done.returncode == USAGE:  # refused: then the first must be untouched
            self.assert_one_line(done.stderr, self.trace)
            self.assertEqual(again.calls(), calls)
        else:  # replaced: then it is the second alone
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(again.calls(), calls)
            self.assertEqual(len(again.processes()), 1)

    def test_trace_is_private(self):
        self.recorded(workload("way_dlsym"), preexec_fn=lambda: os.umask(0))
        self.assertEqual(os.stat(self.trace).st_mode & 0o777, 0o600)


class Readers(Case):
    """report, query and import, on files that are no traces."""

    def each_reader(self, path, status, *parts):
        for arguments in (("report", path), ("report", path, "--format", "json"), ("query", path, "SELECT * FROM losses")):
            with self.subTest(arguments=arguments):
                done = self.lastref(*arguments)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.assertEqual(done.stdout, "")
                self.assert_one_line(done.stderr, os.path.basename(path), *parts)

    def make_trace(self):
        self.recorded(workload("demo"))
        return self.trace

    def test_missing(self):
        self.each_reader(self.path("not-there.lastref"), USAGE)

    def test_empty(self):
        open(self.path("empty.lastref"), "wb").close()
        self.each_reader(self.path("empty.lastref"), UNREADABLE)

    def test_foreign_text(self):
        with open(self.path("letter.txt"), "w", encoding="utf-8") as file:
            file.write("Dear reader,\n" * 1000)
        self.each_reader(self.path("letter.txt"), UNREADABLE)

    def test_foreign_database(self):
        base = sqlite3.connect(self.path("foreign.db"))
        base.execute("CREATE TABLE event (id)")
        base.close()
        self.each_reader(self.path("foreign.db"), UNREADABLE)

    def test_newer_schema(self):
        base = sqlite3.connect(self.make_trace())
        version = base.execute("PRAGMA user_version").fetchone()[0]
        base.execute(f"PRAGMA user_version = {version + 1}")
        base.close()
        self.each_reader(self.trace, UNREADABLE, "newer")

    def test_truncated(self):
        whole = os.path.getsize(self.make_trace())
        for share in (0.9, 0.5, 0.1):
            cut = self.path(f"cut-{share}.lastref")
            shutil.copy(self.trace, cut)
            os.truncate(cut, int(whole * share))
            self.each_reader(cut, UNREADABLE)

    def test_damaged(self):
        damaged = shutil.copy(self.make_trace(), self.path("damaged.lastref"))
        size = os.path.getsize(damaged)
        with open(damaged, "r+b") as file:
            for place in range(4096, size, 4096):
                file.seek(place)
                file.write(b"\xa5" * 64)
        self.each_reader(damaged, UNREADABLE)

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest("root may read every file")
        os.chmod(self.make_trace(), 0)
        self.each_reader(self.trace, UNREADABLE)

    def test_wrong_sql(self):
        done = self.lastref("query", self.make_trace(), "SELEKT 1")
        self.assertEqual(done.returncode, USAGE)
        self.assert_one_line(done.stderr, "syntax")

    def test_query_cannot_write(self):
        self.make_trace()
        before = open(self.trace, "rb").read()
        done = self.lastref("query", self.trace, "DELETE FROM event")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(open(self.trace, "rb").read(), before)

    def test_reading_leaves_the_trace_alone(self):
        self.make_trace()
        before, files = open(self.trace, "rb").read(), sorted(os.listdir(self.folder))
        self.lastref("report", self.trace)
        self.lastref("query", self.trace, "SELECT * FROM losses")
        self.assertEqual(open(self.trace, "rb").read(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), files)

    def test_unknown_format(self):
        done = self.lastref("report", self.make_trace(), "--format", "papyrus")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("papyrus", done.stderr)

    def test_import_of_nonsense(self):
        for name, content in (("empty.spool", b""), ("text.spool", b"no spool\n" * 5000), ("short.spool", b"REFSPOOL\x01")):
            with self.subTest(name=name):
                path = elf.write(self.path(name), content)
                done = self.lastref("import", path, "-o", self.path("out.lastref"))
                self.assertEqual(done.returncode, UNREADABLE, done.stdout + done.stderr)
                self.assert_one_line(done.stderr, name)
                self.assertFalse(os.path.exists(self.path("out.lastref")))

    def test_import_of_nothing(self):
        done = self.lastref("import", self.path("not-there.spool"))
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assert_one_line(done.stderr, "not-there.spool")


class Strangers(Case):
    """Traces that somebody else made: what they name is not touched, and what their schema would do is not done."""

    def setUp(self):
        super().setUp()
        self.recorded(workload("way_dlsym"))
        self.spools = self.path("lastref-private", folder=True)
        os.chmod(self.spools, 0o700)
        done = self.run_program(workload("way_dlsym"), env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": self.spools})
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.spool,) = (os.path.join(self.spools, name) for name in os.listdir(self.spools))

    def change(self, *statements):
        with sqlite3.connect(self.trace) as base:
            for sql in ("UPDATE meta SET value = 'unfinished' WHERE key = 'state'", *statements):
                base.execute(sql)
            base.execute("INSERT OR REPLACE INTO meta VALUES ('spool_folder', ?)", (self.spools,))
        base.close()

    def processes_after_report(self):
        self.lastref("report", self.trace)
        return len(self.open_trace().processes())

    def test_left_over_spools_of_ours_are_taken(self):
        self.change()
        self.assertEqual(self.processes_after_report(), 2)
        self.assertFalse(os.path.exists(self.spool))

    def test_traces_of_another_machine_name_nothing(self):
        self.change("UPDATE meta SET value = 'elsewhere.example' WHERE key = 'host'")
        self.assertEqual(self.processes_after_report(), 1)
        self.assertTrue(os.path.exists(self.spool))

    def test_folders_that_others_may_enter_are_not_touched(self):
        self.change()
        os.chmod(self.spools, 0o755)
        self.assertEqual(self.processes_after_report(), 1)
        self.assertTrue(os.path.exists(self.spool))

    def test_links_are_not_followed(self):
        self.change()
        os.rename(self.spool, self.path("real"))
        os.symlink(self.path("real"), self.spool)
        self.assertEqual(self.processes_after_report(), 1)
        self.assertTrue(os.path.exists(self.path("real")))

    def test_triggers_do_not_run(self):
        self.change("CREATE TRIGGER bait AFTER INSERT ON event BEGIN DELETE FROM kind; END",
                    "CREATE TRIGGER more AFTER UPDATE ON meta BEGIN INSERT INTO note VALUES (NULL, 'the trigger ran'); END")
        self.assertEqual(self.processes_after_report(), 2)
        trace = self.open_trace()
        self.assertEqual(trace.column("SELECT text FROM note WHERE text LIKE '%trigger%'"), [])
        self.assertGreater(trace.one("SELECT count(*) FROM kind"), 50)

    def test_a_view_without_an_end_for_a_table(self):
        self.change()
        with sqlite3.connect(self.trace) as base:
            base.execute("ALTER TABLE meta RENAME TO meta_before")
            base.execute("CREATE VIEW meta (key, value) AS WITH RECURSIVE n (k, v) AS (SELECT 'state', 'recording' UNION ALL "
                         "SELECT k, v FROM n) SELECT k, v FROM n WHERE k = 'none'")
        base.close()
        done = self.lastref("report", self.trace, timeout=30)
        self.assertEqual(done.returncode, UNREADABLE, done.stderr)
        self.assert_one_line(done.stderr, "meta")

    def test_check_file(self):
        done = self.lastref("report", self.trace, "--check-file", "--fail-on", "none")
        self.assertEqual(done.returncode, CLEAN, done.stderr)
        with sqlite3.connect(self.trace) as base:
            base.execute("CREATE TABLE later (text)")
            base.execute("INSERT INTO later VALUES (hex(zeroblob(20000)))")
        base.close()
        with open(self.trace, "r+b") as file:
            file.seek(-4096, os.SEEK_END)
            file.write(b"\xff" * 6)
        self.assertEqual(self.lastref("report", self.trace, "--fail-on", "none").returncode, CLEAN)
        done = self.lastref("report", self.trace, "--check-file", "--fail-on", "none")
        self.assertEqual(done.returncode, UNREADABLE, done.stderr)
        self.assert_one_line(done.stderr, "damaged")


class Settings(Case):
    """LASTREF_* variables with nonsense in them: said once in the trace, the program runs, everything is recorded."""

    def test_nonsense(self):
        usual = self.recorded(workload("way_dlsym")).calls()
        for name, value in (("LASTREF_SPOOL_MAX", "lots"), ("LASTREF_SPOOL_MAX", "-1"), ("LASTREF_STACKS", "sideways"),
                            ("LASTREF_VERIFY", "perhaps"), ("LASTREF_SPOOL_MAX", "9" * 200)):
            with self.subTest(name=name, value=value):
                trace = self.path(f"{name}-{len(value)}{value[:4]}.lastref")
                done = self.record(workload("way_dlsym"), trace=trace, env={name: value})
                self.assertEqual(done.returncode, 0, done.stderr)
                opened = self.open_trace(trace)
                self.assertEqual(opened.calls(), usual)
                notes = opened.column("SELECT text FROM note")
                self.assertTrue(any(name in note for note in notes), notes)

    def test_unknown_option(self):
        done = self.lastref("record", "--stacks=sideways", "-o", self.trace, "--", "true")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("sideways", done.stderr)

    def test_unwritable_spool_folder(self):
        bare = self.run_program(workload("way_dlsym"))
        for folder in ("/proc/self/nowhere", self.path("missing/folder")):
            with self.subTest(folder=folder):
                done = self.run_program(workload("way_dlsym"), env={"LD_PRELOAD": PRELOAD, "LASTREF_SPOOL_DIR": folder})
                self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
                self.assertLessEqual(len(done.stderr.splitlines()), len(bare.stderr.splitlines()) + 1)


class NoDriver(Case):
    def test_program_that_finds_no_driver(self):
        without = {"LD_LIBRARY_PATH": ""}
        bare = self.run_program(workload("no_driver"), env=without)
        for preload in (False, True):
            with self.subTest(preload=preload):
                if preload:
                    done = self.run_program(workload("no_driver"), env={**without, "LD_PRELOAD": PRELOAD})
                    self.assertEqual(done.stderr, bare.stderr)
                else:
                    done = self.record(workload("no_driver"), env=without)
                self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_report_of_nothing_recorded_is_not_clean(self):
        self.record(workload("no_driver"), env={"LD_LIBRARY_PATH": ""})
        if os.path.exists(self.trace):
            done = self.lastref("report", self.trace)
            self.assertIn(done.returncode, (CLEAN, INCOMPLETE))
            self.assertIn("no", done.stdout.lower())
