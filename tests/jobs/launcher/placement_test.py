# SPDX-License-Identifier: Apache-2.0
"""Hosts, slots, mapping and binding, as ranks and callers see them on one host."""
import os
import pathlib
import socket
import tempfile

from launcher_case import LauncherCase, main

RANK_AND_CPUS = ("sh", "-c",
                 "echo $DLRT_RANK $(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status)")
TOO_FEW = "dlrun: {} ranks are wanted, but only {} slots are there; --oversubscribe starts them"


def two_cpus():
    """Of different cores where there are such."""
    usable = sorted(os.sched_getaffinity(0))
    first = usable[0]
    siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list")
    near = set()
    for part in siblings.read_text().split(","):
        ends = [int(end) for end in part.split("-")]
        near.update(range(ends[0], ends[-1] + 1))
    far = [cpu for cpu in usable if cpu not in near]
    return first, (far or usable[1:])[0]


class Placement(LauncherCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def hostfile(self, content):
        path = self.folder / "hosts"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_on(self, cpus, *words):
        return self.run_job(*words, preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def assert_ranks(self, count, *words):
        job = self.run_job(*words, "sh", "-c", "echo $DLRT_RANK/$DLRT_SIZE")
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(sorted(job.out.split()), sorted(f"{r}/{count}" for r in range(count)))
        return job

    def assert_refused(self, beginning, *words):
        """Status 125, the message, and nothing was started."""
        started = self.folder / "started"
        job = self.run_job(*words, "touch", started)
        self.assertEqual((job.returncode, job.out), (125, ""), job.err)
        self.assertTrue(job.err.startswith(beginning), (job.err, beginning))
        self.assertFalse(started.exists())
        return job

    def test_more_ranks_than_cpus_run_with_one_warning(self):
        cpus = set(two_cpus())
        job = self.run_on(cpus, "-np", 5, *RANK_AND_CPUS)
        self.assertEqual(job.returncode, 0)
        host = socket.gethostname()
        self.assertEqual(job.err, f"dlrun: warning: 5 ranks share 2 usable cpus on {host}\n")
        self.assertEqual(len({line.split()[1] for line in job.out.splitlines()}), 1, job.out)
        job = self.run_on(cpus, "-np", 5, "--oversubscribe", "true")
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assert_refused(f"dlrun: host {host}: 1025 ranks are too many",
                            "--host", "localhost:1025")

    def test_more_ranks_than_named_slots_are_refused_with_a_table(self):
        job = self.assert_refused(TOO_FEW.format(4, 2), "--host", "localhost:2", "-np", 4)
        rows = [line.split() for line in job.err.splitlines()[1:]]
        self.assertEqual(rows, [["host", "slots", "max_slots", "ranks"],
                                [socket.gethostname(), "2", "-", "4"]])
        self.assert_ranks(4, "--host", "localhost:2", "-np", 4, "--oversubscribe")
        self.assert_refused("dlrun: 3 ranks are wanted, but only 2 slots are within max_slots",
                            "--hostfile", self.hostfile("localhost slots=1 max_slots=2"),
                            "-np", 3, "--oversubscribe")

    def test_a_host_that_is_named_again_adds_slots(self):
        self.assert_ranks(3, "--host", "localhost,localhost,localhost")
        self.assert_ranks(3, "--host", f"localhost,127.0.0.1,{socket.gethostname()}")
        self.assert_refused(TOO_FEW.format(4, 3), "--host", "localhost,localhost:2", "-np", 4)
        job = self.run_job("-H", "localhost", "-np", 1, "sh", "-c", "echo a$DLRT_RANK", ":",
                           "-H", "localhost,localhost", "-np", 2, "sh", "-c", "echo b$DLRT_RANK")
        self.assertEqual(sorted(job.out.split()), ["a0", "b1", "b2"], job.err)

    def test_a_host_without_a_count_has_its_usable_cpus(self):
        usable = len(os.sched_getaffinity(0))
        for content in ("localhost", b"\xef\xbb\xbflocalhost\n", "[::1]\n", "::1"):
            job = self.run_job("--hostfile", self.hostfile(content), "echo", "x")
            self.assertEqual((job.returncode, job.err), (0, ""))
            self.assertEqual(job.out, "x\n" * usable)

    def test_hostfiles_of_all_kinds(self):
        for content, count in (
            ("\r\n# c\r\nlocalhost slots=2 # two\r\n", 2), ("root@localhost slots=2", 2),
            ("localhost\tslots = 2", 2), ("[::1] slots=2", 2), ("localhost:2\n", 2),
            ("localhost slots=1\nlocalhost slots=2\n", 3), ("localhost\n" * 3, 3),
            ("#" + "x" * 65536 + "\nlocalhost slots=2\n", 2),
        ):
            self.assert_ranks(count, "--hostfile", self.hostfile(content))
        self.environment["DLRT_HOSTFILE"] = str(self.hostfile("localhost slots=3"))
        self.assert_ranks(3)

    def test_hostfiles_that_are_wrong_start_nothing(self):
        for content, place in (
            ("localhost slotz=2\n", "1:11: key 'slotz' is unknown; did you mean slots?"),
            ("# only\n", "2:1: no host is named"), ("", "1:1: no host is named"),
            (b"localhost\n\xff\xfe\n", "2:1: '\\xff' can't stand in a host's name"),
        ):
            path = self.hostfile(content)
            job = self.assert_refused(f"dlrun: {path}:{place}", "--hostfile", path)
            self.assertEqual(job.err.count("\n"), 1)
        self.assert_refused("dlrun: cannot open hostfile '/no/such'", "--hostfile", "/no/such")
        self.assert_refused("dlrun: cannot read hostfile", "--hostfile", self.folder)
        self.assert_refused("dlrun: --host: ", "--host", "localhost:x")

    def test_a_host_that_cannot_be_reached_is_named(self):
        job = self.assert_refused("dlrun: cannot start the daemon on far.example: sh ended with "
                                  "status 2: it is far",
                                  "--launcher-cmd", "sh -c 'echo it is far >&2; exit 2' {host}",
                                  "--host", "localhost,far.example", "-np", 1)
        self.assertEqual(job.err.count("\n"), 1)

    def test_a_dry_run_asks_no_other_host(self):
        path = self.hostfile("w.1.example slots=2\nw.2.example slots=2\n")
        started = self.folder / "started"
        job = self.run_job("--hostfile", path, "--dry-run", "touch", started)
        self.assertEqual((job.returncode, job.err), (0, ""))
        for line in ("rank 1: host w.1.example, slot 1", "rank 2: host w.2.example, slot 0"):
            self.assertIn(line, job.out)
        self.assertEqual(job.out.count("not bound (its cpus are not known without asking it)"), 4)
        for form in ("", ":json"):
            job = self.run_job("--hostfile", path, "--dry-run", "--display",
                               "alloc,map,topo,bind" + form, "touch", started)
            self.assertEqual((job.returncode, job.err), (0, ""))
        job = self.run_job("--host", "w", "--dry-run", "touch", started)
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertIn("host w: the number of its cpus is not known", job.err)
        self.assertFalse(started.exists())

    def test_a_number_for_each_host(self):
        self.assert_ranks(3, "--ppn", 3, "--host", "localhost:3")
        self.assert_ranks(2, "--ppn", 3, "-np", 2)
        self.assert_ranks(2, "--map-by", "ppr:2:host")
        self.assert_refused("dlrun: -np 3: --ppn makes only 2 ranks on 1 host",
                            "--ppn", 2, "-np", 3)
        self.assert_refused("dlrun: 3 ranks are wanted, but only 2 slots", "--ppn", 3,
                            "--host", "localhost:2")

    def test_the_lines_of_a_file_in_order(self):
        path = self.hostfile("localhost\n127.0.0.1\nlocalhost\n")
        self.assert_ranks(3, "--map-by", "seq", "--hostfile", path)
        self.assert_refused("dlrun: -np 4: --map-by seq makes only 3 ranks", "--map-by", "seq",
                            "--hostfile", path, "-np", 4)
        self.assert_refused("dlrun: --map-by seq: needs the hosts", "--map-by", "seq")
        self.assert_refused("dlrun: --rank-by: does not go with --map-by seq", "--map-by", "seq",
                            "--rank-by", "host", "--hostfile", path)

    def cpus_of_ranks(self, *words):
        first, second = sorted(two_cpus())
        job = self.run_on({first, second}, *words, *RANK_AND_CPUS)
        self.assertEqual((job.returncode, job.err), (0, ""))
        names = {str(first): "a", str(second): "b", f"{first}-{second}": "ab",
                 f"{first},{second}": "ab"}
        lines = sorted(line.split() for line in job.out.splitlines())
        return [names[cpus] for _, cpus in lines]

    def test_ranks_are_bound_as_they_were_asked_to(self):
        for expected, words in (
            (["a", "b"], ("-np", 2)),
            (["ab"], ("-np", 1)),
            (["ab"] * 2, ("-np", 2, "--bind-to", "none")),
            (["a"], ("-np", 1, "--bind-to", "core")),
            (["a", "b"], ("-np", 2, "--bind-to", "hwthread")),
            (["ab"] * 2, ("-np", 2, "--bind-to", "package", "--map-by", "ppr:2:package")),
            (["a"], ("-np", 1, "--cpus-per-rank", 1)),
            (["ab"], ("-np", 1, "--map-by", "slot:pe=2")),
            (["ab"], ("--map-by", "slot:pe=2")),
            (["a", "b"], ("-np", 2, "--map-by", "core")),
            (["ab"] * 3, ("-np", 3, "--oversubscribe")),
            (["a", "a", "b"], ("-np", 3, "--bind-to", "hwthread", "--oversubscribe")),
        ):
            with self.subTest(words=words):
                self.assertEqual(self.cpus_of_ranks(*words), expected)

    def test_binding_that_is_asked_for_and_impossible_is_refused(self):
        one = {min(os.sched_getaffinity(0))}
        for words, beginning in (
            (("-np", 2, "--bind-to", "core"), "--bind-to core: 2 ranks would share 1 cpu of core "),
            (("-np", 2, "--bind-to", "share"), "--bind-to share: 2 ranks share 1 cpu of host "),
            (("-np", 2, "--cpus-per-rank", 1), "--cpus-per-rank 1: 2 ranks want 1 cpu each, but "),
            (("-np", 1, "--cpus-per-rank", 2), "--cpus-per-rank 2: 1 rank wants 2 cpus each"),
            (("-np", 1, "--cpus-per-rank", 1, "--bind-to", "numa"),
             "--cpus-per-rank: does not go with --bind-to numa"),
        ):
            with self.subTest(words=words):
                job = self.run_on(one, *words, "echo", "started")
                self.assertEqual((job.returncode, job.out), (125, ""))
                self.assertTrue(job.err.startswith("dlrun: " + beginning), job.err)


if __name__ == "__main__":
    main()
