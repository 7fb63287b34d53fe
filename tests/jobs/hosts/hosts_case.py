# SPDX-License-Identifier: Apache-2.0
"""What the tests over several hosts share: a cluster of dlcluster's hosts, made once for a test
program; dlrun on the first of them; and a look at all processes on them from outside.

Hosts have a /tmp of their own: files that all shall see lie in the folder of the build."""
import atexit
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "launcher"))

from launcher_case import (  # noqa: E402  (its folder is an argument)
    DLRUN, SKIPPED, LauncherCase, name_of, state_of, wait_until)

DLCLUSTER = os.environ.get("DLCLUSTER", str(HERE.parents[2] / "tools" / "dlcluster"))
HOST_COUNT = 4
HEARTBEAT_MS = 250
OWN_NAMES = ("dlrun", "dlrund", "dlrt-keeper", "ssh")


def can_make_hosts():
    done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"],
                          capture_output=True, check=False)
    return os.geteuid() == 0 and done.returncode == 0


class Cluster:
    def __init__(self):
        self.name = f"hosts{os.getpid()}"
        self.call("up", "-n", str(HOST_COUNT), *os.environ.get("CLUSTER_OPTIONS", "").split())
        atexit.register(self.call, "down")
        self.folder = pathlib.Path("/run/dlcluster") / self.name
        state = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        self.addresses = {f"h{number}": f"10.77.0.{number}" for number, _ in state["hosts"]}
        self.first = {name: pid for name, pid in state["pids"].items() if name != "switch"}
        self.spaces = {os.stat(f"/proc/{pid}/ns/pid").st_ino: name
                       for name, pid in self.first.items()}

    def call(self, command, *words):
        done = subprocess.run([DLCLUSTER, command, "--name", self.name, *words],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    def words_on(self, host, words):
        """The command that runs them there, in this folder."""
        return ["nsenter", "-t", str(self.first[host]), "--mount", "--uts", "--ipc", "--net",
                "--pid", "/bin/sh", "-c", 'cd "$1"; shift; exec "$@"', "on", os.getcwd(), *words]

    def processes(self):
        """Living ones on the hosts: pid -> host."""
        found = {}
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                host = self.spaces.get(os.stat(folder / "ns" / "pid").st_ino)
            except OSError:
                continue
            if host and state_of(int(folder.name)):
                found[int(folder.name)] = host
        return found


CLUSTER = Cluster() if can_make_hosts() else None


class HostsCase(LauncherCase):
    def setUp(self):
        super().setUp()
        del self.environment["DLRT_TEST_CPU_POOL"]
        scratch = tempfile.TemporaryDirectory(dir=os.getcwd())
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def hostfile(self, *lines):
        path = self.folder / "hosts"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    def all_hosts(self, slots):
        return self.hostfile(*(f"h{i + 1} slots={slots}" for i in range(HOST_COUNT)))

    def script(self, text):
        path = self.folder / "tool"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def start(self, *words, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(CLUSTER.words_on("h1", [DLRUN, *map(str, words)]),
                                env=self.environment, **options)

    def on(self, host, script):
        return subprocess.run(CLUSTER.words_on(host, ["sh", "-c", script]), check=True,
                              capture_output=True, text=True, timeout=30).stdout

    def ours(self):
        """(host, name) -> pids of what jobs have there, ranks by the mark in their environment."""
        found = {}
        for pid, host in CLUSTER.processes().items():
            name = name_of(pid)
            if name not in OWN_NAMES:
                try:
                    environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                except OSError:
                    continue
                if self.mark.encode() not in environment:
                    continue
            found.setdefault((host, name), []).append(pid)
        return found

    def kill_leftovers(self):
        for pids in self.ours().values():
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass

    def assert_nobody_left(self, within_s=0.5):
        end = time.monotonic() + within_s
        while self.ours() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(self.ours(), {}, "processes are left")

    def own_lines(self, job):
        return [line for line in job.err.splitlines()
                if line.startswith("dlrun: ") and "warning" not in line]


def main():
    """As launcher_case.main; 77 where no hosts can be made."""
    if CLUSTER is None:
        print("no leave to make network, mount and process namespaces")
        sys.exit(SKIPPED)
    import launcher_case  # pylint: disable=import-outside-toplevel
    launcher_case.main()


__all__ = ["CLUSTER", "DLRUN", "HEARTBEAT_MS", "HOST_COUNT", "HostsCase", "main", "state_of",
           "wait_until"]
