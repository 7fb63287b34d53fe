#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which networks carry the messages of a job, where hosts have several, or such that lead nowhere;
and what is said when a network fails. Each class wants a cluster of its own, which CLUSTER_OPTIONS
describes; its name is the argument."""
import os
import pathlib
import re
import signal
import time

from hosts_case import CLUSTER, HostsCase, main, wait_until

NETWORK_RANK = os.environ["NETWORK_RANK"]
MIB = 1 << 20


def carried_bytes(host, device):
    """Received and sent, from outside."""
    text = pathlib.Path(f"/proc/{CLUSTER.first[host]}/net/dev").read_text(encoding="ascii")
    numbers = re.search(rf"^ *{device}:(.*)$", text, re.MULTILINE).group(1).split()
    return int(numbers[0]) + int(numbers[8])


class NetworksCase(HostsCase):
    def job_words(self, *words, options=()):
        return ("--hostfile", self.hostfile("h1 slots=1", "h2 slots=1"), *options, NETWORK_RANK,
                *words)

    def run_sums(self, *options, limit_s=30):
        job = self.run_job(*self.job_words("sums", 2, options=options), limit_s=limit_s)
        self.assertEqual((job.returncode, job.out), (0, "right\n"), job.err)
        return job

    def grown(self, action, *devices):
        """By how much what each device of both hosts has carried grows meanwhile: the least."""
        before = {(host, device): carried_bytes(host, device)
                  for host in ("h1", "h2") for device in devices}
        action()
        return {device: [carried_bytes(host, device) - before[host, device]
                         for host in ("h1", "h2")] for device in devices}

    def start_until(self, *options):
        """A job that goes on until it is stopped; the ranks' process ids by host."""
        self.stop = self.folder / "stop"
        job = self.start(*self.job_words("until", self.stop, options=options))
        if job.stdout.readline() != b"there\n":
            self.fail(job.communicate(timeout=30))
        name = pathlib.Path(NETWORK_RANK).name[:15]
        return job, {host: pids[0] for (host, who), pids in self.ours().items() if who == name}


