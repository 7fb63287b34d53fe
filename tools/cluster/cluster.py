# SPDX-License-Identifier: Apache-2.0
"""Clusters that are up: made, entered, cut and taken down.

A host is a process tree in namespaces of its own (network, host name, mounts, processes, System V
memory), whose first process is a shell that runs sshd. A switch is one more network namespace with
a bridge for each network. What a cluster is made of stands in its folder; nothing else remembers
it, and nothing outside of the folder, the namespaces and the groups of cpus is written."""
import concurrent.futures
import json
import os
import shutil
import subprocess
import time

import plan
from system import (ClusterError, CpuSets, find_program, ip_batch, kill_all, only_child, run,
                    start_ticks)

ROOT = "/run/dlcluster"
START_LIMIT_S = 30

# Arguments: folder of the cluster, which is kept over the empty /run, name of the host, sshd, home.
FIRST_PROCESS = """
set -e
folder=$1 name=$2 sshd=$3
mount -t proc proc /proc
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir /tmp/kept
mount --bind "$folder" /tmp/kept
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p "$folder" /run/sshd /run/lock
mount --move /tmp/kept "$folder"
rmdir /tmp/kept
mkdir "$4"
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount --bind "$folder/$name.hosts" /etc/hosts
mount --bind "$folder/ssh_config" /etc/ssh/ssh_config
echo "$name" > /proc/sys/kernel/hostname
cd /
"$sshd" -D -f "$folder/sshd_config" -E "$folder/$name.log" &
wait $!
"""


