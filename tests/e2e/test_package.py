"""What is installed and packed works where it is put: from a scratch root, without the build folder."""

import os
import shutil
import subprocess
import unittest

from harness import BUILD, CLEAN, Case

NEEDED = ["bin/lastref", "lib/liblastref.so", "lib/lastref/simdriver/libcuda.so.1", "lib/lastref/workloads/demo",
          "share/man/man1/lastref.1", "share/man/man1/lastref-record.1", "share/bash-completion/completions/lastref",
          "share/zsh/site-functions/_lastref", "share/fish/vendor_completions.d/lastref.fish", "share/lastref/schema/doctor.schema.json",
          "share/doc/lastref/docs/doctor.md", "share/doc/lastref/LICENSE"]


class Installed(Case):
    def works(self, prefix):
        for path in NEEDED:
            self.assertTrue(os.path.isfile(os.path.join(prefix, path)), path)
        lastref = os.path.join(prefix, "bin", "lastref")
        demo = self.run_program(lastref, "demo", "-o", self.trace, env={"LD_LIBRARY_PATH": ""})
        self.assertEqual(demo.returncode, CLEAN, demo.stderr)
        self.assertIn("payloads.cpp", demo.stdout, "the demo has lost its lines")
        report = self.run_program(lastref, "report", self.trace, "--format", "json", env={"LD_LIBRARY_PATH": ""})
        self.assertIn("user-object-leak", report.stdout, report.stderr)
        checks = self.run_program(lastref, "doctor", env={"LD_LIBRARY_PATH": ""}).stdout
        self.assertIn(f"ok    collector        {os.path.realpath(prefix)}/lib/liblastref.so, can be preloaded", checks)
        self.assertIn(f"ok    simulated driver {os.path.realpath(prefix)}/lib/lastref/simdriver", checks)

    def packed(self, generator, ending):
        done = subprocess.run(["cpack", "-G", generator, "-B", self.path("packages"), "--config", os.path.join(BUILD, "CPackConfig.cmake")],
                              cwd=BUILD, capture_output=True, text=True, timeout=150)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return sorted(name for name in os.listdir(self.path("packages")) if name.endswith(ending))

    def test_by_cmake(self):
        prefix = self.path("prefix")
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.works(prefix)

    @unittest.skipUnless(shutil.which("cpack"), "no cpack")
    def test_archive(self):
        (archive,) = self.packed("TGZ", ".tar.gz")
        root = self.path("unpacked here", folder=True)
        subprocess.run(["tar", "-xzf", os.path.join(self.path("packages"), archive), "-C", root, "--strip-components=1"], check=True)
        self.works(root if os.path.exists(os.path.join(root, "bin")) else os.path.join(root, "usr"))

    @unittest.skipUnless(shutil.which("cpack") and shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_debian_package(self):
        packages = self.packed("DEB", ".deb")
        (main,) = [name for name in packages if name.startswith("lastref_")]
        root = self.path("root", folder=True)
        path = os.path.join(self.path("packages"), main)
        subprocess.run(["dpkg-deb", "-x", path, root], check=True)
        self.works(os.path.join(root, "usr"))
        self.assertFalse(os.path.exists(os.path.join(root, "usr", "bin", "lastref-gui")), "it is a package of its own")
        if shutil.which("dpkg-shlibdeps"):
            fields = subprocess.run(["dpkg-deb", "-f", path, "Depends"], capture_output=True, text=True, check=True).stdout
            self.assertIn("libsqlite3-0", fields)
