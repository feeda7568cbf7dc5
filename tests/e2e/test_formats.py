"""Reports in every format, held against the format's own rules: JSON schemas, XML parsers, browsers' parsers."""

import copy
import html.parser
import json
import os
import subprocess
import unittest
import xml.etree.ElementTree

from harness import BUILD, CLEAN, FINDINGS, SOURCE, Case, workload

try:
    import jsonschema
except ImportError:
    jsonschema = None

REPORT_SCHEMA = os.path.join(SOURCE, "schema", "report.schema.json")
DIFF_SCHEMA = os.path.join(SOURCE, "schema", "diff.schema.json")
SARIF_SCHEMA = os.path.join(SOURCE, "build", "sarif-schema", "sarif-2.1.0.json")
FORMATS = ("text", "json", "sarif", "junit", "markdown", "html")
VOID = {"meta", "br", "hr", "img", "input", "link"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def strict(schema):
    """The schema with every object closed: what a report has beyond it has not been documented."""
    schema = copy.deepcopy(schema)

    def close(node):
        if isinstance(node, dict):
            if "properties" in node:
                node.setdefault("additionalProperties", False)
            for child in node.values():
                close(child)
        elif isinstance(node, list):
            for child in node:
                close(child)

    close(schema)
    return schema


class Balance(html.parser.HTMLParser):
    """Fails on tags that a browser would have to mend."""

    def __init__(self):
        super().__init__()
        self.open, self.problems, self.ids, self.links = [], [], set(), []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids |= {named["id"]} if "id" in named else set()
        self.links += [named["href"]] if "href" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")


class Formats(Case):
    def setUp(self):
        super().setUp()
        self.recorded(workload("demo"))

    def rendered(self, form, *options):
        done = self.lastref("report", self.trace, "--format", form, *options)
        self.assertEqual(done.returncode, FINDINGS, done.stderr)
        return done.stdout

    def files(self):
        """A baseline without the first finding and with one that is gone, and suppressions of which one is stale."""
        report = json.loads(self.rendered("json"))
        gone = dict(report["findings"].pop(0), fingerprint="feedfacefeedface")
        report["findings"].append(gone)
        baseline, suppressions = self.path("base.json"), self.path("s.txt")
        with open(baseline, "w", encoding="utf-8") as file:
            json.dump(report, file)
        with open(suppressions, "w", encoding="utf-8") as file:
            file.write("# of this test\nallocation-leak:fault_device_memory_leaked\nfailed-free:^never_there$\n")
        return ["--baseline", baseline, "--suppressions", suppressions]

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_json_is_as_its_schema_says(self):
        schema = load(REPORT_SCHEMA)
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        for options in ([], self.files(), ["--max-leak-bytes", "1", "--max-outstanding", "1"], ["--symbols", "off"]):
            report = json.loads(self.rendered("json", *options))
            for each in (schema, strict(schema)):
                self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator(each).iter_errors(report)], [])

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_formats_of_a_trace_with_ranges(self):
        self.assertEqual(self.record(workload("googletest"), options=["--force"]).returncode, 0)
        report = json.loads(self.rendered("json"))
        self.assertTrue(report["by_range"])
        schema = strict(load(REPORT_SCHEMA))
        validator = jsonschema.validators.validator_for(schema)(schema)
        self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator.iter_errors(report)], [])
        page = Balance()
        page.feed(self.rendered("html"))
        self.assertEqual((page.problems, page.open), ([], []))
        self.assertIn("of 8 ranges left something", self.rendered("markdown"))

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_schema_of_json_can_say_no(self):
        schema = load(REPORT_SCHEMA)
        validator = jsonschema.validators.validator_for(schema)(schema)
        report = json.loads(self.rendered("json"))
        report["findings"][0]["severity"] = "bad"
        self.assertFalse(validator.is_valid(report))

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_json_of_a_difference_is_as_its_schema_says(self):
        """A side with a finding less, one more and one that grew: something in every list."""
        self.files()
        schema = load(DIFF_SCHEMA)
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        base = load(self.path("base.json"))
        base["findings"][1]["count"] += 1
        with open(self.path("other.json"), "w", encoding="utf-8") as file:
            json.dump(base, file)
        for sides in ((self.trace, self.path("other.json")), (self.path("other.json"), self.trace), (self.trace, self.trace)):
            done = self.lastref("diff", *sides, "--format", "json")
            self.assertIn(done.returncode, (CLEAN, FINDINGS), done.stderr)
            difference = json.loads(done.stdout)
            self.assertEqual([bool(difference[key]) for key in ("came", "went", "changed")], [sides[0] != sides[1]] * 3)
            for each in (schema, strict(schema)):
                self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator(each).iter_errors(difference)], [])
        difference["rules"]["failed-free"]["bytes"].append(0)
        self.assertFalse(validator(schema).is_valid(difference))
        del difference["rules"]
        self.assertFalse(validator(schema).is_valid(difference))

    @unittest.skipUnless(jsonschema and os.path.exists(SARIF_SCHEMA), "needs python3-jsonschema and the schema that ./dev test fetches")
    def test_sarif_is_as_its_schema_says(self):
        validator = jsonschema.Draft4Validator(load(SARIF_SCHEMA))
        for options in ([], self.files(), ["--symbols", "off"]):
            report = json.loads(self.rendered("sarif", *options))
            self.assertEqual([f"{list(e.path)}: {e.message}" for e in validator.iter_errors(report)], [])
        report["runs"][0]["results"][0]["level"] = "bad"
        self.assertFalse(validator.is_valid(report))

    def test_sarif_has_what_code_scanning_asks_for(self):
        """Beyond the schema: each result has a place in a file, a rule that is there, and a fingerprint of its own."""
        (run,) = json.loads(self.rendered("sarif"))["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        prints = [result["partialFingerprints"]["lastref/v1"] for result in run["results"]]
        self.assertEqual(len(set(prints)), len(prints))
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            place = result["locations"][0]["physicalLocation"]
            self.assertGreater(place["region"]["startLine"], 0)
            self.assertTrue(result["stacks"][0]["frames"])

    def test_sarif_names_sources_relative_to_where_it_is_run(self):
        done = subprocess.run([os.path.join(BUILD, "bin", "lastref"), "report", self.trace, "--format", "sarif"], cwd=SOURCE,
                              env=self.environment, capture_output=True, text=True, check=False)
        (run,) = json.loads(done.stdout)["runs"]
        uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]]
        self.assertIn("tests/workloads/demo/device_memory.cpp", uris)

    def test_junit_is_xml(self):
        root = xml.etree.ElementTree.fromstring(self.rendered("junit", *self.files()))
        (suite,) = root.findall("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        failed = {case.get("name") for case in cases if case.find("failure") is not None}
        self.assertEqual(int(suite.get("failures")), len(failed))
        (new,) = [f["rule"] for f in json.loads(self.rendered("json", *self.files()))["findings"] if f["baseline"] == "new"]
        self.assertEqual(failed, {new}, "only what is new fails")

    def test_html_is_whole(self):
        text = self.rendered("html", *self.files())
        page = Balance()
        page.feed(text)
        page.close()
        self.assertEqual((page.problems, page.open), ([], []))
        self.assertTrue(all(link[1:] in page.ids for link in page.links), page.links)

    def test_every_format_into_a_file(self):
        options = [word for form in FORMATS for word in ("--save", f"{form}={self.path('out.' + form)}")]
        self.rendered("text", *options)
        for form in FORMATS:
            with open(self.path("out." + form), encoding="utf-8") as file:
                self.assertEqual(file.read(), self.rendered(form), form)
