# SPDX-License-Identifier: Apache-2.0
"""The commands and files of the system that clusters are made with; each failure says what was
tried."""
import os
import shutil
import signal
import subprocess
import time


class ClusterError(Exception):
    """What went wrong, in one line for the user."""


NEEDED_PROGRAMS = {
    "ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux",
    "ssh": "openssh-client", "ssh-keygen": "openssh-client", "sshd": "openssh-server",
}


def find_program(name):
    """sshd must be started by its whole path."""
    folders = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    found = shutil.which(name, path=folders)
    if found is None:
        raise ClusterError(f"{name} is not installed (Debian package {NEEDED_PROGRAMS[name]})")
    return found


def check_system():
    if os.geteuid() != 0:
        raise ClusterError("making hosts needs root: network namespaces, mounts and sshd")
    for name in NEEDED_PROGRAMS:
        find_program(name)


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60,
                          check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise ClusterError(f"{' '.join(command)}: {said[-1] if said else done.returncode}")
    return done.stdout


def ip_batch(lines, pid=None):
    """Commands of ip, one a line; in the network of that process."""
    inside = ["nsenter", "-t", str(pid), "-n"] if pid else []
    run([*inside, find_program("ip"), "-batch", "-"], "\n".join(lines) + "\n")


# ---- Processes ----

def start_ticks(pid):
    """When the process began: with its number it tells it from one that has the number later. None
    when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def only_child(pid, deadline_s):
    """Of a process that is about to have one."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                children = file.read().split()
        except FileNotFoundError as gone:
            raise ClusterError("a host's first process has ended; see its log") from gone
        if children:
            return int(children[0])
        time.sleep(0.002)
    raise ClusterError(f"a host did not begin within {deadline_s} s")


def kill_all(processes, deadline_s=10):
    """Pairs of number and start; returns when none of them is left."""
    left = [(pid, ticks) for pid, ticks in processes if start_ticks(pid) == ticks]
    for pid, _ in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    end = time.monotonic() + deadline_s
    while any(start_ticks(pid) == ticks for pid, ticks in left):
        if time.monotonic() > end:
            raise ClusterError(f"processes {[pid for pid, _ in left]} don't end after SIGKILL")
        time.sleep(0.005)


# ---- Cpus ----

class CpuSets:
    """Groups of the control group cpuset (version 1 or 2), where this process may make them."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.parent = self._parent()

    @staticmethod
    def _parent():
        first = "/sys/fs/cgroup/cpuset"
        if os.access(os.path.join(first, "cpuset.cpus"), os.R_OK) and os.access(first, os.W_OK):
            return first
        second = "/sys/fs/cgroup"
        try:
            with open(os.path.join(second, "cgroup.subtree_control"), encoding="ascii") as file:
                has_cpuset = "cpuset" in file.read().split()
        except OSError:
            return None
        return second if has_cpuset and os.access(second, os.W_OK) else None

    def _folder(self, name):
        return os.path.join(self.parent, f"dlcluster-{self.cluster}-{name}")

    def put(self, name, cpus, pid):
        """False: there are no such groups here; the caller binds the process itself."""
        if self.parent is None:
            return False
        folder = self._folder(name)
        try:
            os.makedirs(folder, exist_ok=True)
            _write(os.path.join(folder, "cpuset.cpus"), ",".join(map(str, cpus)))
            # Version 1 wants the memory nodes said too.
            memory = os.path.join(self.parent, "cpuset.mems")
            if self.parent.endswith("cpuset"):
                with open(memory, encoding="ascii") as file:
                    _write(os.path.join(folder, "cpuset.mems"), file.read().strip())
            _write(os.path.join(folder, "cgroup.procs"), str(pid))
        except OSError:
            self.remove([name])
            return False
        return True

    def remove(self, names):
        """Those that are there; their processes have ended."""
        if self.parent is None:
            return
        for name in names:
            end = time.monotonic() + 5
            while os.path.isdir(self._folder(name)):
                try:
                    os.rmdir(self._folder(name))
                except OSError as busy:
                    if time.monotonic() > end:
                        raise ClusterError(f"{self._folder(name)}: {busy.strerror}") from busy
                    time.sleep(0.01)


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
