"""`lastref replay`: a recorded program's payload callbacks through the reference queue."""

import json
import os
import sqlite3
import unittest

from harness import CLEAN, INCOMPLETE, SOURCE, UNREADABLE, USAGE, Case, workload
from test_formats import jsonschema, load, strict

REPLAY_SCHEMA = os.path.join(SOURCE, "schema", "replay.schema.json")


class Replay(Case):
    def replay(self, *options, status=CLEAN):
        done = self.lastref("replay", self.trace, "--format", "json", *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_demo(self):
        trace = self.recorded(workload("demo"))
        got = self.replay()
        self.assertEqual(got["trace"]["incomplete"], [])
        self.assertEqual(len(got["processes"]), 1)
        one = got["processes"][0]
        ran = trace.one("SELECT count(*) FROM event e JOIN api a ON a.id = e.api WHERE a.symbol = 'callback:user_object'")
        self.assertEqual(one["callbacks"], ran)
        observed, reference = one["observed"], one["reference"]
        self.assertEqual(observed["by_address"] + observed["by_nearness"] + observed["unknown"], ran)
        self.assertEqual(observed["source"], "frees")
        self.assertIsNone(observed["wakeups"], "no driver call shows a wake-up")
        # The program's own queue that is drained gives one clean-up; the one that nobody drains leaves its buffer.
        self.assertGreaterEqual(observed["delay_ns"]["count"], 1)
        self.assertEqual(observed["left"], 1)
        self.assertEqual(observed["left_bytes"], 1 << 20)
        # Every callback comes before main returns, so that the reference leaves nothing behind.
        self.assertTrue(reference["stopped"])
        self.assertEqual(reference["left"], 0)
        self.assertEqual(reference["delay_ns"]["count"], ran)
        self.assertLessEqual(reference["wakeups"], ran)

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_json_is_as_its_schema_says(self):
        schema = load(REPLAY_SCHEMA)
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        for program in ("demo", "user_objects", "pools"):
            self.record(workload(program), options=["--force"])
            done = self.lastref("replay", self.trace, "--format", "json", "--consumer", "any")
            got = json.loads(done.stdout)
            for each in (schema, strict(schema)):
                self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator(each).iter_errors(got)], [])
            if got["processes"]:
                got["processes"][0]["observed"]["wakeups"] = "some"
                self.assertFalse(validator(schema).is_valid(got))

    def test_text_says_where_it_comes_from(self):
        self.recorded(workload("demo"))
        done = self.lastref("replay", self.trace)
        self.assertEqual(done.returncode, CLEAN, done.stderr)
        for part in ("Observed: frees of memory", "Reference: all ", "wake-ups                              not observed",
                     "left at shutdown"):
            self.assertIn(part, done.stdout)
        self.assertEqual(done.stderr, "")

    def test_a_program_without_payloads(self):
        self.recorded(workload("pools"))
        self.assertEqual(self.replay()["processes"], [])

    def test_a_program_that_crashed_is_replayed_and_does_not_pass(self):
        self.record(workload("crash"))
        got = self.replay(status=INCOMPLETE)
        self.assertNotEqual(got["trace"]["incomplete"], [])

    def test_bad_input(self):
        foreign = self.path("foreign")
        with open(foreign, "w", encoding="utf-8") as file:
            file.write("no trace\n" * 100)
        for path, status in ((foreign, UNREADABLE), (self.path("nowhere"), USAGE)):
            done = self.lastref("replay", path)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assert_one_line(done.stderr, os.path.basename(path))

    def test_a_damaged_trace_is_refused(self):
        self.recorded(workload("demo"))
        base = sqlite3.connect(self.trace)
        base.execute("PRAGMA foreign_keys = OFF")
        base.execute("DELETE FROM thread")
        base.commit()
        base.close()
        done = self.lastref("replay", self.trace)
        self.assertEqual(done.returncode, UNREADABLE, done.stdout + done.stderr)
        self.assert_one_line(done.stderr, self.trace)
