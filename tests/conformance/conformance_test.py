#!/usr/bin/env python3
"""Tests of the suite's scripts: each must notice what it is there for."""
import collections
import os
import pathlib
import stat
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import asking  # noqa: E402
import comparing  # noqa: E402
import documented  # noqa: E402
import golden  # noqa: E402
import recordings  # noqa: E402

# Stands in for the questions' program: two groups in one process, one alone that crashes, one alone that hangs.
PROGRAM = """#!/usr/bin/env python3
import os, signal, sys, time
what = sys.argv[1]
say = lambda line: print(line, flush=True)
if what == "--list": say("a b\\ncrash\\nhang")
if what == "a":
    say("group = a"); say("x = 1"); say("x = 2"); say("group = b"); say("y == z = yes")
if what == "crash":
    say("group = crash"); say("q = 0"); os.kill(os.getpid(), signal.SIGSEGV)
if what == "hang":
    say("group = hang"); say("q = 0"); time.sleep(60)
"""


class Asking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = pathlib.Path(folder.name) / "questions"
        self.program.write_text(PROGRAM)
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def test_batches(self):
        self.assertEqual(asking.batches_of(self.program, None), [["a", "b"], ["crash"], ["hang"]])

    def test_answers_of_groups_that_share_a_process(self):
        heard = asking.ask_batch(self.program, ["a", "b"], None, 20)
        self.assertEqual(heard["a"], (("x", "1"), ("x #2", "2"), (asking.END, "exit 0")))
        self.assertEqual(heard["b"], (("y == z", "yes"), (asking.END, "exit 0")))

    def test_crash_keeps_what_was_answered(self):
        self.assertEqual(asking.ask_batch(self.program, ["crash"], None, 20)["crash"], (("q", "0"), (asking.END, "signal 11")))

    def test_time_limit(self):
        self.assertEqual(asking.ask_batch(self.program, ["hang"], None, 1)["hang"], (("q", "0"), (asking.END, "time limit")))

    def test_groups_after_a_crash_are_not_answered(self):
        heard = asking.of_groups(["group = a", "x = 1"], ["a", "b"], "signal 11")
        self.assertEqual(heard, {"a": (("x", "1"), (asking.END, "signal 11"))})

    def test_counts_runs_and_tells_after_each_round(self):
        rounds = []
        heard = asking.ask_all(self.program, [["a", "b"]], None, 3, 2, 20, 60,
                               lambda so_far: rounds.append(sum(so_far["a"].values())))
        self.assertEqual([sum(each.values()) for each in heard.values()], [3, 3])
        self.assertEqual(rounds, [1, 2, 3])

    def test_begins_nothing_after_the_deadline(self):
        self.assertEqual(asking.ask_all(self.program, [["a", "b"]], None, 3, 2, 20, 0), {})


class Findings(unittest.TestCase):
    def test_rules_are_those_of_the_analyzer(self):
        found = recordings.rules(pathlib.Path(__file__).resolve().parent.parent.parent)
        self.assertIn("user-object-leak", found)
        self.assertIsNone(recordings.rules(pathlib.Path("/nowhere")))

    def test_summary(self):
        self.assertEqual(recordings.summary([1, 4]), "2 found, 5 times")


class Drivers(unittest.TestCase):
    def test_system_driver_is_named_so_that_it_is_not_the_simulated_one(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "libcuda.so.1").touch()
            with unittest.mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": f"/nowhere:{folder}", "LASTREF_STACKS": "off"}):
                found = asking.system_driver()
                self.assertEqual(found, pathlib.Path(folder))
                environment = asking.environment(found)
        self.assertEqual(environment["LD_LIBRARY_PATH"].split(":")[0], folder)
        self.assertNotIn("LASTREF_SIM_DEVICES", environment)
        self.assertNotIn("LASTREF_STACKS", environment)

    def test_simulated_driver_has_one_device(self):
        self.assertEqual(asking.environment(pathlib.Path("/b/lib/simdriver"))["LASTREF_SIM_DEVICES"], "1")


def heard(*transcripts):
    return {"g": collections.Counter(tuple(each.items()) for each in transcripts)}


