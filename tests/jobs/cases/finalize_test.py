# SPDX-License-Identifier: Apache-2.0
"""Case E06: finalize neither loses messages nor hangs. usage: finalize_test.py PROGRAM"""
import sys
import unittest

from launcher_case import LauncherCase

PROGRAM = sys.argv[1]


class Finalize(LauncherCase):
    def expect(self, part, size=2, status=0, limit_s=5.0):
        job = self.run_job("-np", size, PROGRAM, part)
        self.assertEqual(job.returncode, status, job.err)
        self.assertLess(job.seconds, limit_s)
        return job

    def assert_leaver_blamed(self, job):
        self.assertRegex(
            job.err,
            r"dlrun: rank 0 \(.*, pid \d+\) exited with 0 after \d+\.\d s without finalizing"
            r" dlrt, but rank \d waited for it",
        )
        self.assertNotIn("note:", job.err)
        self.assertNotIn("wrong:", job.err)

    def test_many_small_messages_for_a_late_receiver(self):
        self.expect("many_small", limit_s=3)

    def test_large_message_whose_request_was_freed(self):
        self.expect("one_large_freed", limit_s=3)

    def test_others_sleep_until_the_last_one_comes(self):
        self.expect("one_late", size=4, limit_s=8)

    def test_message_that_nobody_receives(self):
        self.assertEqual(self.expect("unmatched").err, "")
        self.environment["DLRT_CHECK"] = "1"
        self.assertIn("1 message arrived that nobody received", self.expect("unmatched").err)

    def test_from_an_exit_handler_and_twice(self):
        self.assertEqual(self.expect("at_exit").err, "")

    def test_never(self):
        job = self.expect("never", size=4)
        self.assertIn("without finalizing", job.err)

    def test_never_while_another_waits_for_a_message(self):
        for ending in ("and_fails", "and_goes_on", "and_aborts"):
            with self.subTest(ending=ending):
                job = self.expect("never_but_awaited_" + ending, size=2, status=1)
                self.assert_leaver_blamed(job)

    def test_never_while_another_waits_for_anybody(self):
        self.assert_leaver_blamed(self.expect("never_but_any_awaited", size=2, status=1))
        # Of several one is blamed, the others are noted.
        job = self.expect("never_but_any_awaited", size=3, status=1)
        self.assertIn("without finalizing dlrt, but rank 2 waited for it", job.err)
        self.assertIn("note: rank 1 ended without finalizing dlrt", job.err)

    def test_never_while_another_polls_for_a_message(self):
        job = self.expect("never_but_polled_for", size=2, status=1)
        self.assert_leaver_blamed(job)

    def test_never_while_another_waits_in_finalize(self):
        for size in (2, 4):
            job = self.expect("never_but_awaited_in_finalize", size=size, status=1)
            self.assert_leaver_blamed(job)

    def test_threads_inside_a_receive(self):
        self.expect("threads_inside")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
