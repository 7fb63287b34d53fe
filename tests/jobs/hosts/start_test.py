# SPDX-License-Identifier: Apache-2.0
"""Jobs over several hosts: who runs where, what they end with, and what is said when a host can't
be used."""
import hashlib
import os

from hosts_case import DLRUN, HOST_COUNT, HostsCase, main


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Start(HostsCase):
    def test_32_ranks_over_4_hosts(self):
        job = self.run_job(
            "--hostfile", self.all_hosts(8), "-np", 32, "sh", "-c",
            "echo $DLRT_RANK $(hostname) $DLRT_LOCAL_RANK $DLRT_LOCAL_SIZE $DLRT_NODE_RANK "
            "$DLRT_NUM_NODES $DLRT_SIZE")
        self.assertEqual(job.returncode, 0, job.err)
        lines = sorted(job.out.splitlines(), key=lambda line: int(line.split()[0]))
        self.assertEqual(lines, [f"{rank} h{rank // 8 + 1} {rank % 8} 8 {rank // 8} 4 32"
                                 for rank in range(32)])

    def test_one_token_and_one_meeting_point_for_all(self):
        job = self.run_job("--hostfile", self.all_hosts(1), "sh", "-c",
                           "echo $DLRT_TOKEN $MASTER_ADDR $MASTER_PORT")
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(len(job.out.splitlines()), HOST_COUNT)
        self.assertEqual(len(set(job.out.splitlines())), 1, job.out)
        self.assertRegex(job.out, r"^[0-9a-f]{32} 10\.77\.0\.1 \d+\n")

    def test_the_meeting_point_is_where_rank_0_is(self):
        job = self.run_job("--host", "h3:1,h1:1", "sh", "-c", "echo $MASTER_ADDR $(hostname)")
        self.assertEqual(sorted(job.out.splitlines()), ["10.77.0.3 h1", "10.77.0.3 h3"], job.err)

    def test_hosts_without_counts_have_as_many_slots_as_cpus(self):
        job = self.run_job("--host", "h2,h3", "hostname")
        self.assertEqual(job.returncode, 0, job.err)
        cpus = [int(self.on("h1", f"ssh {host} nproc")) for host in ("h2", "h3")]
        self.assertEqual(sorted(job.out.split()), ["h2"] * cpus[0] + ["h3"] * cpus[1])

    def test_ranks_go_to_hosts_in_turn(self):
        job = self.run_job("--hostfile", self.all_hosts(2), "-np", 6, "--map-by", "host",
                           "--tag-format", "%r ", "hostname")
        self.assertEqual(sorted(job.out.splitlines()),
                         ["0 h1", "1 h2", "2 h3", "3 h4", "4 h1", "5 h2"], job.err)

    def test_hosts_that_are_not_needed_are_not_asked(self):
        job = self.run_job("--host", "h2:2,nowhere:2", "-np", 2, "hostname")
        self.assertEqual((job.returncode, job.out), (0, "h2\nh2\n"), job.err)

    def test_all_hosts_are_logged_into_at_once(self):
        """Each login of three waits for the others (case F04)."""
        meeting = self.folder / "meeting"
        meeting.mkdir()
        tool = self.script(f"touch {meeting}/$1; until [ $(ls {meeting} | wc -l) = 3 ]; "
                           'do sleep 0.05; done; host=$1; shift; exec ssh $host "$@"')
        job = self.run_job("--launcher-cmd", f"{tool} {{host}}", "--hostfile", self.all_hosts(1),
                           "hostname")
        self.assertEqual(job.returncode, 0, job.err)

    def test_pictures_know_all_hosts(self):
        job = self.run_job("--hostfile", self.all_hosts(1), "--display", "map,topo", "true")
        self.assertEqual(job.returncode, 0, job.err)
        for host in range(1, HOST_COUNT + 1):
            self.assertIn(f"h{host}", job.out)
        self.assertNotIn("not known", job.out)


class Ends(HostsCase):
    def test_statuses_and_causes(self):
        for script, status, said in (
                ("exit 3", 3, r"rank 2 \(h3, pid \d+\) exited with 3 after"),
                ("kill -SEGV $$", 139, r"rank 2 \(h3, pid \d+\) was killed by signal 11 ")):
            job = self.run_job("--hostfile", self.all_hosts(1), "sh", "-c",
                               f"[ $DLRT_RANK != 2 ] || {{ {script}; }}; exec sleep 1000")
            self.assertEqual(job.returncode, status, job.err)
            self.assertRegex(self.own_lines(job)[0], "^dlrun: " + said)
            self.assertIn("3 others terminated", job.err)

    def test_nothing_starts_where_a_host_lacks_the_folder(self):
        self.on("h1", "mkdir -p /tmp/only")
        job = self.run_job("--host", "h1:1,h2:1", "--wdir", "/tmp/only", "pwd")
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertEqual(self.own_lines(job), [
            "dlrun: host h2: cannot use the working directory '/tmp/only': "
            "No such file or directory"])

    def test_folders_that_are_told(self):
        """Case A09 (b) to (e)."""
        self.on("h1", "mkdir -p /tmp/only")
        far = self.folder / "mit Leerzeichen und Umläuten äöü"
        for folder in (self.folder / "there", far):
            folder.mkdir()
        for begin, told, expected in (("/tmp/only", "/tmp", "/tmp"), (self.folder, far, far),
                                      (self.folder, "there", self.folder / "there")):
            done = self.on("h1", f"cd '{begin}'; exec {DLRUN} --host h1:1,h2:1 --wdir '{told}' "
                                 "pwd < /dev/null")
            self.assertEqual(done, f"{expected}\n{expected}\n")
        job = self.run_job("--host", "h1:1,h2:1", "--wdir", "/no/such", "pwd")
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertIn("'/no/such'", job.err)

    def test_nothing_starts_where_a_host_lacks_the_program(self):
        self.on("h1", "printf '#!/bin/sh\\necho ran\\n' > /tmp/tool; chmod +x /tmp/tool")
        job = self.run_job("--host", "h1:1,h2:1", "/tmp/tool")
        self.assertEqual((job.returncode, job.out), (127, ""))
        self.assertRegex(job.err, "^dlrun: host h2: .*/tmp/tool")


