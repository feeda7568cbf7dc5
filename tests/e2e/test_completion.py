"""Shells complete lastref's command lines: what bash makes of the script, and whether zsh and fish can read theirs."""

import shutil
import subprocess
import unittest

from harness import CLEAN, USAGE, Case

# What bash does when the tab key is pressed behind the last of the words; "=" is a word of its own there.
PRESS_TAB = """
source "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_lastref
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Bash(Case):
    def setUp(self):
        super().setUp()
        self.script = self.path("lastref.bash")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(self.lastref("completion", "bash").stdout)

    def completed(self, *words):
        done = subprocess.run(["bash", "--norc", "-uc", PRESS_TAB, "bash", "lastref", *words], cwd=self.folder, capture_output=True,
                              text=True, env={**self.environment, "SCRIPT": self.script})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return sorted(done.stdout.split("\n")[:-1]) if done.stdout.strip() else []

    def test_commands(self):
        self.assertEqual(self.completed("re"), ["record", "replay", "report"])
        self.assertEqual(self.completed("dr"), [], "hidden commands are not for people")
        self.assertEqual(self.completed("--v"), ["--version"])

    def test_options(self):
        self.assertEqual(self.completed("record", "--s"), ["--sim", "--spool-dir", "--stacks", "--symbols"])
        self.assertEqual(self.completed("diff", "a", "b", "--sy"), ["--symbols"])
        self.assertIn("--fail-on-stale", self.completed("check", "--fail"), "options of a group")

    def test_every_option_of_every_command(self):
        listed = self.lastref("--help").stdout.split("Subcommands:")[1]
        for command in [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]:
            with self.subTest(command=command):
                told = self.lastref(command, "--help").stdout
                for option in self.completed(command, "--"):
                    self.assertIn(option, told)
                self.assertIn("--help", self.completed(command, "--"))

    def test_values(self):
        self.assertEqual(self.completed("record", "--stacks", ""), ["all", "create", "off"])
        self.assertEqual(self.completed("record", "--stacks", "=", "c"), ["create"])
        self.assertEqual(self.completed("record", "--stacks", "="), ["all", "create", "off"])
        self.assertEqual(self.completed("report", "x", "--format", "ht"), ["html"])
        self.assertEqual(self.completed("completion", "z"), ["zsh"])
        self.assertEqual(self.completed("check", "--gate-status", ""), [], "a number")

    def test_files(self):
        for name in ("one trace.lastref", "one.txt", "two"):
            open(self.path(name), "w", encoding="utf-8").close()
        self.assertEqual(self.completed("report", "on"), ["one trace.lastref", "one.txt"])
        self.assertEqual(self.completed("record", "-o", "t"), ["tmp", "two"])

    def test_program(self):
        open(self.path("shfile"), "w", encoding="utf-8").close()
        self.assertIn("sh", self.completed("record", "--", "sh"))
        self.assertEqual(self.completed("record", "--", "sh", "shf"), ["shfile"])
        self.assertEqual(self.completed("record", "--", "sh", "--st"), [], "the program's options are its own")


class Others(Case):
    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_it(self):
        self.read_by(["zsh", "-n"], "zsh")
        # As the shell's completion system would load it.
        script = self.path("zsh-functions", folder=True) + "/_lastref"
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.lastref("completion", "zsh").stdout)
        done = self.run_program("zsh", "-fc", f"autoload -U compinit; compinit -D -u; source {script}; print $_comps[lastref]")
        self.assertEqual((done.stdout.strip(), done.stderr), ("_lastref", ""))

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_reads_it(self):
        self.read_by(["fish", "--no-execute"], "fish")

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes(self):
        script = self.path("lastref.fish")
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.lastref("completion", "fish").stdout)
        for line, expected in (("lastref rec", ["record"]), ("lastref record --stacks ", ["all", "create", "off"]),
                               ("lastref record --no", ["--no-args"]), ("lastref report x --format ht", ["html"]),
                               ("lastref completion z", ["zsh"]), ("lastref record -- ech", ["echo"])):
            with self.subTest(line=line):
                done = self.run_program("fish", "--no-config", "-c", f"source {script}; complete -C {line!r}")
                self.assertEqual(sorted(word.split("\t")[0] for word in done.stdout.splitlines()), expected, done.stderr)

    def read_by(self, shell, name):
        script = self.path("script." + name)
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.lastref("completion", name).stdout)
        done = self.run_program(*shell, script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_wrong_use(self):
        self.assertEqual(self.lastref("completion", "csh").returncode, USAGE)
        self.assertEqual(self.lastref("completion").returncode, USAGE)


class Manual(Case):
    def test_every_page_is_read_without_a_warning(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        listed = self.lastref("--help").stdout.split("Subcommands:")[1]
        names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
        for command in ([], *([name] for name in names)):
            with self.subTest(command=command):
                page = self.lastref("manual", *command)
                self.assertEqual(page.returncode, CLEAN)
                done = self.run_program("groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z", input=page.stdout)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_unknown_command(self):
        self.assertEqual(self.lastref("manual", "dance").returncode, USAGE)