class Golden(unittest.TestCase):
    def answers(self, *transcripts):
        return golden.make({}, heard(*transcripts))["groups"]["g"]["answers"]

    def test_one_answer(self):
        self.assertEqual(self.answers({"q": "1"}, {"q": "1"}), {"q": "1"})

    def test_varying_answer_and_missing_one(self):
        self.assertEqual(self.answers({"q": "1", "r": "0"}, {"q": "2"}), {"q": ["1", "2"], "r": [golden.ABSENT, "0"]})

    def test_merging_adds_answers_and_runs(self):
        first, second = (golden.make({}, heard({"q": value})) for value in ("1", "2"))
        merged = golden.merge(first, second)["groups"]["g"]
        self.assertEqual(merged, {"runs": 2, "answers": {"q": ["1", "2"]}})

    def test_merging_takes_the_newer_of_changed_groups(self):
        merged = golden.merge(golden.make({}, heard({"q": "1"})), golden.make({}, heard({"r": "2"})))
        self.assertEqual(merged["groups"]["g"], {"runs": 1, "answers": {"r": "2"}})

    def test_written_as_it_is_read(self):
        made = golden.make({"driver": "1"}, heard({"q": "1", "r": "ä"}, {"q": "2", "r": "ä"}))
        with tempfile.TemporaryDirectory() as folder:
            golden.write(pathlib.Path(folder) / "g.json", made)
            self.assertEqual(golden.read(pathlib.Path(folder) / "g.json"), made)


class Comparing(unittest.TestCase):
    real = {"g": {"answers": {"q": "1", "v": ["1", "2"], "f(&a[*]) #2": "0"}}}

    def differences(self, **answers):
        return comparing.differences(self.real, {"g": {"answers": {"q": "1", "v": "2", "f(&a[*]) #2": "0", **answers}}})

    def test_equal(self):
        self.assertEqual(self.differences(), [])

    def test_other_answer(self):
        (found,) = self.differences(v="3")
        self.assertEqual((found.question, found.real, found.simulated), ("v", "1 or 2", "3"))

    def test_question_that_the_simulated_driver_did_not_answer(self):
        self.assertEqual(len(comparing.differences(self.real, {})), 3)

    def test_question_that_the_real_driver_was_not_asked(self):
        self.assertEqual(self.differences(new="1"), [])
        self.assertEqual(comparing.unasked(self.real, {"g": {"answers": {"q": "1", "new": "1"}}}), [("g", "new")])

    def test_reasons(self):
        found = self.differences(q="7")
        self.assertEqual(comparing.judge(found, []), (found, []))
        entry = {"group": "g", "question": "q", "reason": "why"}
        self.assertEqual(comparing.judge(found, [entry]), ([], []))
        self.assertEqual(comparing.judge([], [entry]), ([], [entry]))

    def test_patterns_take_brackets_and_stars_inside_as_they_are(self):
        (found,) = self.differences(**{"f(&a[*]) #2": "9"})
        fits = [comparing.fits({"group": "g", "question": question}, found) for question in ("f(&a[*]) #2", "f(*", "f(&a[x]) #2")]
        self.assertEqual(fits, [True, True, False])

    def test_table(self):
        found = self.differences(q="7", v="9")
        entry = {"group": "g", "question": "q", "reason": "why"}
        self.assertEqual(comparing.table(self.real, self.real, found, [entry]), [("g", 3, 1, 1, 1, 0)])


class Documented(unittest.TestCase):
    entry = {"group": "g", "question": "a || b", "reason": "why"}
    text = f"{documented.HEADING}\n\n| group | question | real | simulated | reason |\n| `g` | `a \\|\\| b` | 1 | 2 | why |\n\n## Next\n"

    def test_listed(self):
        self.assertEqual(documented.problems_of([self.entry], documented.rows_of(self.text)), [])

    def test_missing_on_either_side(self):
        self.assertEqual(len(documented.problems_of([self.entry], set())), 1)
        self.assertEqual(len(documented.problems_of([], documented.rows_of(self.text))), 1)
        self.assertEqual(len(documented.problems_of([{**self.entry, "reason": "other"}], documented.rows_of(self.text))), 2)


if __name__ == "__main__":
    unittest.main()
