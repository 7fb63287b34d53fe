# SPDX-License-Identifier: Apache-2.0
"""Output: lines stay whole, none is lost, a slow or absent reader is no accident."""
import os
import subprocess
import time

from launcher_case import RESIDENT_KIB_MAX, LauncherCase, main, wait_until

WRITER = """
import os, sys
rank = os.environ['DLRT_RANK']
lines = ''.join('%s %06d %s\\n' % (rank, i, 'x' * (i % 60)) for i in range(int(sys.argv[1])))
data = lines.encode()
while data:
    data = data[os.write(1, data[:5003]):]
"""


class Output(LauncherCase):
    def test_lines_of_four_ranks_are_whole_and_complete_and_in_order(self):
        count = 50000
        job = self.run_job("-np", 4, "python3", "-c", WRITER, count)
        self.assertEqual(job.returncode, 0, job.err)
        nexts = {str(rank): 0 for rank in range(4)}
        for line in job.out.splitlines():
            rank, number, *rest = line.split(" ")
            self.assertEqual(int(number), nexts[rank], line)
            self.assertEqual("".join(rest), "x" * (int(number) % 60), line)
            nexts[rank] += 1
        self.assertEqual(set(nexts.values()), {count})

    def test_both_streams_into_one_pipe_keep_their_lines(self):
        script = "for i in $(seq 2000); do echo out$i; echo err$i >&2; done"
        job = self.run_job("-np", 3, "sh", "-c", script, stderr=subprocess.STDOUT)
        lines = [line for line in job.out.splitlines() if "warning" not in line]
        self.assertEqual(len(lines), 12000)
        for kind in ("out", "err"):
            self.assertEqual(sorted(l for l in lines if l.startswith(kind)),
                             sorted(3 * [f"{kind}{i}" for i in range(1, 2001)]))

    def test_streams_stay_apart(self):
        job = self.run_job("-np", 2, "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((job.out, job.err), ("out\nout\n", "err\nerr\n"))

    def test_a_partial_last_line_is_completed(self):
        self.assertEqual(self.run_job("-np", 2, "printf", "abc").out, "abc\nabc\n")

    def test_tags_begin_every_line(self):
        job = self.run_job("-np", 2, "--tag", "sh", "-c", "echo a; printf b; echo c >&2")
        self.assertEqual(sorted(job.out.splitlines()), ["[0] a", "[0] b", "[1] a", "[1] b"])
        self.assertEqual(sorted(job.err.splitlines()), ["[0] c", "[1] c"])

    def test_very_long_lines_are_not_mixed(self):
        script = "import sys; sys.stdout.write(sys.argv[1] * 1000000 + '\\n')"
        job = self.run_job("-np", 1, "python3", "-c", script, "a", ":",
                           "-np", 1, "python3", "-c", script, "b")
        self.assertEqual(sorted(job.out.split("\n")), ["", "a" * 1000000, "b" * 1000000])

    def test_the_last_words_of_a_failing_rank_come_through(self):
        script = "import os; os.write(1, b'w' * 60000 + b'\\n'); os._exit(3)"
        for _ in range(10):
            job = self.run_job("-np", 1, "python3", "-c", script)
            self.assertEqual((job.returncode, len(job.out)), (3, 60001))

    def test_a_reader_that_closes_ends_the_job_quietly(self):
        job = self.start("-np", 2, "yes")
        job.stdout.readline()
        job.stdout.close()
        begin = time.monotonic()
        self.assertEqual(job.wait(timeout=10), 141)
        self.assertLess(time.monotonic() - begin, 3)
        self.assertNotIn("dlrun: rank", job.stderr.read().decode())
        job.stderr.close()
        self.assert_nobody_left()

    def test_a_reader_that_stalls_blocks_the_ranks_and_costs_no_memory(self):
        job = self.start("-np", 4, "yes")
        head, daemon, _ = self.roles("yes", 4)
        # Full from end to end once all ranks wait in write().
        wait_until(lambda: self.all_blocked(self.members()["yes"]))
        for pid in (head, daemon):
            self.assertLess(self.resident_kib(pid), RESIDENT_KIB_MAX)
        job.stdout.close()
        self.assertEqual(job.wait(timeout=10), 141)
        job.stderr.close()
        self.assert_nobody_left()

    @staticmethod
    def resident_kib(pid):
        with open(f"/proc/{pid}/status") as status:
            return next(int(l.split()[1]) for l in status if l.startswith("VmRSS"))

    @staticmethod
    def all_blocked(pids):
        def written(pid):
            with open(f"/proc/{pid}/io") as io:
                return next(l for l in io if l.startswith("wchar"))
        before = [written(pid) for pid in pids]
        time.sleep(0.3)
        return before == [written(pid) for pid in pids]

    def test_a_grandchild_that_holds_the_output_does_not_hold_the_job(self):
        job = self.run_job("-np", 2, "sh", "-c", "sleep 60 & exit 0")
        self.assertEqual(job.returncode, 0)
        self.assertLess(job.seconds, 3)
        self.assertIn("(sleep)", job.err)
        self.assertIn("held the output open", job.err)

    def test_output_goes_to_files_and_closed_descriptors(self):
        with open("/dev/full", "w") as full:
            job = self.run_job("-np", 1, "echo", "x", stdout=full)
            self.assertEqual(job.returncode, 125)
            self.assertIn("No space left", job.err)
        read_end, write_end = os.pipe()
        os.close(read_end)
        job = self.run_job("-np", 1, "echo", "x", stdout=write_end)
        os.close(write_end)
        self.assertEqual(job.returncode, 141)


if __name__ == "__main__":
    main()
