# SPDX-License-Identifier: Apache-2.0
"""Which cpus and memory ranks get: affinity, jobs of one user beside each other, NUMA policy."""
import ctypes
import os
import pathlib
import platform
import signal
import struct
import subprocess

from launcher_case import (
    LauncherCase, command_of, main, processes_with, state_of, wait_until)

USABLE = sorted(os.sched_getaffinity(0))


def refuse_memory_policy():
    """The kernel answers EPERM to set_mempolicy, as in many containers."""
    number = {"x86_64": 238, "aarch64": 237}[platform.machine()]
    allow, refuse = 0x7FFF0000, 0x00050000 | 1
    code = b"".join(struct.pack("<HBBI", *step) for step in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, refuse), (0x06, 0, 0, allow)))
    steps = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(steps)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program, 0, 0) == 0


def mask_of(pid):
    """Empty when the process is gone."""
    try:
        return os.sched_getaffinity(pid)
    except ProcessLookupError:
        return set()


class Cpus(LauncherCase):
    def start_sleepers(self, *words):
        """A job of ranks that sleep; the job and its ranks' pids, in no order."""
        before = set(processes_with(self.mark))
        job = self.start(*words, "sleep", "300")
        count = int(words[words.index("-np") + 1])

        def ranks():
            found = [pid for pid in set(processes_with(self.mark)) - before
                     if state_of(pid) and command_of(pid) == b"sleep\x00300\x00"]
            return found if len(found) == count else None
        return job, wait_until(ranks, 20)

    def end(self, job):
        job.send_signal(signal.SIGTERM)
        self.finish(job)

    def masks(self, pids):
        return [os.sched_getaffinity(pid) for pid in pids]

    def wait_for_masks(self, pids, masks):
        wait_until(lambda: sorted(map(sorted, self.masks(pids))) == sorted(map(sorted, masks)), 20)

    def test_affinity_is_respected(self):
        job = self.run_job("-v", "sh", "-c", "taskset -cp $$",
                           preexec_fn=lambda: os.sched_setaffinity(0, USABLE[-1:]))
        self.assertEqual(job.out.count("\n"), 1)
        self.assertTrue(job.out.endswith(f": {USABLE[-1]}\n"), job.out)
        self.assertIn("1 usable cpu", job.err)

    def test_a_job_alone_has_all_cpus(self):
        job, ranks = self.start_sleepers("-np", 1)
        self.assertEqual(self.masks(ranks), [set(USABLE)])
        self.end(job)

    def test_two_jobs_of_one_rank_share_no_cpu_and_the_first_gets_its_cpus_back(self):
        if len(USABLE) < 2:
            self.skipTest("needs two cpus")
        first, first_ranks = self.start_sleepers("-np", 1)
        second, second_ranks = self.start_sleepers("-np", 1)
        masks = self.masks(first_ranks + second_ranks)
        self.assertFalse(masks[0] & masks[1], masks)
        self.assertEqual(masks[0] | masks[1], set(USABLE))
        self.end(second)
        self.wait_for_masks(first_ranks, [set(USABLE)])
        self.end(first)

    def test_two_jobs_started_at_once_share_no_cpu(self):
        if len(USABLE) < 2:
            self.skipTest("needs two cpus")
        jobs = [self.start("-np", 1, "sleep", "300") for _ in range(2)]

        def ranks():
            found = [pid for pid in processes_with(self.mark) if state_of(pid)
                     and command_of(pid) == b"sleep\x00300\x00"]
            return found if len(found) == 2 else None
        a, b = self.masks(wait_until(ranks, 20))
        self.assertFalse(a & b, (a, b))
        for job in jobs:
            self.end(job)

    def test_a_killed_job_holds_nothing(self):
        for victim in ("dlrun", "dlrund", "dlrt-keeper"):
            job, ranks = self.start_sleepers("-np", len(USABLE))
            os.kill(self.members()[victim][0], signal.SIGKILL)
            job.communicate(timeout=20)
            self.assert_nobody_left(within_s=10)
            job, ranks = self.start_sleepers("-np", 1)
            self.assertEqual(self.masks(ranks), [set(USABLE)])
            self.end(job)

    def test_where_no_cpu_is_free_ranks_are_not_bound(self):
        job, ranks = self.start_sleepers("-np", len(USABLE))
        other, other_ranks = self.start_sleepers("-np", len(USABLE))
        self.assertEqual(sorted(map(min, self.masks(ranks))), USABLE)
        self.assertEqual(self.masks(other_ranks), [set(USABLE)] * len(USABLE))
        self.end(job)
        self.end(other)

    def test_a_rank_that_chose_its_cpus_itself_gives_none(self):
        if len(USABLE) < 2:
            self.skipTest("needs two cpus")
        script = f"import os, time; os.sched_setaffinity(0, {{{USABLE[-1]}}}); time.sleep(300)"
        job = self.start("-np", 1, "python3", "-c", script)

        def pinned():
            return [pid for pid in processes_with(self.mark) if state_of(pid)
                    and b"sched_setaffinity" in command_of(pid)
                    and mask_of(pid) == {USABLE[-1]}
                    and b"dlrun" not in command_of(pid)]
        rank = wait_until(pinned, 20)
        other, ranks = self.start_sleepers("-np", 1)
        self.assertEqual(self.masks(ranks), [set(USABLE)])
        self.assertEqual(self.masks(rank), [{USABLE[-1]}])
        self.end(other)
        self.end(job)

    def test_a_job_within_a_rank_runs_on_that_rank_s_cpus(self):
        job = self.run_job("-np", len(USABLE), "--env", "DLRT_TEST_CPU_POOL=inner",
                           os.environ["DLRUN"], "-np", 1, "sh", "-c", "taskset -cp $$")
        self.assertEqual(job.returncode, 0, job.err)
        found = sorted(int(line.rsplit(":", 1)[1]) for line in job.out.splitlines())
        self.assertEqual(found, USABLE)

    def test_pictures_in_each_format(self):
        job = self.run_job("-np", 1, "--display", "topo,bind", "true")
        self.assertIn(f"{len(USABLE)} usable cpu", job.out)
        self.assertIn(": rank 0\n", job.out)
        for name, begin in (("json", "{"), ("svg", "<svg ")):
            job = self.run_job("-np", 1, "--display", f"topo,bind:{name}", "--dry-run", "false")
            self.assertEqual((job.returncode, job.out[:len(begin)]), (0, begin), job.err)

    def test_bindings_are_reported(self):
        job = self.run_job("-np", 1, "--report-bindings", "true")
        self.assertIn("rank 0 on ", job.err)
        self.assertIn(f"cpus {USABLE[0]}" if len(USABLE) > 1 else f"cpu {USABLE[0]}", job.err)
        job = self.run_job("-np", len(USABLE) + 1, "--report-bindings", "true")
        self.assertEqual(job.err.count("not bound ("), len(USABLE) + 1)

    def test_twenty_jobs_at_once_all_run(self):
        jobs = [self.start("-np", 1, "sh", "-c", f"exit {index}") for index in range(20)]
        self.assertEqual([self.finish(job) for job in jobs], list(range(20)))
        self.assert_nobody_left()

    def policy(self, *words):
        job = self.run_job("-np", 1, *words, "cat", "/proc/self/numa_maps")
        self.assertEqual(job.returncode, 0, job.err)
        return {line.split()[1].split(":")[0] for line in job.out.splitlines()}

    def test_memory_is_bound_as_asked(self):
        if not pathlib.Path("/proc/self/numa_maps").exists():
            self.skipTest("needs a kernel that shows numa_maps")
        self.assertIn("default", self.policy())
        self.assertIn("default", self.policy("--bind-memory", "first-touch"))
        self.assertIn("bind", self.policy("--bind-memory", "local"))
        self.assertIn("interleave", self.policy("--bind-memory", "interleave"))

    def test_a_kernel_that_does_not_bind_memory_is_an_error_only_when_asked(self):
        job = self.run_job("-np", 2, "--bind-memory", "local", "true",
                           preexec_fn=refuse_memory_policy)
        self.assertEqual(job.returncode, 125)
        self.assertIn("memory", job.err)
        self.assertIn("Operation not permitted", job.err)
        self.assertEqual(self.run_job("-np", 2, "true", preexec_fn=refuse_memory_policy).err, "")


if __name__ == "__main__":
    main()
