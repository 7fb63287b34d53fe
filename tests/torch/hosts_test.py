# SPDX-License-Identifier: Apache-2.0
"""torch over several hosts, each of which takes its own name for 127.0.1.1 and has a bridge with
the same address as the others' (case H01)."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "training"), str(HERE.parent / "jobs" / "hosts")]

os.environ["CLUSTER_OPTIONS"] = "--own-name-loopback --decoy-bridge"

from hosts_case import CLUSTER, HostsCase, main  # noqa: E402
import seed_test  # noqa: E402
from seed_test import OPERATIONS, SeedCase  # noqa: E402
from training_case import PYTHON, TrainingCase, free_port  # noqa: E402

seed_test.IS_FULL = False
RANK = HERE / "hosts_rank.py"
START_LIMIT_S = 60


class JobsCase(HostsCase, TrainingCase):
    """run_ranks() with a list of hosts in place of a number."""
    def run_ranks(self, count, program, *words, **options):
        hosts = self.hostfile(*(f"h{i + 1} slots={n}" for i, n in enumerate(count)))
        limit_s = options.pop("limit_s", 120)
        self.environment.update(options, GLOO_SOCKET_IFNAME="eth0")
        return self.run_job("--hostfile", hosts, "-np", sum(count), PYTHON, program, *words,
                            limit_s=limit_s)


class Jobs(JobsCase):
    def test_all_operations(self):
        job = self.run_ranks((2, 2), HERE / "operations_rank.py")
        self.assertEqual(job.returncode, 0, job.out + job.err)

    def test_data_parallel_training(self):
        self.assert_checks_pass((1, 1), "ddp_rank.py", "convolutional_net", "transformer_block")
        self.assert_checks_pass((2, 2), "ddp_rank.py", "groups_of_half_the_ranks")


class Seed(JobsCase, SeedCase):
    def copy(self, backend):
        """Where all hosts see it, with an address at which all hosts meet."""
        tempfile.tempdir = str(self.folder)
        self.addCleanup(setattr, tempfile, "tempdir", None)
        folder = super().copy(backend)
        for path in pathlib.Path(folder).iterdir():
            text = path.read_text("utf-8")
            text = re.sub(r"127\.0\.0\.1|localhost", CLUSTER.addresses["h1"], text)
            path.write_text(text, "utf-8")
        return folder

    def test_all_operations(self):
        job = self.run_ranks(
            (2, 1), seed_test.training_case.HERE / "seed_rank.py", self.copy("dlrt"), "primitives",
            *(f"{name}:{free_port()}" for name in OPERATIONS), PYTHONUNBUFFERED="1")
        found = self.lines(job)
        for name in OPERATIONS:
            self.assert_right(found, name)

    def test_training_equals_gloos_under_equal_seeds(self):
        told = {}
        for name in ("dlrt", "gloo"):
            job = self.run_ranks((1, 1), seed_test.training_case.HERE / "seed_rank.py",
                                 self.copy(name), "training", 2, 17)
            told[name] = self.lines(job)
        self.assertEqual(len(told["dlrt"][0]), 4)
        self.assertEqual(told["dlrt"], told["gloo"])


class FromVariablesAlone(HostsCase, TrainingCase):
    def begin(self, host, rank, **variables):
        environment = dict(self.environment, RANK=str(rank), WORLD_SIZE="2",
                           MASTER_ADDR=CLUSTER.addresses["h1"], MASTER_PORT="29500", **variables)
        return subprocess.Popen(
            CLUSTER.words_on(host, [PYTHON, str(RANK)]), env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_two(self, **variables):
        """[(status, output, errors)]"""
        ranks = [self.begin(host, rank, **variables) for rank, host in enumerate(("h1", "h2"))]
        said = [rank.communicate(timeout=START_LIMIT_S) for rank in ranks]
        return [(rank.returncode, out, err) for rank, (out, err) in zip(ranks, said)]

    def test_the_link_that_leads_to_the_other_is_found(self):
        for variables in ({}, {"DLRT_TCP_INTERFACES": "eth0"}):
            results = self.run_two(**variables)
            for status, out, err in results:
                self.assertEqual((status, out), (0, "done\n"), err)

    def test_an_interface_that_is_not_there_is_told(self):
        results = self.run_two(DLRT_TCP_INTERFACES="ib7")
        for status, _, err in results:
            self.assertNotEqual(status, 0)
            self.assertIn("ib7", err)
            self.assertIn("eth0", err)

    def test_one_that_fails_to_start_is_told_by_the_other(self):
        begun = [self.begin("h1", 0), self.begin("h2", 1, DLRT_TCP_INTERFACES="ib7")]
        for rank in begun:
            _, err = rank.communicate(timeout=START_LIMIT_S)
            self.assertNotEqual(rank.returncode, 0)
            self.assertIn("ib7", err)

    def test_a_host_without_a_network(self):
        script = (f"ip link set lo up; for RANK in 0 1; do RANK=$RANK {PYTHON} {RANK} & done; "
                  "wait")
        done = subprocess.run(
            ["unshare", "--net", "sh", "-c", script], text=True, capture_output=True, check=False,
            timeout=START_LIMIT_S, env=dict(
                self.environment, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500"))
        self.assertEqual(done.stdout, "done\ndone\n", done.stderr)


if __name__ == "__main__":
    main()
