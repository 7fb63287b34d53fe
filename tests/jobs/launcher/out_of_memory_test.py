# SPDX-License-Identifier: Apache-2.0
"""A rank that the kernel kills for want of memory is recognised, in a cgroup of 64 MiB.

Exits with 77 where no memory cgroup can be made."""
import os
import sys

from launcher_case import IS_SANITIZED, SKIPPED, LauncherCase, main

LIMIT_MIB = 256 if IS_SANITIZED else 64
# The shell holds all of it in a variable.
GREEDY = "test $DLRT_RANK = 1 && x=$(yes | head -c 400000000); sleep 60"


def own_memory_group():
    """The folder of this process's memory cgroup and the name of its limit."""
    with open("/proc/self/cgroup", encoding="ascii") as groups:
        for line in groups:
            _, names, group = line.strip().split(":", 2)
            if "memory" in names.split(","):
                return f"/sys/fs/cgroup/memory{group}", "memory.limit_in_bytes"
            if names == "" and os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
                return f"/sys/fs/cgroup{group}", "memory.max"
    return None, None


def make_group():
    parent, limit = own_memory_group()
    if parent is None:
        return None
    folder = os.path.join(parent, f"dlrt-test-{os.getpid()}")
    try:
        os.mkdir(folder)
    except OSError:
        return None
    try:
        with open(os.path.join(folder, limit), "w", encoding="ascii") as file:
            file.write(str(LIMIT_MIB << 20))
        return folder
    except OSError:
        os.rmdir(folder)
        return None


class OutOfMemory(LauncherCase):
    def enter(self):
        with open(os.path.join(GROUP, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def test_the_line_says_so_with_the_limit(self):
        job = self.run_job("-np", 2, "sh", "-c", GREEDY, preexec_fn=self.enter)
        self.assertEqual(job.returncode, 137, job.err)
        self.assertRegex(job.err, r"rank 1 .* was killed by signal 9 .*, likely because memory ran "
                                  fr"out \(limit {LIMIT_MIB} MiB of cgroup ")

    def test_another_kill_is_not_taken_for_it(self):
        job = self.run_job("-np", 2, "sh", "-c", "test $DLRT_RANK = 1 && kill -9 $$; sleep 60",
                           preexec_fn=self.enter)
        self.assertEqual(job.returncode, 137, job.err)
        self.assertNotIn("memory", job.err)


if __name__ == "__main__":
    GROUP = make_group()
    if GROUP is None:
        print("no memory cgroup can be made here")
        sys.exit(SKIPPED)
    try:
        main()
    finally:
        os.rmdir(GROUP)
