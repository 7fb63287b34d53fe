# SPDX-License-Identifier: Apache-2.0
"""A cgroup's quota of cpu time decides how many ranks there are, and then nobody is bound.

Skipped (status 77) where this user can't make a cgroup with a quota.
"""
import os
import pathlib
import sys

from launcher_case import SKIPPED, LauncherCase, main

PERIOD_US = 100_000


def cpu_folders():
    """Where groups with a quota may be made: this process's own group, v1 or v2."""
    groups = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        groups.update({name: path for name in names.split(",")})
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
        name = "" if kind == "cgroup2" else "cpu"
        if kind in ("cgroup", "cgroup2") and name in groups and (not name or name in options):
            yield pathlib.Path(fields[4] + groups[name]), kind == "cgroup2"


def make_group(quota_us):
    for parent, is_v2 in cpu_folders():
        folder = parent / f"dlrt-test-{os.getpid()}"
        try:
            folder.mkdir()
            if is_v2:
                (folder / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
            else:
                (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (folder / "cpu.cfs_quota_us").write_text(str(quota_us))
            return folder
        except OSError:
            if folder.is_dir():
                folder.rmdir()
    return None


class Quota(LauncherCase):
    def in_group(self, quota_us, *words):
        group = make_group(quota_us)
        self.addCleanup(group.rmdir)
        return self.run_job(
            *words, preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))

    def test_it_decides_how_many_ranks_there_are_and_none_is_bound(self):
        usable = sorted(os.sched_getaffinity(0))
        if len(usable) < 2:
            self.skipTest("needs two cpus")
        quota_us = PERIOD_US * (len(usable) - 1) - PERIOD_US // 2
        script = "import os; print(*sorted(os.sched_getaffinity(0)))"
        job = self.in_group(quota_us, "-v", "python3", "-c", script)
        self.assertEqual(job.out.splitlines(), [" ".join(map(str, usable))] * (len(usable) - 1))
        self.assertIn(f"{len(usable) - 1} usable cpu", job.err)

    def test_parts_of_a_cpu_count_as_one(self):
        self.assertEqual(self.in_group(PERIOD_US // 10, "-v", "echo", "x").out, "x\n")


if __name__ == "__main__":
    probe = make_group(PERIOD_US)
    if probe is None:
        print("no cgroup with a quota can be made here")
        sys.exit(SKIPPED)
    probe.rmdir()
    main()
