# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of two nodes on this machine: dlrun in an allocation, whose daemons srun starts, and
programs that srun starts itself."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "launcher"))

from launcher_case import DLRUN, SKIPPED, LauncherCase, main  # noqa: E402

PROGRAM = os.environ["API_COLLECTIVES"]
MPI_PROGRAM = os.environ["MPI_COLLECTIVES"]
SERVICES = ("munged", "slurmctld", "slurmd")
CONFIGURATION = """
ClusterName=dlrt
SlurmctldHost={host}
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port_1} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port_2} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Cluster:
    """Services in the foreground, so that they can be ended."""
    def __init__(self):
        # Slurm's sockets have short names.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlslurm", dir="/tmp"))
        self.processes = []
        for name in ("state", "spool-n1", "spool-n2", "munge"):
            (self.folder / name).mkdir(mode=0o700)
        self.folder.chmod(0o755)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        port, port_1, port_2 = free_ports(3)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, host=socket.gethostname().split(".")[0], port=port, port_1=port_1,
            port_2=port_2), encoding="utf-8")
        self.begin("munged", "--foreground", "--force", f"--key-file={key}",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge/pid",
                   f"--log-file={self.folder}/munge/log", f"--seed-file={self.folder}/munge/seed")
        self.begin("slurmctld", "-D")
        self.begin("slurmd", "-D", "-N", "n1")
        self.begin("slurmd", "-D", "-N", "n2")

    def begin(self, *words):
        self.processes.append(subprocess.Popen(
            words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))

    def is_idle(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment, text=True,
                              capture_output=True, timeout=20, check=False)
        return done.stdout.split() == ["idle", "idle"]

    def wait(self):
        end = time.monotonic() + 60
        while not self.is_idle():
            if time.monotonic() > end:
                logs = "".join(path.read_text(errors="replace")[-2000:]
                               for path in self.folder.glob("*.log"))
                raise AssertionError(f"Slurm's nodes are not idle: {logs}")
            time.sleep(0.2)

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Slurm(LauncherCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.end)
        cls.cluster.wait()

    def setUp(self):
        super().setUp()
        self.environment["SLURM_CONF"] = self.cluster.environment["SLURM_CONF"]
        # Slurm's own programs would print where they are told to.
        for name in [name for name in self.environment if name.startswith("SLURM_")]:
            if name != "SLURM_CONF":
                del self.environment[name]

    def call(self, *words, limit_s=60):
        self.cluster.wait()
        done = subprocess.run(list(map(str, words)), env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s,
                              check=False)
        self.assert_nobody_left(within_s=5)
        return done

    def test_an_allocation_says_where_ranks_go(self):
        done = self.call("salloc", "-Q", "-N2", "-n4", DLRUN, "sh", "-c",
                         "echo $DLRT_RANK $DLRT_NODE_RANK $DLRT_NUM_NODES $SLURMD_NODENAME")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in sorted(done.stdout.splitlines())]
        self.assertEqual([line[:3] for line in lines],
                         [["0", "0", "2"], ["1", "0", "2"], ["2", "1", "2"], ["3", "1", "2"]])

    def test_messages_and_failures_go_over_nodes(self):
        done = self.call("salloc", "-Q", "-N2", "-n4", DLRUN, PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.call("salloc", "-Q", "-N2", "-n4", DLRUN, "sh", "-c",
                         "[ $DLRT_RANK = 3 ] && exit 7; exec sleep 100")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("dlrun: rank 3 (n2, pid ", done.stderr)
        done = self.call("salloc", "-Q", "-N2", "-n4", DLRUN, "-np", 5, "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("5 ranks are wanted, but only 4 slots", done.stderr)

    def test_a_batch_job(self):
        script = self.cluster.folder / "job.sh"
        script.write_text(f"#!/bin/sh\n{DLRUN} {PROGRAM}\necho status $?\n", encoding="utf-8")
        out = self.cluster.folder / "job.out"
        done = self.call("sbatch", "-Q", "-W", "-N2", "-n4", "-o", out, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(out.read_text(encoding="utf-8"), "status 0\n")

    def test_srun_alone(self):
        # A setting of dlrun that ranks don't know.
        del self.environment["DLRT_TEST_CPU_POOL"]
        for program, count in ((PROGRAM, 4), (MPI_PROGRAM, 3)):
            with self.subTest(program=program):
                done = self.call("srun", "-N2", f"-n{count}", "--mpi=pmi2", program)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    paths = ":".join((os.environ["PATH"], "/usr/sbin"))
    os.environ["PATH"] = paths
    if os.geteuid() != 0 or any(shutil.which(name, path=paths) is None for name in SERVICES):
        print("needs slurm-wlm and munge, and to be root")
        sys.exit(SKIPPED)
    main()