class Input(HostsCase):
    def test_input_reaches_a_rank_on_another_host_exactly(self):
        data = os.urandom(3_145_731)
        job = self.run_job("--hostfile", self.all_hosts(1), "--stdin", 2, "sha256sum", input=data)
        self.assertEqual(job.returncode, 0, job.err)
        empty = digest(b"")
        self.assertEqual(sorted(line.split()[0] for line in job.out.splitlines()),
                         sorted([digest(data)] + [empty] * 3))

    def test_input_for_all_reaches_all(self):
        data = os.urandom(1_000_003)
        job = self.run_job("--hostfile", self.all_hosts(2), "--stdin", "all", "sha256sum",
                           input=data)
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual([line.split()[0] for line in job.out.splitlines()], [digest(data)] * 8)

    def test_a_rank_there_that_takes_little_is_not_waited_for(self):
        job = self.run_job("--host", "h2:1", "head", "-c", 10, input=b"0123456789" * 500_000)
        self.assertEqual((job.returncode, job.out), (0, "0123456789\n"), job.err)


class Unreachable(HostsCase):
    def refused(self, *words, status=125):
        job = self.run_job(*words)
        self.assertEqual((job.returncode, job.out), (status, ""), job.err)
        return job.err

    def test_all_wrong_names_are_told(self):
        said = self.refused("--host", "h1:1,nowhere:1,elsewhere:1", "hostname")
        for host in ("nowhere", "elsewhere"):
            self.assertRegex(said, rf"dlrun: cannot start the daemon on {host}: there is no host "
                                   r"of that name: check the hostfile, or /etc/hosts and DNS")

    def test_a_refused_key(self):
        keyless = ("ssh -F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no "
                   "-o UserKnownHostsFile=/dev/null -i /none {host}")
        said = self.refused("--launcher-cmd", keyless, "--host", "h1:1,h2:1", "-np", 2, "hostname")
        self.assertRegex(said, r"dlrun: cannot start the daemon on h2: it refuses our key, or .*"
                               r"ssh-copy-id h2")

    def test_an_absent_binary(self):
        said = self.refused("--hostfile", self.hostfile("h1 slots=1", "h2 slots=1 prefix=/none"),
                            "hostname")
        self.assertIn("dlrun: cannot start the daemon on h2: there is no /none/bin/dlrund on it: "
                      "install dlrt there", said)

    def test_another_version(self):
        tool = self.script(r"printf '\001\002dlrund\003 0.0.7, protocol 1\n'; exec sleep 100")
        said = self.refused("--launcher-cmd", f"{tool} {{host}}", "--host", "h2:1", "hostname")
        self.assertRegex(said, r"dlrun: the dlrund on h2 is of version 0\.0\.7, protocol 1, this "
                               r"dlrun of version \S+, protocol \d+: install the same")

    def test_a_host_that_hangs(self):
        tool = self.script("[ $1 = h1 ] || echo in the queue >&2; exec sleep 100")
        said = self.refused("--start-timeout", 1, "--launcher-cmd", f"{tool} {{host}}",
                            "--host", "h1:1,h2:1,h3:1", "-np", 3, "hostname")
        for host in ("h2", "h3"):
            self.assertRegex(said, rf"dlrun: no daemon of {host} has spoken within the "
                                   r"--start-timeout of 1 s.*in the queue")

    def test_what_a_login_writes_is_dropped_with_a_warning(self):
        tool = self.script('host=$1; shift; echo hello from a profile; exec ssh $host "$@"')
        job = self.run_job("--launcher-cmd", f"{tool} {{host}}", "--host", "h2:1", "hostname")
        self.assertEqual((job.returncode, job.out), (0, "h2\n"), job.err)
        self.assertIn("warning: host h2: its login writes text, which is dropped: "
                      "'hello from a profile'", job.err)

    def test_a_template_without_a_host(self):
        self.assertRegex(self.refused("--launcher-cmd", "rsh", "--host", "h2", "true"),
                         r"--launcher-cmd: 'rsh' is not valid, it lacks \{host\}; valid is ")


if __name__ == "__main__":
    main()