class TwoNetworks(NetworksCase):
    """-n 2 --second-network --decoy-bridge --own-name-loopback"""

    def test_sums_are_right_and_go_over_real_links(self):
        grown = self.grown(self.run_sums, "eth0", "eth1", "docker0", "lo")
        for host in (0, 1):
            self.assertGreater(grown["eth0"][host] + grown["eth1"][host], 2 * MIB)
            self.assertLess(grown["docker0"][host], MIB // 8)
            self.assertLess(grown["lo"][host], MIB // 8)

    def test_the_first_host_by_the_name_localhost(self):
        job = self.run_job("--host", "h2:1,localhost:1", NETWORK_RANK, "sums", 2)
        self.assertEqual((job.returncode, job.out), (0, "right\n"), job.err)

    def test_long_messages_go_over_both_networks(self):
        def exchange():
            job = self.run_job(*self.job_words("long", 16, 3))
            self.assertEqual((job.returncode, job.out), (0, "right\n"), job.err)

        grown = self.grown(exchange, "eth0", "eth1")
        # 48 MiB each way; the rest of the first message has gone before there is a second way.
        for device in ("eth0", "eth1"):
            self.assertGreater(min(grown[device]), 16 * MIB, grown)

    def test_several_sockets_for_each_network(self):
        def connections():
            folder = pathlib.Path(f"/proc/{CLUSTER.first['h1']}/net")
            rows = [line.split() for name in ("tcp", "tcp6")
                    for line in (folder / name).read_text("ascii").splitlines()[1:]]
            # Established, and none of ssh's.
            return [row for row in rows if row[3] == "01" and not row[2].endswith(":0016")]

        self.environment["DLRT_TCP_SOCKETS"] = "3"
        job = self.start(*self.job_words("long", 16, 40))
        wait_until(lambda: len(connections()) == 6)
        self.assertEqual(self.finish(job, 60), 0, job.err)
        self.assertEqual(job.out, "right\n")

    def test_only_the_interface_that_is_chosen(self):
        def exchange():
            job = self.run_job(*self.job_words("long", 16, 2, options=("--iface", "eth1")))
            self.assertEqual((job.returncode, job.out), (0, "right\n"), job.err)

        grown = self.grown(exchange, "eth0", "eth1")
        self.assertLess(max(grown["eth0"]), MIB)
        self.assertGreater(min(grown["eth1"]), 64 * MIB)

    def test_a_rank_that_is_killed_in_the_middle(self):
        job, ranks = self.start_until()
        os.kill(ranks["h2"], signal.SIGKILL)
        begin = time.monotonic()
        self.assertEqual(self.finish(job, 20), 137, job.err)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertRegex(self.own_lines(job)[0], r"rank 1 \(h2, pid \d+\) was killed by signal 9")

    def test_hosts_without_a_common_network(self):
        """Each is alone on its second network."""
        self.on("h2", "ip address del 10.78.0.2/16 dev eth1; ip address add 10.79.0.2/16 dev eth1;"
                      "ip -6 address flush dev eth1 scope global")
        self.addCleanup(self.on, "h2", "ip address del 10.79.0.2/16 dev eth1;"
                        "ip address add 10.78.0.2/16 dev eth1;"
                        "ip address add fd78::2/64 dev eth1 nodad")
        begin = time.monotonic()
        job = self.run_job(*self.job_words("sums", 1, options=("--iface", "eth1")), limit_s=60)
        self.assertNotIn(job.returncode, (0, 124))
        self.assertLess(time.monotonic() - begin, 30)
        for words in ("10.78.0.1", "10.79.0.2", "--iface"):
            self.assertIn(words, job.err)


class OneWay(NetworksCase):
    """-n 2; h1 can't connect to the ranks of h2, whose ports are 7000 to 7100."""
    PORTS = "ipproto tcp dport 7000-7100"

    def asked(self, compute_ms, limit_s=30):
        options = ("--ip", "ipv4", "--port-range", "7000-7100")
        return self.run_job(*self.job_words("asked", compute_ms, options=options), limit_s=limit_s)

    def refuse(self, host, other):
        rule = f"{self.PORTS} to 10.77.0.{other} prohibit"
        self.on(host, f"ip rule add {rule}")
        self.addCleanup(self.on, host, f"ip rule del {rule}")

    def assert_asks(self):
        for compute_ms in (0, 2000):
            job = self.asked(compute_ms)
            self.assertEqual((job.returncode, job.out), (0, "right\n"), job.err)

    def test_connections_that_are_refused(self):
        self.refuse("h1", 2)
        self.assert_asks()

    def test_connections_that_are_dropped_without_a_word(self):
        # The rules for what comes in must stand before those for own addresses.
        self.on("h2", "ip rule add pref 100 lookup local; ip rule del pref 0; "
                      f"ip rule add pref 50 iif eth0 {self.PORTS} blackhole")
        self.addCleanup(self.on, "h2", "ip rule add pref 0 lookup local; ip rule del pref 50; "
                                       "ip rule del pref 100")
        self.assert_asks()

    def test_neither_way_leads_there(self):
        self.refuse("h1", 2)
        self.refuse("h2", 1)
        job = self.asked(0)
        self.assertNotIn(job.returncode, (0, 124))
        for words in (r"it cannot be reached at 10\.77\.0\.2:70\d\d \(Permission denied\), "
                      r"and it cannot connect to here: "
                      r"it cannot be reached at 10\.77\.0\.1:70\d\d \(Permission denied\)",
                      "--iface"):
            self.assertRegex(job.err, words)


class CutNetwork(NetworksCase):
    """-n 2 --second-network"""

    def test_messages_whose_link_is_cut(self):
        # The launcher speaks over the other link: only the ranks can notice.
        job, _ = self.start_until("--iface", "eth1")
        CLUSTER.call("cut", "--network", "2", "h2")
        self.addCleanup(CLUSTER.call, "heal", "--network", "2", "h2")
        begin = time.monotonic()
        status = self.finish(job, 60)
        self.assertLess(time.monotonic() - begin, 33)
        self.assertNotIn(status, (0, 124), job.err)
        ends = r"from (10\.78\.0\.1:\d+ to 10\.78\.0\.2|10\.78\.0\.2:\d+ to 10\.78\.0\.1"
        ends += r"|\[fd78::1\]:\d+ to \[fd78::2\]|\[fd78::2\]:\d+ to \[fd78::1\]):\d+"
        self.assertRegex(job.err, ends)


class OnlyIpv6(NetworksCase):
    """-n 2 --ipv6-only --second-network"""

    def test_sums_are_right(self):
        self.run_sums()

    def test_a_second_link_that_has_link_local_addresses_only(self):
        for number in (1, 2):
            self.on(f"h{number}", "ip -6 address flush dev eth1 scope global")
            self.addCleanup(self.on, f"h{number}",
                            f"ip address add fd78::{number}/64 dev eth1 nodad")
        self.run_sums()

    def test_a_family_that_no_host_has(self):
        job = self.run_job(*self.job_words("sums", 1, options=("--ip", "ipv4")))
        self.assertNotIn(job.returncode, (0, 124), job.err)


if __name__ == "__main__":
    main()
