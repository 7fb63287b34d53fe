# SPDX-License-Identifier: Apache-2.0
"""dlcluster as its users run it: hosts that know each other, links that are cut, and nothing left.

usage: dlcluster_test.py DLCLUSTER
"""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

DLCLUSTER = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(DLCLUSTER), "cluster"))

import plan  # noqa: E402  (its folder is an argument)

NAME = f"test{os.getpid()}"
FOLDER = pathlib.Path("/run/dlcluster") / NAME


def dlcluster(command, *words, limit_s=60, settings=None):
    return subprocess.run(
        [DLCLUSTER, command, *words], capture_output=True, text=True, timeout=limit_s, check=False,
        env={**os.environ, **(settings or {})})


def processes_of(folder):
    """Of all processes those whose command line speaks of the cluster."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in words:
                found.append(entry.name)
    return found


def can_make_hosts():
    done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"],
                          capture_output=True, check=False)
    return os.geteuid() == 0 and done.returncode == 0


class Plan(unittest.TestCase):
    def test_hosts_have_cpus_of_their_own_while_there_are_enough(self):
        self.assertEqual(plan.share_cpus([0, 1, 2, 3], 2, 0), [(0, 1), (2, 3)])
        self.assertEqual(plan.share_cpus([4, 5, 9], 3, 1), [(4,), (5,), (9,)])

    def test_first_cpus_differ_where_hosts_must_share(self):
        self.assertEqual(plan.share_cpus([0, 1], 4, 0), [(0,), (1,), (0,), (1,)])
        self.assertEqual(plan.share_cpus([0, 1, 2], 2, 2), [(0, 1), (0, 2)])
        self.assertEqual(plan.share_cpus([7], 2, 8), [(7,), (7,)])

    def test_addresses_follow_the_number_beyond_a_byte(self):
        self.assertEqual(plan.Host(300).address(plan.FIRST_NETWORK, 4), "10.77.1.44/16")
        self.assertEqual(plan.Host(300).address(plan.SECOND_NETWORK, 6), "fd78::12c/64")

    def test_a_host_that_takes_its_own_name_for_the_loopback(self):
        hosts = plan.make_hosts(plan.Options(host_count=2), [0])
        options = plan.Options(host_count=2, own_name_is_loopback=True)
        self.assertEqual(plan.hosts_file(options, hosts, hosts[1]).splitlines()[2:],
                         ["10.77.0.1 h1", "127.0.1.1 h2"])


class ClusterCase(unittest.TestCase):
    def up(self, *options):
        made = dlcluster("up", "--name", NAME, *options)
        self.addCleanup(dlcluster, "down", "--name", NAME)
        self.assertEqual(made.returncode, 0, made.stderr)

    def on(self, host, script):
        """What the script prints there, reached through ssh."""
        done = dlcluster("ssh", "--name", NAME, host, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def on_first(self, script):
        done = dlcluster("run", "--name", NAME, "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()


class Hosts(ClusterCase):
    def test_hosts_reach_each_other_and_keep_their_files_apart(self):
        self.up("-n", "3")
        self.assertEqual(
            self.on_first("for host in h1 h2 h3; do ssh $host hostname; done").split(),
            ["h1", "h2", "h3"])
        self.assertEqual(self.on("h2", "ssh h3 hostname"), "h3")
        self.on("h2", "touch /tmp/mine /dev/shm/mine /run/mine")
        self.assertEqual(self.on("h3", "ls /tmp /dev/shm /run | grep -c mine || true"), "0")
        self.assertFalse(os.path.exists("/dev/shm/mine"))
        # Its own processes only: those of the session and the first two.
        self.assertEqual(self.on("h3", "cat /proc/1/comm"), "sh")
        self.assertNotIn("dlcluster_test", self.on("h3", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))

    def test_the_hostfile_names_all_with_their_cpus(self):
        self.up("-n", "2", "--cpus", "1")
        self.assertEqual(self.on_first("cat $DLRT_HOSTFILE"), "h1 slots=1\nh2 slots=1")
        own = self.on("h1", "grep Cpus_allowed_list /proc/self/status").split()[1]
        other = self.on("h2", "grep Cpus_allowed_list /proc/self/status").split()[1]
        if len(os.sched_getaffinity(0)) > 1:
            self.assertNotEqual(own, other)
        self.assertEqual(self.on_first("grep Cpus_allowed_list /proc/self/status").split()[1], own)

    def test_a_command_keeps_its_folder_and_its_status(self):
        self.up("-n", "1")
        self.assertEqual(self.on_first("pwd"), os.getcwd())
        self.assertEqual(
            dlcluster("run", "--name", NAME, "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(dlcluster("ssh", "--name", NAME, "h1", "exit 9").returncode, 9)


class Networks(ClusterCase):
    connect = "ssh -o ConnectTimeout=1 -o ConnectionAttempts=1 h2 true && echo there || echo not"

    def test_a_link_is_cut_and_healed(self):
        self.up("-n", "2")
        self.assertEqual(self.on_first(self.connect), "there")
        self.assertEqual(dlcluster("cut", "--name", NAME, "h2").returncode, 0)
        self.assertEqual(self.on_first(self.connect), "not")
        self.assertIn("UP", self.on_first("ip -br link show eth0"))
        self.assertEqual(dlcluster("heal", "--name", NAME, "h2").returncode, 0)
        healed = self.on_first(
            "for i in 1 2 3 4 5 6 7 8 9; do "
            "ssh -o ConnectTimeout=1 h2 true && echo there && exit; done")
        self.assertEqual(healed, "there")

    def test_odd_networks(self):
        self.up("-n", "2", "--second-network", "--decoy-bridge", "--own-name-loopback",
                "--ipv6-only", "--rate", "200mbit")
        shown = json.loads(self.on("h2", "ip -json address"))
        addresses = {
            device["ifname"]: [entry["local"] for entry in device["addr_info"]
                               if entry["scope"] != "link"]
            for device in shown}
        self.assertEqual(addresses["eth0"], ["fd77::2"])
        self.assertEqual(addresses["eth1"], ["fd78::2"])
        self.assertEqual(addresses["docker0"], ["172.17.0.1"])
        self.assertEqual(self.on("h2", "getent hosts h2").split(), ["127.0.1.1", "h2"])
        for device in ("eth0", "eth1"):
            self.assertIn("tbf", self.on("h2", f"/usr/sbin/tc qdisc show dev {device}"))
        self.assertEqual(self.on("h2", "ssh fd78::1 hostname"), "h1")


class End(ClusterCase):
    def test_nothing_is_left(self):
        self.up("-n", "2")
        self.on("h2", "setsid sleep 4321 >/dev/null 2>&1 </dev/null & echo $! >/dev/null")
        self.assertNotEqual(processes_of(FOLDER), [])
        self.assertEqual(dlcluster("down", "--name", NAME).returncode, 0)
        self.assertEqual(processes_of(FOLDER), [])
        sleepers = subprocess.run(["pgrep", "-r", "R,S,D", "-f", "^sleep 4321$"],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(sleepers.stdout, "")
        self.assertFalse(FOLDER.exists())
        groups = pathlib.Path("/sys/fs/cgroup").glob(f"**/dlcluster-{NAME}-*")
        self.assertEqual(list(groups), [])

    def test_a_host_that_cannot_start_is_named_and_nothing_is_left(self):
        # Hosts have a /tmp of their own.
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            broken = pathlib.Path(folder) / "sshd"
            broken.write_text("#!/bin/sh\necho no luck >&2\nexit 1\n", encoding="ascii")
            broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
            made = dlcluster("up", "--name", NAME, "-n", "2",
                             settings={"PATH": f"{folder}:{os.environ['PATH']}"})
        self.assertEqual(made.returncode, 1)
        self.assertRegex(made.stderr, "^dlcluster: .*h[12] has ended: no luck\n$")
        self.assertFalse(FOLDER.exists())
        self.assertEqual(processes_of(FOLDER), [])

    def test_what_cannot_be_done_is_said(self):
        self.up("-n", "1")
        for words, said in (
                (("up", "-n", "2"), "is there already"),
                (("cut", "h2"), "there is no host 'h2'; there are h1 to h1"),
                (("cut", "--network", "2", "h1"), "has no second network"),
                (("run",), "run: what?")):
            done = dlcluster(words[0], "--name", NAME, *words[1:])
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(said, done.stderr)
        gone = dlcluster("down", "--name", NAME + "x")
        self.assertRegex(gone.stderr, f"no cluster '{NAME}x'; there are: .*{NAME}")


if __name__ == "__main__":
    if not can_make_hosts():
        print("no leave to make network, mount and process namespaces")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
