# SPDX-License-Identifier: Apache-2.0
"""Case E05: no data is lost where the kernel forbids single copies, and at most one line says so.

usage: single_copy_test.py PROGRAM filters|namespaces; "namespaces" is skipped (status 77) where
this user may not make any.
"""
import subprocess
import sys
import unittest

from launcher_case import LauncherCase

PROGRAM, PART = sys.argv[1:3]
SKIPPED = 77


class SingleCopy(LauncherCase):
    def expect_right_data(self, *words):
        job = self.run_job("-np", 2, *words)
        self.assertEqual(job.returncode, 0, job.err)
        self.assertLessEqual(len(job.err.splitlines()), 1, job.err)
        self.assertEqual(job.out, "")


class Filters(SingleCopy):
    def test_allowed(self):
        self.expect_right_data(PROGRAM)

    def test_filtered_from_the_start(self):
        for error in ("eperm", "enosys"):
            with self.subTest(error):
                self.expect_right_data(PROGRAM, error, "early")

    def test_filtered_later(self):
        for error in ("eperm", "enosys"):
            with self.subTest(error):
                self.expect_right_data(PROGRAM, error, "late")

    def test_not_dumpable(self):
        for when in ("early", "late"):
            with self.subTest(when):
                self.expect_right_data(PROGRAM, "nondumpable", when)


class Namespaces(SingleCopy):
    def test_each_rank_in_a_user_namespace(self):
        self.expect_right_data("unshare", "-Ur", PROGRAM)

    def test_not_dumpable_later_in_a_user_namespace(self):
        self.expect_right_data("unshare", "-Ur", PROGRAM, "nondumpable", "late")

    def test_each_rank_in_a_pid_namespace(self):
        self.expect_right_data("unshare", "-Urpf", PROGRAM)


def has_namespaces():
    try:
        return subprocess.run(["unshare", "-Urpf", "true"], capture_output=True, timeout=10
                              ).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    if PART == "namespaces" and not has_namespaces():
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], defaultTest=PART.capitalize(), verbosity=2)
