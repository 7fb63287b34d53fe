# SPDX-License-Identifier: Apache-2.0
"""A copy table from dltune to the ranks: where jobs find it, and what they make of a bad one.

usage: copy_table_test.py DLTUNE PROGRAM CASE (finalize.cpp: ranks that join and leave)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from copy_tables import measured_here, write_table
from launcher_case import LauncherCase

DLTUNE, PROGRAM, CASE = sys.argv[1:]


class CopyTableCase(LauncherCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment.update(HOME=self.folder + "/home", XDG_CONFIG_HOME=self.folder)
        self.user = pathlib.Path(self.folder, "dlrt/copy_table.json")
        self.user.parent.mkdir()

    def run_ranks(self, *words):
        return self.run_job("-np", 2, *words, PROGRAM, "at_exit")

    def tune(self, *words):
        return subprocess.run([DLTUNE, *words], capture_output=True, text=True, timeout=600,
                              check=False, env=self.environment, stdin=subprocess.DEVNULL)


class Found(CopyTableCase):
    def test_a_bad_named_table_fails_init_with_one_line(self):
        path = self.folder + "/named.json"
        other_host = {**measured_here(), "online_cpus": 100000}
        for write, reason in [
            (lambda: pathlib.Path(path).write_text("{\n"), "line 2: not JSON"),
            (lambda: write_table(path, other_host, 4096), "measured on a host with 100000 cpus"),
            (lambda: os.remove(path), "cannot be opened: No such file or directory"),
            (lambda: os.mkdir(path), "is a folder"),
        ]:
            write()
            with self.subTest(reason=reason):
                self.environment["DLRT_COPY_TABLE"] = path
                job = self.run_ranks()
                self.assertNotEqual(job.returncode, 0)
                lines = [line for line in job.err.splitlines() if line.startswith("dlrun: ")]
                self.assertEqual(len(lines), 1, job.err)
                self.assertIn(f"DLRT_COPY_TABLE={path}: {reason}", lines[0])
                self.assertIn("; run dltune again on this host or unset it", lines[0])

    def test_a_damaged_table_of_the_user_is_one_warning_and_the_job_runs(self):
        self.user.write_text('{"rows": [')
        job = self.run_ranks()
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(job.err.count("\n"), 1, job.err)
        self.assertIn(f"shm: copy table '{self.user}' is passed over: line 1: not JSON; "
                      "run dltune again or remove it\n", job.err)

    def test_the_folder_below_home_is_looked_at_without_being_named(self):
        del self.environment["XDG_CONFIG_HOME"]
        path = pathlib.Path(self.folder, "home/.config/dlrt/copy_table.json")
        path.parent.mkdir(parents=True)
        path.write_text("")
        job = self.run_ranks()
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(job.err.count("\n"), 1, job.err)
        self.assertIn(f"copy table '{path}' is passed over: the file is empty", job.err)

    def test_good_foreign_and_absent_tables_are_silent(self):
        write_table(self.user, measured_here(), 4096)
        job = self.run_ranks()
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.environment["DLRT_COPY_TABLE"] = str(self.user)
        job = self.run_ranks()
        self.assertEqual((job.returncode, job.err), (0, ""))
        del self.environment["DLRT_COPY_TABLE"]
        write_table(self.user, {**measured_here(), "cpu_model": "Another"}, 4096)
        job = self.run_ranks()
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.user.unlink()
        job = self.run_ranks()
        self.assertEqual((job.returncode, job.err), (0, ""))

    def test_dltune_refuses_before_it_measures(self):
        for words, status, text in [
            (["--sav"], 2, "dltune: '--sav' is no option; did you mean --save?\n"),
            (["a", "b"], 2, "dltune: 'b' is one word too many; valid is one FILE or --save\n"),
            (["--save", "a"], 2,
             "dltune: 'a': --save knows its place; valid is FILE or --save\n"),
            ([""], 2, "dltune: '' names no file; valid is one FILE, --save or nothing\n"),
            ([self.folder], 1, f"dltune: '{self.folder}' is a folder\n"),
            (["/dev/null"], 1, "dltune: '/dev/null' is not a plain file\n"),
        ]:
            with self.subTest(words=words):
                refused = self.tune(*words)
                self.assertEqual((refused.returncode, refused.stdout, refused.stderr),
                                 (status, "", text))
        self.environment["XDG_CONFIG_HOME"] = "relative"
        refused = self.tune("--save")
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(refused.stderr.count("\n"), 1, refused.stderr)
        self.assertIn("--save: XDG_CONFIG_HOME, or HOME where that is unset, must be an absolute "
                      "path", refused.stderr)


class Measured(CopyTableCase):
    def test_what_dltune_saves_is_used(self):
        self.user.parent.rmdir()
        done = self.tune("--save")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(f"written to {self.user}\n"), done.stdout)
        self.assertEqual(os.listdir(self.user.parent), ["copy_table.json"])
        self.assertEqual(json.loads(self.user.read_text())["measured_on"], measured_here())
        self.environment["DLRT_COPY_TABLE"] = str(self.user)
        job = self.run_ranks()
        self.assertEqual((job.returncode, job.err), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], CASE], verbosity=2)
