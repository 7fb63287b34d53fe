# SPDX-License-Identifier: Apache-2.0
"""What a cluster consists of, as values: names, addresses, cpus, and the files that its hosts see.
Nothing here touches the system."""
import ipaddress
from dataclasses import asdict, dataclass, field

HOSTS_MAX = 1000
FIRST_NETWORK = ("10.77.0.0/16", "fd77::/64")
SECOND_NETWORK = ("10.78.0.0/16", "fd78::/64")
DECOY_ADDRESS = "172.17.0.1/16"  # What Docker gives its bridge, on every machine.
EMPTY_HOME = "/tmp/home"         # Of who logs in.
OWN_NAME_ADDRESS = "127.0.1.1"   # What Debian's installer gives a machine's own name.


@dataclass(frozen=True)
class Options:
    host_count: int = 2
    cpus_per_host: int = 0  # 0: as many as there are for each, at least one.
    has_second_network: bool = False
    has_decoy_bridge: bool = False
    own_name_is_loopback: bool = False
    is_ipv6_only: bool = False
    rate: str = ""          # As tc writes it, "100mbit"; empty: as fast as it goes.

    def as_json(self):
        return asdict(self)


@dataclass(frozen=True)
class Host:
    number: int             # From 1 on.
    cpus: tuple = field(default_factory=tuple)

    @property
    def name(self):
        return f"h{self.number}"

    def address(self, network, version):
        """With the length of the network's prefix."""
        chosen = ipaddress.ip_network(network[0 if version == 4 else 1])
        return f"{chosen[self.number]}/{chosen.prefixlen}"


def share_cpus(usable, host_count, cpus_per_host):
    """The cpus of each host, by rows: apart from each other while there are enough; else the hosts
    begin on different ones, so that their first ranks aren't stacked on one."""
    each = cpus_per_host or max(1, len(usable) // host_count)
    each = min(each, len(usable))
    return [tuple(sorted(usable[(host * each + i) % len(usable)] for i in range(each)))
            for host in range(host_count)]


def make_hosts(options, usable_cpus):
    shares = share_cpus(list(usable_cpus), options.host_count, options.cpus_per_host)
    return [Host(number, cpus) for number, cpus in enumerate(shares, start=1)]


def host_addresses(options, host):
    """Pairs of device and address."""
    versions = (6,) if options.is_ipv6_only else (4, 6)
    found = [("eth0", host.address(FIRST_NETWORK, version)) for version in versions]
    if options.has_second_network:
        found += [("eth1", host.address(SECOND_NETWORK, version)) for version in versions]
    return found


def hosts_file(options, hosts, own):
    """/etc/hosts of the host `own`."""
    version = 6 if options.is_ipv6_only else 4
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for host in hosts:
        if host == own and options.own_name_is_loopback:
            lines.append(f"{OWN_NAME_ADDRESS} {host.name}")
        else:
            lines.append(f"{host.address(FIRST_NETWORK, version).split('/')[0]} {host.name}")
    return "\n".join(lines) + "\n"


def hostfile(hosts):
    """For a launcher: slots are the host's cpus."""
    return "".join(f"{host.name} slots={len(host.cpus)}\n" for host in hosts)


def sshd_config(folder):
    """Of all hosts. curve25519: the key exchange preferred otherwise costs four times the cpu; and
    start-up files of a login can cost more than the login."""
    return f"""Port 22
AddressFamily any
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/client_key.pub
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
PrintMotd no
KexAlgorithms curve25519-sha256
MaxStartups 100:30:400
SetEnv HOME={EMPTY_HOME}
PidFile /run/sshd.pid
"""


def ssh_config(folder):
    return f"""Host *
    User root
    IdentityFile {folder}/client_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    KexAlgorithms curve25519-sha256
"""


def known_hosts(options, hosts, public_key):
    """One line for each host, under its name and all its addresses."""
    key = " ".join(public_key.split()[:2])
    lines = []
    for host in hosts:
        addresses = [address.split("/")[0] for _, address in host_addresses(options, host)]
        lines.append(",".join([host.name, *addresses]) + " " + key)
    return "\n".join(lines) + "\n"
