"""`lastref doctor` says what recording finds, whatever it finds, and never starts the program that it is asked about."""

import json
import os
import resource
import shutil
import subprocess
import unittest

import elf
from harness import BUILD, CLEAN, FINDINGS, LASTREF, PRELOAD, SIMDRIVER, SOURCE, USAGE, Case, workload
from test_formats import jsonschema, load, strict

SCHEMA = os.path.join(SOURCE, "schema", "doctor.schema.json")
COMPILER = shutil.which("cc") or shutil.which("gcc")


class DoctorCase(Case):
    def doctor(self, *arguments, **options):
        """Checks by name, of the machine and of the program, and the exit status."""
        done = self.lastref("doctor", "--format", "json", *arguments, **options)
        self.assertIn(done.returncode, (CLEAN, FINDINGS), done.stdout + done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["verdict"], "well" if done.returncode == CLEAN else "not-recorded")
        checks = {check["name"]: check for check in document["machine"]}
        self.assertEqual(len(checks), len(document["machine"]), "a name stands twice")
        return checks, {check["name"]: check for check in document.get("program", [])}, done.returncode

    def lost(self, checks):
        return sorted(name for name, check in checks.items() if check["verdict"] == "not-recorded")

    def compile(self, source, name, *options):
        if not COMPILER:
            self.skipTest("no compiler")
        path = self.path(name)
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(source)
        done = subprocess.run([COMPILER, path + ".c", "-o", path, *options], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(done.stderr)
        return path


class Machine(DoctorCase):
    def test_all_is_well(self):
        checks, program, status = self.doctor()
        self.assertEqual((self.lost(checks), program, status), ([], {}, CLEAN))
        driver = checks["driver"]["facts"]
        self.assertEqual((driver["path"], driver["simulated"], driver["devices"]), (SIMDRIVER + "/libcuda.so.1", "yes", "2"))
        self.assertIn("LD_LIBRARY_PATH", checks["driver"]["found"])
        self.assertEqual(checks["collector"]["facts"]["path"], PRELOAD)
        self.assertEqual(checks["glibc"]["facts"]["version"], os.confstr("CS_GNU_LIBC_VERSION").split()[1])
        self.assertEqual(checks["Python"]["facts"]["path"], shutil.which("python3"))

    def test_nothing_is_left_behind(self):
        self.doctor()
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assertEqual([f for f in os.listdir(self.folder) if f not in ("tmp", "run", "home")], [])

    def test_text(self):
        done = self.lastref("doctor")
        self.assertEqual((done.returncode, done.stderr), (CLEAN, ""))
        for name in ("driver", "collector", "CUPTI", "spool folder", "Python"):
            self.assertRegex(done.stdout, rf"(?m)^  (ok  |note)  {name} ")
        self.assertIn("All is well", done.stdout)

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_json_is_as_its_schema_says(self):
        schema = load(SCHEMA)
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        got = json.loads(self.lastref("doctor", "--format", "json", "--", "sh").stdout)
        for each in (schema, strict(schema)):
            self.assertEqual([e.message for e in validator(each).iter_errors(got)], [])
        del got["machine"][0]["verdict"]
        self.assertFalse(validator(schema).is_valid(got))

    def test_no_driver(self):
        checks, _, status = self.doctor(env={"LD_LIBRARY_PATH": self.path("empty", folder=True)})
        if "path" in checks["driver"]["facts"]:
            self.skipTest("there is a driver here")
        self.assertEqual((self.lost(checks), status), (["driver"], FINDINGS))
        self.assertIn("--sim", checks["driver"]["advice"])

    def driver_of(self, source):
        folder = self.path("drivers", folder=True)
        shutil.move(self.compile(source, "driver.so", "-shared", "-fPIC"), os.path.join(folder, "libcuda.so.1"))
        return self.doctor(env={"LD_LIBRARY_PATH": folder})

    def test_driver_that_crashes(self):
        for where, source in (("when it is loaded", "__attribute__((constructor)) void f(void) { *(volatile int*)8 = 1; }"),
                              ("in cuInit", "int cuDeviceGetCount(int* n) { *n = 1; return 0; }\n"
                                            "int cuInit(unsigned f) { __builtin_trap(); }")):
            with self.subTest(where=where):
                checks, _, status = self.driver_of(source)
                self.assertEqual((self.lost(checks), status), (["driver"], FINDINGS))
                self.assertIn("signal", checks["driver"]["found"])

    def test_driver_that_is_none(self):
        folder = self.path("drivers", folder=True)
        elf.write(os.path.join(folder, "libcuda.so.1"), b"not a library\n")
        checks, _, status = self.doctor(env={"LD_LIBRARY_PATH": folder})
        if "path" in checks["driver"]["facts"]:
            self.skipTest("there is a driver here")
        self.assertEqual((self.lost(checks), status), (["driver"], FINDINGS))

    def test_no_device(self):
        checks, _, status = self.driver_of("int cuDriverGetVersion(int* v) { *v = 12040; return 0; }\n"
                                           "int cuDeviceGetCount(int* n) { return 3; }\nint cuInit(unsigned f) { return 100; }")
        self.assertEqual((checks["driver"]["verdict"], status), ("note", CLEAN))
        self.assertEqual(checks["driver"]["facts"]["cuda"], "12.4")
        self.assertIn("no device", checks["driver"]["found"])

    def test_collector_that_is_not_there(self):
        checks, _, status = self.doctor(env={"LASTREF_LIBRARY": self.path("gone.so")})
        self.assertEqual((self.lost(checks), status), (["collector"], FINDINGS))

    def test_collector_that_cannot_be_preloaded(self):
        library = elf.write(self.path("broken.so"), b"\x7fELF" + bytes(range(200)))
        checks, _, status = self.doctor(env={"LASTREF_LIBRARY": library})
        self.assertEqual((self.lost(checks), status), (["collector"], FINDINGS))
        self.assertIn("preload", checks["collector"]["advice"])

    def test_other_tools(self):
        checks, _, status = self.doctor(env={"CUDA_INJECTION64_PATH": "/a/tool.so", "NVTX_INJECTION64_PATH": "/b/tool.so"})
        facts = checks["injection"]["facts"]
        self.assertEqual((facts["CUDA_INJECTION64_PATH"], facts["NVTX_INJECTION64_PATH"]), ("/a/tool.so", "/b/tool.so"))
        self.assertEqual((checks["injection"]["verdict"], status), ("note", CLEAN))

    def test_settings(self):
        checks, _, status = self.doctor(env={"LASTREF_STACK": "all"})
        self.assertEqual((checks["settings"]["verdict"], status), ("note", CLEAN))
        self.assertIn("LASTREF_STACK", checks["settings"]["advice"])
        checks, _, status = self.doctor(env={"LASTREF_DISABLE": "1"})
        self.assertEqual((self.lost(checks), status), (["settings"], FINDINGS))

    def test_limits(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (50 << 20, 50 << 20))

        checks, _, _ = self.doctor(preexec_fn=small_files)
        self.assertEqual((checks["limits"]["verdict"], checks["limits"]["facts"]["file_size_bytes"]), ("note", str(50 << 20)))

    def test_recording_with_the_collector_preloaded_leaves_no_trace(self):
        # Who preloads it into everything has it in this program too.
        checks, _, status = self.doctor(env={"LD_PRELOAD": PRELOAD})
        self.assertEqual((self.lost(checks), status), ([], CLEAN))
        self.assertEqual([f for f in os.listdir(self.folder) if f.endswith(".lastref")], [])

    def test_wrong_use(self):
        for arguments in (("--format", "xml"), ("stray",), ("--", "./is-not-there"), ("--", "is-not-in-path")):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.lastref("doctor", *arguments).returncode, USAGE)


