# SPDX-License-Identifier: Apache-2.0
"""Makes several hosts of one Linux machine, to learn or to test on: each has a network, a host
name, processes, /tmp, /run and /dev/shm of its own, and an sshd that the others reach without a
password. They share all other files and the kernel. Needs root.

  dlcluster up -n 4                  four hosts, h1 to h4
  dlcluster run -- COMMAND           on h1, with DLRT_HOSTFILE naming all
  dlcluster ssh h2 COMMAND           from h1
  dlcluster down                     leaves nothing
"""
import argparse
import os
import re
import sys

import plan
from cluster import Cluster, cluster_names
from system import ClusterError, check_system

RATE = re.compile(r"[1-9][0-9]*(\.[0-9]+)?([kmgt]?bit|[kmgt]?bps)")


def count(text):
    if not text.isdigit() or not 1 <= int(text) <= plan.HOSTS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}': valid are 1 to {plan.HOSTS_MAX}")
    return int(text)


def rate(text):
    if not RATE.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError(f"'{text}': valid are rates like 100mbit or 12mbps")
    return text.lower()


def name(text):
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", text):
        raise argparse.ArgumentTypeError(f"'{text}': letters, digits, - and _, at most 32")
    return text


def make_parser():
    parser = argparse.ArgumentParser(
        prog="dlcluster", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(command, text):
        made = commands.add_parser(command, help=text, description=text)
        made.add_argument("--name", type=name, default="cluster",
                          help="which cluster, where there are several (default: cluster)")
        return made

    up = add("up", "makes a cluster")
    up.add_argument("-n", "--hosts", type=count, default=2, help="how many (2)")
    up.add_argument("--cpus", type=count, default=0,
                    help="cpus of each host (as many as there are for each, at least 1)")
    up.add_argument("--second-network", action="store_true",
                    help="a second link of each host, eth1")
    up.add_argument("--decoy-bridge", action="store_true",
                    help="a bridge docker0 in each host, with the same address everywhere")
    up.add_argument("--own-name-loopback", action="store_true",
                    help=f"each host takes its own name for {plan.OWN_NAME_ADDRESS}")
    up.add_argument("--ipv6-only", action="store_true", help="no IPv4 but on the loopback")
    up.add_argument("--rate", type=rate, help="what a link carries, as 100mbit")
    ssh = add("ssh", "logs in to a host, from h1")
    ssh.add_argument("host")
    ssh.add_argument("words", nargs=argparse.REMAINDER, metavar="WORD")
    inside = add("run", "runs a command on h1, with DLRT_HOSTFILE naming all hosts")
    inside.add_argument("words", nargs=argparse.REMAINDER, metavar="WORD")
    commands.add_parser("list", help="shows all clusters and their hosts")
    for command, text in (("cut", "a host's link carries nothing from now on"),
                          ("heal", "the link carries again")):
        link = add(command, text)
        link.add_argument("host")
        link.add_argument("--network", type=int, choices=(1, 2), default=1)
    add("down", "ends a cluster and all that runs on it")
    return parser


def up(arguments):
    options = plan.Options(
        host_count=arguments.hosts, cpus_per_host=arguments.cpus,
        has_second_network=arguments.second_network, has_decoy_bridge=arguments.decoy_bridge,
        own_name_is_loopback=arguments.own_name_loopback, is_ipv6_only=arguments.ipv6_only,
        rate=arguments.rate or "")
    cluster = Cluster.make(arguments.name, options)
    print(f"{cluster.hosts[0].name} to {cluster.hosts[-1].name} are up; hostfile: "
          f"{cluster.hostfile}")


def replace_by(command):
    sys.stdout.flush()
    os.execvp(command[0], command)


def words_of(arguments):
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    return words


def ssh(arguments):
    cluster = Cluster.load(arguments.name)
    host = cluster.host(arguments.host)
    replace_by(cluster.command_on(cluster.hosts[0], ["ssh", host.name, *words_of(arguments)]))


def run(arguments):
    cluster = Cluster.load(arguments.name)
    words = words_of(arguments)
    if not words:
        raise ClusterError("run: what? As in: dlcluster run -- hostname")
    replace_by(cluster.command_on(
        cluster.hosts[0], words, {"DLRT_HOSTFILE": cluster.hostfile}))


def show(_arguments):
    for each in cluster_names():
        cluster = Cluster.load(each)
        print(f"{each}: {len(cluster.hosts)} hosts, {cluster.hostfile}")
        for host in cluster.hosts:
            addresses = [address.split("/")[0] for _, address
                         in plan.host_addresses(cluster.options, host)]
            state = "" if cluster.is_running(host) else "  has ended"
            print(f"  {host.name}  {' '.join(addresses)}  "
                  f"cpus {','.join(map(str, host.cpus))}{state}")


def cut(arguments):
    cluster = Cluster.load(arguments.name)
    cluster.cut(cluster.host(arguments.host), f"br{arguments.network - 1}")


def heal(arguments):
    cluster = Cluster.load(arguments.name)
    cluster.heal(cluster.host(arguments.host), f"br{arguments.network - 1}")


def down(arguments):
    Cluster.load(arguments.name).remove()


def main():
    arguments = make_parser().parse_args()
    actions = {"up": up, "ssh": ssh, "run": run, "list": show, "cut": cut, "heal": heal,
               "down": down}
    try:
        check_system()
        actions[arguments.command](arguments)
    except ClusterError as error:
        sys.exit(f"dlcluster: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
