#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs that test the library on one host, over several: they know nothing of hosts, and
what they assert is the same.

usage: programs_test.py JOB [\\; JOB]...   where JOB is SLOTS[+SLOTS]... PROGRAM [ARGUMENT]...
"""
import sys
import unittest

from hosts_case import HostsCase, main

TIME_LIMIT_S = 120


def split_jobs(words):
    jobs = [[]]
    for word in words:
        if word == ";":
            jobs.append([])
        else:
            jobs[-1].append(word)
    return [(list(map(int, job[0].split("+"))), job[1:]) for job in jobs]


JOBS = split_jobs(sys.argv[1:])
del sys.argv[1:]


class ProgramsTest(HostsCase):
    def test_programs_do_over_hosts_what_they_do_on_one(self):
        for slots, words in JOBS:
            name = words[0].rsplit("/", 1)[-1]
            with self.subTest(program=name, slots=slots):
                hosts = self.hostfile(*(f"h{i + 1} slots={n}" for i, n in enumerate(slots)))
                job = self.run_job("--hostfile", hosts, "-np", sum(slots), *words,
                                   limit_s=TIME_LIMIT_S)
                self.assertEqual(job.returncode, 0, f"{job.out[-2000:]}\n{job.err[-4000:]}")


if __name__ == "__main__":
    main()