class Program(DoctorCase):
    def examined(self, program, lost=(), **options):
        _, checks, status = self.doctor("--", program, **options)
        self.assertEqual((self.lost(checks), status), (sorted(lost), FINDINGS if lost else CLEAN), checks)
        return checks

    def test_healthy(self):
        checks = self.examined(workload("way_plt"))
        self.assertIn("linked with the driver", checks["CUDA"]["found"])
        self.assertEqual(checks["program"]["facts"]["runs"], workload("way_plt"))
        self.assertIn("not linked", self.examined(workload("no_driver"))["CUDA"]["found"])

    def test_is_never_run(self):
        script = elf.write(self.path("script"), b"#!/bin/sh\ntouch ran\n")
        self.examined(script)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_static(self):
        self.examined(elf.static_64(self.path("static")), ["program"])

    def test_32_bit(self):
        self.examined(elf.dynamic_32(self.path("old")), ["program"])

    def test_damaged(self):
        for length in (4, 20, 64, 200, 4000):
            with self.subTest(length=length), open(workload("way_plt"), "rb") as file:
                _, checks, _ = self.doctor("--", elf.write(self.path("cut"), file.read(length)))
                self.assertIn("program", checks)

    def test_script_counts_as_its_interpreter(self):
        static = elf.static_64(self.path("interpreter"))
        self.examined(elf.write(self.path("script"), f"#!{static}\n".encode()), ["program"])
        by_env = elf.write(self.path("by_env"), b"#!/usr/bin/env -S interpreter -x\n")
        checks = self.examined(by_env, ["program"], env={"PATH": self.folder + ":" + os.environ["PATH"]})
        self.assertEqual(checks["program"]["facts"]["runs"], static)

    def test_changes_user(self):
        program = self.path("setuid")
        shutil.copy(workload("no_driver"), program)
        if os.geteuid() == 0:
            os.chown(program, 1, 1)
        os.chmod(program, 0o6755)
        if os.geteuid() != 0 or not os.stat(program).st_mode & 0o4000:
            self.skipTest("only root can give a file to another user")
        self.examined(program, ["rights"])

    @unittest.skipUnless(shutil.which("setcap"), "needs setcap")
    def test_file_capabilities(self):
        program = self.path("capable")
        shutil.copy(workload("no_driver"), program)
        if subprocess.run(["setcap", "cap_net_raw+ep", program], capture_output=True).returncode:
            self.skipTest("capabilities cannot be given here")
        self.examined(program, ["rights"])

    def test_sanitizer(self):
        program = self.compile("int main(void) { return 0; }", "sanitized", "-fsanitize=address")
        checks = self.examined(program)
        self.assertEqual((checks["sanitizer"]["verdict"], checks["sanitizer"]["facts"]["name"]), ("note", "AddressSanitizer"))
        self.assertEqual(self.examined(workload("way_plt"))["sanitizer"]["verdict"], "well")

    def test_what_is_said_of_the_address_sanitizer_is_true(self):
        program = self.compile("int main(void) { return 0; }", "sanitized", "-fsanitize=address")
        self.assertEqual(self.record(program).returncode, 0)
        self.assertNotEqual(self.run_program(program, env={"LD_PRELOAD": PRELOAD}).returncode, 0)
        told = self.examined(program)["sanitizer"]["advice"]
        name, value = told[told.index("ASAN_OPTIONS"):].rstrip(".").split("=", 1)
        self.assertEqual(self.run_program(program, env={"LD_PRELOAD": PRELOAD, name: value}).returncode, 0)

    def test_other_namespaces(self):
        source = '#define _GNU_SOURCE\n#include <dlfcn.h>\nint main(void) { return dlmopen(LM_ID_NEWLM, "libm.so.6", 2) != 0; }'
        program = self.compile(source, "namespaces")
        self.assertEqual(self.examined(program)["namespaces"]["verdict"], "note")

    def test_launcher(self):
        shutil.copy(workload("no_driver"), self.path("docker"))
        self.examined(self.path("docker"), ["launcher"])


class Version(Case):
    def test_first_line_is_short(self):
        lines = self.lastref("--version").stdout.splitlines()
        self.assertRegex(lines[0], r"^lastref \d+\.\d+\.\d+$")
        parts = dict(line.strip().split(":", 1) for line in lines[1:])
        for name in ("collector", "CUPTI", "NVTX", "Python stacks", "desktop program", "trace format", "SQLite", "compiler",
                     "build type"):
            self.assertTrue(parts[name].strip(), name)

    def test_says_what_was_built(self):
        text = self.lastref("--version").stdout
        for name, file in (("CUPTI", "lib/liblastref_cupti.so"), ("desktop program", "bin/lastref-gui")):
            there = os.path.exists(os.path.join(BUILD, file))
            self.assertRegex(text, rf"(?m)^  {name}: +" + ("(?!no$)" if there else "no$"), LASTREF)
