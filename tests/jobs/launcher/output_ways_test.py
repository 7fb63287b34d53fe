# SPDX-License-Identifier: Apache-2.0
"""Where output goes and how its lines look: tags, times, files, chosen ranks, merged streams."""
import datetime
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import threading

from launcher_case import LauncherCase, main

STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6})Z ")
BINARY = bytes(range(256)) * 40 + b"\r\n\0\0\nend\r"
PRINT_BINARY = "import os; os.write(1, bytes(range(256)) * 40 + b'\\r\\n\\0\\0\\nend\\r')"


def limit_descriptors(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


class OutputWays(LauncherCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def contents(self):
        return {str(path.relative_to(self.folder)): path.read_text()
                for path in self.folder.rglob("*") if path.is_file()}

    def test_a_tag_can_name_whatever_is_known_of_the_line(self):
        script = "echo $DLRT_RANK $DLRT_LOCAL_RANK $$ $DLRT_JOBID; echo x >&2"
        job = self.run_job("-np", 1, "--tag-format", "%03r|%R|%h|%p|%s|%b|%j|%%|", "sh", "-c",
                           script, ":", "-np", 1, "sh", "-c", script)
        self.assertEqual(job.returncode, 0, job.err)
        host = os.uname().nodename
        lines = sorted(job.out.splitlines())
        for rank, line in enumerate(lines):
            tag, text = line.rsplit("|", 1)
            number, local_rank, pid, job_id = text.split()
            self.assertEqual((number, local_rank), (str(rank), str(rank)))
            self.assertEqual(tag, f"00{rank}|{rank}|{host}|{pid}|out|{rank}|{job_id}|%")
        self.assertEqual(len([line for line in job.err.splitlines() if "|err|" in line]), 2)

    def test_times_are_those_when_the_rank_wrote(self):
        script = "date -u +%s.%N; sleep 0.3; date -u +%s.%N"
        job = self.run_job("-np", 2, "--timestamp", "--tag", "sh", "-c", script)
        lines = job.out.splitlines()
        self.assertEqual(len(lines), 4, job.err)
        for line in lines:
            match = STAMP.match(line)
            tag, written = line[match.end():].split()
            self.assertIn(tag, ("[0]", "[1]"))
            read = datetime.datetime.fromisoformat(match[1] + "+00:00").timestamp()
            # It was read after it was written, and not only when it was forwarded at the end.
            self.assertGreaterEqual(read, float(written[:17]) - 1e-6)
            self.assertLess(read - float(written), 10)

    def test_each_stream_of_each_rank_can_have_its_file(self):
        job = self.run_job("-np", 2, "--output", self.folder / "a/%j/%02r.%s", "sh", "-c",
                           "echo out $DLRT_RANK; echo err $DLRT_RANK >&2; printf last")
        self.assertEqual((job.returncode, job.out, job.err), (0, "", ""))
        found = {name.split("/", 2)[2]: text for name, text in self.contents().items()}
        self.assertEqual(found, {
            "00.out": "out 0\nlast\n", "00.err": "err 0\n",
            "01.out": "out 1\nlast\n", "01.err": "err 1\n"})

    def test_a_folder_gets_a_file_for_each_stream(self):
        for name in (f"{self.folder}/new/", str(self.folder)):
            self.run_job("-np", 1, "--output", name, "echo", "x")
        self.assertEqual(self.contents(),
                         {"new/0.out": "x\n", "new/0.err": "", "0.out": "x\n", "0.err": ""})

    def test_names_are_those_that_the_caller_sees(self):
        (self.folder / "100%").mkdir()
        job = self.run_job("-np", 1, "--wdir", "/", "--output", "x.%r", "pwd",
                           cwd=self.folder / "100%")
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertEqual(self.contents(), {"100%/x.0": "/\n"})

    def test_ranks_that_share_a_file_are_tagged_and_their_lines_are_whole(self):
        script = ("import os\nfor i in range(3000):\n"
                  " for part in (b'line %d ' % i, b'x' * (i % 50), b'\\n'): os.write(1, part)")
        self.run_job("-np", 3, "--output", self.folder / "all", "python3", "-c", script)
        lines = self.contents()["all"].splitlines()
        for rank in range(3):
            mine = [line[4:] for line in lines if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [f"line {i} {'x' * (i % 50)}" for i in range(3000)])
        self.assertEqual(len(lines), 9000)

    def test_a_file_is_begun_anew_but_not_by_a_job_that_cannot_start(self):
        pattern = self.folder / "%r"
        self.run_job("-np", 1, "--output", pattern, "printf", "a\nb\nc\n")
        job = self.run_job("-np", 1, "--output", pattern, "/no/such/program")
        self.assertEqual(job.returncode, 127)
        self.assertEqual(self.contents(), {"0": "a\nb\nc\n"})
        self.run_job("-np", 1, "--output", pattern, "echo", "d")
        self.assertEqual(self.contents(), {"0": "d\n"})

    def test_tee_and_show_decide_what_is_seen_here(self):
        write = ("sh", "-c", "echo $DLRT_RANK")
        pattern = self.folder / "%r"
        full = {str(rank): f"{rank}\n" for rank in range(3)}
        for words, seen, files in (
            (("--output", pattern), [], full),
            (("--output", pattern, "--tee"), ["0", "1", "2"], full),
            (("--output", pattern, "--show", "1-2"), ["1", "2"], full),
            (("--show", "0,2"), ["0", "2"], {}),
        ):
            for path in self.folder.iterdir():
                path.unlink()
            job = self.run_job("-np", 3, *words, *write)
            self.assertEqual(job.returncode, 0, job.err)
            self.assertEqual(sorted(job.out.splitlines()), seen)
            self.assertEqual({name: text for name, text in self.contents().items() if text}, files)

    def test_ranks_that_are_not_shown_are_read_all_the_same(self):
        script = "test $DLRT_RANK = 0 && exec echo shown; head -c 3000000 /dev/zero; echo x >&2"
        job = self.run_job("-np", 2, "--show", 0, "sh", "-c", script)
        self.assertEqual((job.returncode, job.out), (0, "shown\n"))
        self.assertNotIn("x", job.err.splitlines())

    def test_a_rank_to_show_that_is_not_there_is_refused(self):
        job = self.run_job("-np", 2, "--show", "2", "echo", "ran")
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertIn("--show: the job has no rank 2; valid are 0 to 1", job.err)

    def test_merged_streams_keep_their_order_and_are_one_open_file(self):
        script = ("import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)\n"
                  "assert os.fstat(1).st_ino == os.fstat(2).st_ino")
        job = self.run_job("-np", 1, "--merge-stderr", "python3", "-c", script)
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertEqual(job.out.splitlines(), [str(i) for i in range(2000)])
        job = self.run_job("-np", 2, "--merge-stderr", "--output", self.folder / "%r.%s", "sh",
                           "-c", "echo a; echo b >&2; echo c")
        self.assertEqual(self.contents(), {"0.out": "a\nb\nc\n", "1.out": "a\nb\nc\n"})

    def test_bytes_stay_as_they_are_without_tags(self):
        expected = BINARY + b"\n"
        job = self.start("-np", 1, "--tee", "--output", self.folder / "%r", "python3", "-c",
                         PRINT_BINARY)
        out, _ = job.communicate(timeout=30)
        self.assertEqual(out, expected)
        self.assertEqual((self.folder / "0").read_bytes(), expected)

    def test_single_bytes_become_lines(self):
        script = "import os\nfor c in b'abc\\ndef\\n' * 500: os.write(1, bytes([c]))"
        job = self.run_job("-np", 3, "--tag", "python3", "-c", script)
        lines = sorted(job.out.splitlines())
        self.assertEqual(lines, sorted(f"[{rank}] {text}" for rank in range(3)
                                       for text in ["abc", "def"] * 500))

    def test_a_file_that_cannot_be_opened_is_one_line_and_nothing_runs(self):
        ran = self.folder / "ran"
        (self.folder / "file").write_text("")
        (self.folder / "0").mkdir()
        for pattern, reason in (
            ("/proc/no/%r", "cannot make the folder '/proc/no'"),
            (self.folder / "file/%r", "cannot make the folder"),
            (self.folder / "%r", f"cannot open the output file '{self.folder}/0': Is a directory"),
            (f"{self.folder}/%p", "files are opened before there are processes"),
        ):
            job = self.run_job("-np", 2, "--output", pattern, "touch", ran)
            self.assertEqual((job.returncode, job.out), (125, ""), pattern)
            self.assertIn(reason, job.err)
            self.assertEqual(len(job.err.splitlines()), 1, job.err)
            self.assertFalse(ran.exists())

    def test_a_full_disk_ends_the_job_and_loses_nothing_else(self):
        # Rank 1's file is full at once; rank 0's has all that was written until the end.
        (self.folder / "1.out").symlink_to("/dev/full")
        script = """
import os, pathlib, signal, sys, time
def end(*_):
    os.write(1, b'last words\\n')
    os._exit(0)
signal.signal(signal.SIGTERM, end)
other = pathlib.Path(sys.argv[1])
while os.environ['DLRT_RANK'] == '1' and not other.read_text(): time.sleep(0.01)
os.write(1, b'first words\\nmore\\n')
time.sleep(60)
"""
        job = self.run_job("-np", 2, "--output", self.folder / "%r.%s", "--tee", "python3", "-c",
                           script, self.folder / "0.out")
        self.assertEqual(job.returncode, 125)
        self.assertIn(f"cannot write the output file '{self.folder}/1.out': No space left on "
                      "device", job.err)
        self.assertEqual((self.folder / "0.out").read_text(), "first words\nmore\nlast words\n")
        self.assertEqual(sorted(job.out.splitlines()),
                         ["first words"] * 2 + ["last words"] * 2 + ["more"] * 2)

    def test_a_small_disk_keeps_what_fits(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("needs leave to mount a file system")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        job = self.run_job("-np", 2, "--output", disk / "%r", "sh", "-c",
                           "echo begin; exec yes 0123456789")
        self.assertEqual(job.returncode, 125)
        self.assertIn("No space left on device", job.err)
        texts = [(disk / str(rank)).read_text() for rank in range(2)]
        for text in texts:
            whole = "begin\n" + "0123456789\n" * 30000
            self.assertEqual(text, whole[:len(text)])
        self.assertGreater(sum(map(len, texts)), 128 * 1024)

    def test_many_files_need_descriptors_and_that_is_said_before(self):
        words = ("-np", 8, "--output", self.folder / "%r.%s", "echo", "ran")
        job = self.run_job(*words, preexec_fn=limit_descriptors(100))
        self.assertEqual((job.returncode, job.out), (125, ""))
        # Seven for each rank, 16 files and 32 others.
        self.assertIn("104 file descriptors are needed, but the limit is 100", job.err)
        self.assertEqual(self.contents(), {})
        job = self.run_job(*words, preexec_fn=limit_descriptors(104))
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(len(self.contents()), 16)

    def test_a_slow_reader_of_a_file_makes_the_rank_wait(self):
        pipe = self.folder / "0"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        job = self.start("-np", 1, "--output", self.folder / "%r", "sh", "-c",
                         "seq 200000; touch done", cwd=self.folder)
        self.roles("sh", 1)
        os.set_blocking(reader, True)
        parts = []

        def read():
            while part := os.read(reader, 65536):
                parts.append(part)
        thread = threading.Thread(target=read)
        self.assertFalse((self.folder / "done").exists())
        thread.start()
        self.assertEqual(self.finish(job), 0)
        thread.join(timeout=30)
        os.close(reader)
        self.assertEqual(b"".join(parts), b"".join(b"%d\n" % i for i in range(1, 200001)))

    def test_long_lines_of_many_ranks_are_not_mixed(self):
        script = "import os, sys; sys.stdout.write(os.environ['DLRT_RANK'] * 1000000 + '\\n')"
        job = self.run_job("-np", 8, "python3", "-c", script)
        self.assertEqual(sorted(job.out.split("\n")),
                         [""] + [str(rank) * 1000000 for rank in range(8)])


if __name__ == "__main__":
    main()
