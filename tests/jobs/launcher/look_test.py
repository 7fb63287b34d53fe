# SPDX-License-Identifier: Apache-2.0
"""What dlrun shows of a job: report, progress, the verbose lines, help."""
import json
import os
import pty
import signal
import subprocess
import tempfile

from launcher_case import DLRUN, LauncherCase, main, wait_until


class Look(LauncherCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = folder.name + "/report.json"

    def report(self):
        with open(self.file) as file:
            return json.load(file)

    def test_a_report_says_who_ran_where_and_how_it_ended(self):
        job = self.run_job("-np", "2", "--report", self.file, "sh", "-c",
                           "echo $$; exit $((DLRT_RANK * 7))")
        self.assertEqual(job.returncode, 7, job.err)
        report = self.report()
        self.assertEqual(report["exit_status"], 7)
        self.assertEqual(report["command"][:2], ["-np", "2"])
        self.assertEqual(report["cause"]["rank"], 1)
        self.assertIn(report["cause"]["text"], job.err)
        ranks = report["ranks"]
        self.assertIn(str(ranks[1]["pid"]), job.out.split())
        self.assertEqual(ranks[1]["exit_status"], 7)
        self.assertGreater(ranks[1]["max_rss_kib"], 100)
        self.assertLessEqual(report["started_at"], ranks[1]["started_at"])
        self.assertLessEqual(ranks[1]["ended_at"], report["ended_at"])
        self.assertLessEqual(ranks[1]["seconds"], report["seconds"])

    def test_times_and_memory_are_those_of_the_rank(self):
        work = "x = bytearray(64 << 20); x[::4096] = x[::4096]\nimport time\n" \
               "while time.process_time() < 0.2: pass"
        job = self.run_job("-np", "1", "--report", self.file, "python3", "-Sc", work,
                           limit_s=90)
        self.assertEqual(job.returncode, 0, job.err)
        rank = self.report()["ranks"][0]
        self.assertGreater(rank["max_rss_kib"], 64 << 10)
        self.assertLess(rank["max_rss_kib"], 640 << 10)
        self.assertGreaterEqual(rank["user_seconds"] + rank["system_seconds"], 0.15)
        self.assertLess(rank["user_seconds"], 30)

    def test_a_report_is_written_of_whatever_ends_a_job(self):
        ends = [
            (["-np", "1", "--timeout", "0.2", "sleep", "300"], 124, "timed out"),
            (["-np", "1", "sh", "-c", "kill -9 $$"], 137, "rank killed"),
            (["-np", "1", "no-such-program"], 127, "launcher failed"),
            (["-np", "1", "--stdin", "/no/such/file", "cat"], 125, "launcher failed"),
            (["-np", "1", "--show", "5", "echo"], 125, "launcher failed"),
        ]
        for words, status, kind in ends:
            with self.subTest(words=words):
                job = self.run_job("--report", self.file, *words)
                self.assertEqual(job.returncode, status, job.err)
                report = self.report()
                self.assertEqual((report["exit_status"], report["cause"]["kind"]), (status, kind))
        job = self.start("-np", "1", "--report", self.file, "sh", "-c", "echo up; exec sleep 300")
        job.stdout.readline()
        job.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(job), 130)
        self.assertEqual(self.report()["cause"]["kind"], "signalled")
        self.assertEqual(self.report()["ranks"][0]["signal"], 2)

    def test_a_report_that_cannot_be_written_is_said_before_anything_starts(self):
        for path in ("/no/such/folder/r", "/"):
            job = self.run_job("-np", "1", "--report", path, "echo", "started")
            self.assertEqual((job.returncode, job.out), (125, ""))
            self.assertTrue(job.err.startswith(f"dlrun: --report: cannot write '{path}': "))
        job = self.run_job("-np", "1", "--report", "/dev/full", "echo", "started")
        self.assertEqual(job.returncode, 125)
        self.assertEqual(job.err,
                         "dlrun: --report: cannot write '/dev/full': No space left on device\n")

    def test_progress_on_a_terminal_is_one_line_that_gives_way(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        fifo = self.file + ".fifo"
        os.mkfifo(fifo)
        job = self.start("-np", "1", "--progress", "sh", "-c", f"read x < {fifo}; echo bye >&2",
                         stderr=theirs)
        os.close(theirs)
        seen = b""

        def has_shown():
            nonlocal seen
            seen += os.read(ours, 4096)
            return b"1 of 1 rank started, 0 ended, " in seen

        wait_until(has_shown)
        with open(fifo, "w") as writer:
            writer.write("go\n")
        self.assertEqual(job.wait(timeout=30), 0)
        job.stdout.close()
        try:
            while more := os.read(ours, 4096):
                seen += more
        except OSError:
            pass
        self.assertRegex(seen, rb"\r\x1b\[Kdlrun: 1 of 1 rank started, 0 ended, \d+ s\r\x1b\[K")
        self.assertIn(b"\r\x1b[Kbye\r\n", seen)

    def test_progress_elsewhere_is_a_line_each_five_seconds(self):
        fifo = self.file + ".fifo"
        os.mkfifo(fifo)
        job = self.start("-np", "1", "--progress", "sh", "-c", f"read x < {fifo}")
        self.assertRegex(job.stderr.readline(),
                         rb"^dlrun: 1 of 1 rank started, 0 ended, \d+ s\n$")
        with open(fifo, "w") as writer:
            writer.write("go\n")
        self.assertEqual(self.finish(job), 0)

    def test_verbose_says_what_is_started_where(self):
        job = self.run_job("-v", "-np", "2", "echo", "a b", ":", "-np", "1", "echo", "c")
        lines = job.err.splitlines()
        self.assertRegex(lines[-3], r"^dlrun: job \w+: 3 ranks on ")
        self.assertRegex(lines[-2], r"^dlrun: ranks 0-1 on \S+: echo 'a b'$")
        self.assertRegex(lines[-1], r"^dlrun: rank 2 on \S+: echo c$")

    def test_a_dry_run_says_what_would_be_started_and_starts_nothing(self):
        job = self.run_job("--dry-run", "-np", "2", "--wrap", "1:time -p", "touch", self.file,
                           ":", "-np", "1", "echo", "a b")
        self.assertEqual(job.returncode, 0, job.err)
        lines = job.out.splitlines()
        self.assertRegex(lines[0], rf"^rank 0 on \S+: touch {self.file}$")
        self.assertRegex(lines[1], rf"^rank 1 on \S+: time -p touch {self.file}$")
        self.assertRegex(lines[2], r"^rank 2 on \S+: echo 'a b'$")
        self.assertFalse(os.path.exists(self.file))
        refused = self.run_job("--dry-run", "-np", "3", "--host", "localhost:2", "touch", self.file)
        self.assertEqual((refused.returncode, refused.out), (125, ""))
        self.assertFalse(os.path.exists(self.file))

    def test_map_and_allocation_are_shown_as_text_and_as_json(self):
        words = ["--dry-run", "-np", "2", "--host", "localhost:3"]
        job = self.run_job(*words, "--display", "map,alloc", "prog")
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertIn(": 3 slots, 2 ranks\n", job.out)
        self.assertRegex(job.out, r"(?m)^rank 1: host \S+, slot 1.*: prog$")
        job = self.run_job(*words, "--display", "map,alloc:json", "prog")
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertIsInstance(json.loads(job.out), dict)

    def test_help_goes_to_standard_output(self):
        for words, begin in ((["--help"], "usage: dlrun "), (["--help-env"], "Settings"),
                             (["--version"], "dlrun ")):
            job = self.run_job(*words)
            self.assertEqual((job.returncode, job.err), (0, ""))
            self.assertTrue(job.out.startswith(begin))

    def test_a_newline_in_a_word_does_not_make_two_lines(self):
        job = subprocess.run([DLRUN, "-np", "a\nb", "true"], capture_output=True, timeout=30)
        self.assertEqual(job.stderr, b"dlrun: -np: 'a\\x0ab' is not valid; valid is a number of "
                                     b"ranks, 1 to 1024\n")


if __name__ == "__main__":
    main()
