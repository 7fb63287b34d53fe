# SPDX-License-Identifier: Apache-2.0
"""What the launcher's job tests share: running dlrun with a time limit, looking who is left.

Each test gives its jobs a mark in the environment, which every process of the job inherits: dlrun,
its daemon, the keeper, ranks and what ranks start. Afterwards no process may carry it.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import uuid

DLRUN = os.environ.get("DLRUN", "dlrun")
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIME_LIMIT_S = 30
# Of dlrun and dlrund, which should stay small whatever ranks do. A sanitizer keeps freed memory.
IS_SANITIZED = os.environ.get("SANITIZERS", "none") != "none"
RESIDENT_KIB_MAX = (160 if IS_SANITIZED else 20) * 1024

# A shell starts what it puts in the background with SIGINT ignored, which dlrun would respect.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


def processes_with(mark):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def state_of(pid):
    """The letter of /proc, or None when the process is gone or a zombie."""
    try:
        letter = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None
    return None if letter in "ZX" else letter


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def command_of(pid):
    """Its words, each ended by a zero byte; empty when the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def wait_until(condition, limit_s=10):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("the condition did not come true in time")


class LauncherCase(unittest.TestCase):
    def setUp(self):
        self.mark = f"DLTEST_MARK={uuid.uuid4().hex}"
        self.environment = dict(os.environ, DLTEST_MARK=self.mark.split("=")[1])
        # A sanitizer would turn what kills a rank into an exit of its own.
        self.environment["ASAN_OPTIONS"] = "handle_segv=0:abort_on_error=1"
        for name in [n for n in self.environment if n.startswith(("DLRT_", "PMI_", "OMPI_"))]:
            del self.environment[name]
        # Other jobs of this user, which hold cpus, must not be seen.
        self.environment["DLRT_TEST_CPU_POOL"] = uuid.uuid4().hex
        self.addCleanup(self.kill_leftovers)

    def kill_leftovers(self):
        for pid in processes_with(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def start(self, *words, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([DLRUN, *map(str, words)], env=self.environment, **options)

    def run_job(self, *words, limit_s=TIME_LIMIT_S, **options):
        """Runs to the end; the status, stdout and stderr as text, and how long it took."""
        begin = time.monotonic()
        feed = options.pop("input", None)
        if feed is not None:
            options["stdin"] = subprocess.PIPE
        job = self.start(*words, **options)
        try:
            out, err = job.communicate(feed, timeout=limit_s)
        except subprocess.TimeoutExpired:
            job.kill()
            self.fail(f"dlrun {words} did not end within {limit_s} s: {job.communicate()}")
        job.seconds = time.monotonic() - begin
        job.out = out.decode(errors="replace") if out is not None else ""
        job.err = err.decode(errors="replace") if err is not None else ""
        self.assert_nobody_left()
        return job

    def finish(self, job, limit_s=TIME_LIMIT_S):
        out, err = job.communicate(timeout=limit_s)
        job.out, job.err = (out or b"").decode(), (err or b"").decode()
        return job.returncode

    def assert_nobody_left(self, within_s=0.0):
        end = time.monotonic() + within_s
        while True:
            left = [p for p in processes_with(self.mark) if state_of(p)]
            if not left or time.monotonic() > end:
                break
            time.sleep(0.02)
        self.assertEqual([(p, name_of(p), state_of(p)) for p in left], [], "processes are left")

    def members(self):
        """Living processes of this test's jobs by name."""
        found = {}
        for pid in processes_with(self.mark):
            if state_of(pid):
                found.setdefault(name_of(pid), []).append(pid)
        return found

    def roles(self, rank_name, rank_count):
        """Waits until all ranks run; pids of head, daemon, keeper."""
        launcher = ("dlrun", "dlrund", "dlrt-keeper")
        members = {}

        def are_there():
            # A test may have marked processes of its own that bear the ranks' name.
            members.update(self.members())
            ranks = len(members.get(rank_name, []))
            return ranks >= rank_count and all(name in members for name in launcher)

        wait_until(are_there)
        return tuple(members[name][0] for name in launcher)


def main():
    """Exit status 1 when a case failed; 77 when none did but some could not be run here."""
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped else 0)