class Cluster:
    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(ROOT, name)
        self.options = None
        self.hosts = []
        self.pids = {}       # Of each host's first process, and of "switch".
        self.keepers = {}    # Their parents outside.
        self.starts = {}     # Of all of them: number -> start.

    # ---- Memory ----

    @classmethod
    def load(cls, name):
        self = cls(name)
        try:
            with open(os.path.join(self.folder, "state.json"), encoding="utf-8") as file:
                state = json.load(file)
        except FileNotFoundError:
            names = cluster_names()
            there = f"there are: {', '.join(names)}" if names else "there are none"
            raise ClusterError(f"there is no cluster '{name}'; {there}") from None
        self.options = plan.Options(**state["options"])
        self.hosts = [plan.Host(number, tuple(cpus)) for number, cpus in state["hosts"]]
        self.pids, self.keepers = state["pids"], state["keepers"]
        self.starts = {int(pid): ticks for pid, ticks in state["starts"].items()}
        return self

    def save(self):
        state = {
            "options": self.options.as_json(),
            "hosts": [[host.number, host.cpus] for host in self.hosts],
            "pids": self.pids, "keepers": self.keepers, "starts": self.starts,
        }
        path = os.path.join(self.folder, "state.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.replace(path + ".new", path)

    def host(self, name):
        for host in self.hosts:
            if host.name == name:
                return host
        raise ClusterError(f"there is no host '{name}'; there are h1 to h{len(self.hosts)}")

    def is_running(self, host):
        pid = self.pids.get(host.name)
        return pid is not None and start_ticks(pid) == self.starts.get(pid)

    # ---- Making ----

    @classmethod
    def make(cls, name, options):
        self = cls(name)
        os.makedirs(ROOT, exist_ok=True)
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            raise ClusterError(
                f"cluster '{name}' is there already; 'dlcluster down --name {name}' ends it"
            ) from None
        self.options = options
        self.hosts = plan.make_hosts(options, sorted(os.sched_getaffinity(0)))
        try:
            self.save()
            self._write_files()
            self._start_switch()
            self._start_hosts()
            self._connect()
            self._await_sshd()
        except BaseException as error:
            reason = self._reason_of(error)
            self.remove()
            if reason is error:
                raise
            raise reason from error
        return self

    def _reason_of(self, error):
        """What can't be done to a host that has ended fails because it has."""
        for host in self.hosts:
            if host.name in self.pids and not self.is_running(host):
                return ClusterError(f"{host.name} has ended: {self._last_words(host.name)}")
        return error

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def _write_files(self):
        for key in ("host_key", "client_key"):
            run([find_program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "dlcluster",
                 "-f", os.path.join(self.folder, key)])
        with open(os.path.join(self.folder, "host_key.pub"), encoding="ascii") as file:
            host_key = file.read()
        self._write("known_hosts", plan.known_hosts(self.options, self.hosts, host_key))
        self._write("sshd_config", plan.sshd_config(self.folder))
        self._write("ssh_config", plan.ssh_config(self.folder))
        self._write("hosts", plan.hostfile(self.hosts))
        for host in self.hosts:
            self._write(f"{host.name}.hosts", plan.hosts_file(self.options, self.hosts, host))

    def _spawn(self, label, command):
        """A process that outlives this one."""
        with open(os.path.join(self.folder, f"{label}.log"), "ab") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     start_new_session=True, cwd="/")
        ticks = start_ticks(child.pid)
        if ticks is None:
            raise ClusterError(f"{label} has ended at once: {self._last_words(label)}")
        self.starts[child.pid] = ticks
        self.keepers[label] = child.pid
        self.save()
        return child.pid

    def _last_words(self, label):
        try:
            path = os.path.join(self.folder, f"{label}.log")
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().strip().splitlines()
        except FileNotFoundError:
            lines = []
        return lines[-1] if lines else "it said nothing"

    def _start_switch(self):
        self.pids["switch"] = self._spawn(
            "switch", [find_program("unshare"), "-n", find_program("sleep"), "infinity"])
        own = os.stat("/proc/self/ns/net").st_ino
        self._await("the switch", "switch",
                    lambda: os.stat(f"/proc/{self.pids['switch']}/ns/net").st_ino != own)
        lines = ["link set lo up"]
        for bridge in self._bridges():
            lines += [f"link add {bridge} type bridge", f"link set {bridge} up"]
        ip_batch(lines, self.pids["switch"])

    def _await(self, what, label, is_there):
        end = time.monotonic() + START_LIMIT_S
        while not is_there():
            keeper = self.keepers[label]
            if start_ticks(keeper) != self.starts[keeper]:
                raise ClusterError(f"{what} has ended: {self._last_words(label)}")
            if time.monotonic() > end:
                raise ClusterError(f"{what} wasn't ready within {START_LIMIT_S} s: "
                                   f"{self._last_words(label)}")
            time.sleep(0.005)

    def _bridges(self):
        return ("br0", "br1") if self.options.has_second_network else ("br0",)

    def _start_hosts(self):
        unshare = find_program("unshare")
        sshd = find_program("sshd")
        cpu_sets = CpuSets(self.name)
        for host in self.hosts:
            keeper = self._spawn(host.name, [
                unshare, "--net", "--uts", "--mount", "--pid", "--ipc", "--fork", "--kill-child",
                "--propagation", "private", find_program("sh"), "-c", FIRST_PROCESS, "dlcluster",
                self.folder, host.name, sshd, plan.EMPTY_HOME])
            first = only_child(keeper, START_LIMIT_S)
            if not cpu_sets.put(host.name, host.cpus, first):
                os.sched_setaffinity(first, host.cpus)
            ticks = start_ticks(first)
            if ticks is None:
                raise ClusterError(f"{host.name} has ended: {self._last_words(host.name)}")
            self.pids[host.name] = first
            self.starts[first] = ticks
        self.save()

    # ---- Networks ----

    def port(self, host, bridge):
        return host.name if bridge == "br0" else f"{host.name}-{bridge}"

    def _connect(self):
        lines = []
        for host in self.hosts:
            for number, bridge in enumerate(self._bridges()):
                port = self.port(host, bridge)
                lines += [
                    f"link add {port} type veth peer name eth{number} "
                    f"netns {self.pids[host.name]}",
                    f"link set {port} master {bridge} up"]
        ip_batch(lines, self.pids["switch"])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(self._set_up_network, self.hosts))

    def _set_up_network(self, host):
        pid = self.pids[host.name]
        lines = ["link set lo up"]
        for device, address in plan.host_addresses(self.options, host):
            no_wait = " nodad" if ":" in address else ""
            lines.append(f"address add {address} dev {device}{no_wait}")
        lines += [f"link set eth{number} up" for number in range(len(self._bridges()))]
        if self.options.has_decoy_bridge:
            lines += ["link add docker0 type bridge",
                      f"address add {plan.DECOY_ADDRESS} dev docker0", "link set docker0 up"]
        ip_batch(lines, pid)
        if self.options.rate:
            # At both ends: what leaves the host, and what comes to it.
            for number, bridge in enumerate(self._bridges()):
                self._limit_rate(pid, f"eth{number}")
                self._limit_rate(self.pids["switch"], self.port(host, bridge))

    def _limit_rate(self, pid, device):
        run(["nsenter", "-t", str(pid), "-n", find_program("tc"), "qdisc", "add", "dev", device,
             "root", "tbf", "rate", self.options.rate, "burst", "64kb", "latency", "50ms"])

    def _await_sshd(self):
        for host in self.hosts:
            path = f"/proc/{self.pids[host.name]}/root/run/sshd.pid"
            self._await(f"sshd of {host.name}", host.name, lambda path=path: os.path.exists(path))

    def cut(self, host, bridge):
        """The link stays up for both ends, and carries nothing."""
        self._check_bridge(bridge)
        ip_batch([f"link set {self.port(host, bridge)} nomaster"], self.pids["switch"])

    def heal(self, host, bridge):
        self._check_bridge(bridge)
        ip_batch([f"link set {self.port(host, bridge)} master {bridge}"], self.pids["switch"])

    def _check_bridge(self, bridge):
        if bridge not in self._bridges():
            raise ClusterError(f"cluster '{self.name}' has no second network; "
                               "'dlcluster up --second-network' makes one")

    # ---- Going in ----

    def command_on(self, host, words, environment=None):
        """Runs the words in the host's namespaces and on its cpus, in the folder of the caller
        where the host has it."""
        pid = self.pids[host.name]
        if not self.is_running(host):
            raise ClusterError(f"{host.name} isn't running any more: "
                               f"{self._last_words(host.name)}")
        CpuSets(self.name).put(host.name, host.cpus, os.getpid())
        try:
            os.sched_setaffinity(0, host.cpus)
        except OSError:
            pass  # Its group has the cpus already.
        settings = [f"{name}={value}" for name, value in (environment or {}).items()]
        return ["nsenter", "-t", str(pid), "--mount", "--uts", "--ipc", "--net", "--pid",
                "/bin/sh", "-c", 'cd "$1" 2>/dev/null || cd /; shift; exec "$@"', "dlcluster",
                os.getcwd(), "env", *settings, *words]

    @property
    def hostfile(self):
        return os.path.join(self.folder, "hosts")

    # ---- The end ----

    def remove(self):
        """Everything, however far the making came."""
        # With a host's first process the kernel ends all others of the host.
        kill_all([(pid, self.starts[pid])
                  for pid in [*self.pids.values(), *self.keepers.values()] if pid in self.starts])
        CpuSets(self.name).remove([host.name for host in self.hosts])
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            os.rmdir(ROOT)
        except OSError:
            pass  # There are other clusters.


def cluster_names():
    try:
        return sorted(name for name in os.listdir(ROOT)
                      if os.path.exists(os.path.join(ROOT, name, "state.json")))
    except FileNotFoundError:
        return []
