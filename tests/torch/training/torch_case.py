# SPDX-License-Identifier: Apache-2.0
"""What tests of training share: where things are, jobs of Python ranks with a time limit, and ranks
that are forked from this process, so that torch is imported once for all of them."""
import atexit
import ctypes
import faulthandler
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import time
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[2]
SEED = TOP.parent / "shared" / "seed"
DLRUN = os.environ.get("DLRUN", "dlrun")
# The folder with the package dlrt_torch, as built.
PACKAGE_PATH = os.environ.get("TORCH_PACKAGE_PATH", "")
BACKEND = os.environ.get("TORCH_TEST_BACKEND", "dlrt")
# A surrounding job's, and what makes Python write a line in two parts.
FOREIGN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "PYTHONUNBUFFERED")
SKIPPED = 77
JOB_LIMIT_S = 240


def environment(**added):
    # dlrun looks at DLRT_ names; the caller's own jobs are no business of the test's.
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("DLRT_") and name not in FOREIGN}
    paths = [PACKAGE_PATH, kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    kept.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", GLOO_SOCKET_IFNAME="lo",
                TORCH_TEST_BACKEND=BACKEND, **added)
    return kept


class Job:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds


class TorchCase(unittest.TestCase):
    def run_program(self, words, limit_s=JOB_LIMIT_S, folder=None, **added):
        begin = time.monotonic()
        # A group of its own: with a time limit nobody is left.
        process = subprocess.Popen(
            [str(word) for word in words], env=environment(**added), cwd=folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"{words} took over {limit_s} s: {process.communicate()}")
        return Job(process.returncode, out, err, time.monotonic() - begin)

    def run_ranks(self, ranks, program, *words, limit_s=JOB_LIMIT_S, **added):
        """One process for each rank under dlrun."""
        return self.run_program(
            [DLRUN, "-np", ranks, sys.executable, program, *words], limit_s=limit_s, **added)

    def assert_checks_pass(self, ranks, program, *checks, **added):
        job = self.run_ranks(ranks, HERE / program, *checks, **added)
        self.assertEqual(job.status, 0, job.out + job.err)
        passed = [line.split()[1] for line in job.out.splitlines() if line.startswith("ok ")]
        if checks:
            self.assertEqual(passed, list(checks), job.out + job.err)
        self.assertNotEqual(passed, [], job.out + job.err)
        return job


class Answer:
    """What a forked rank returned, or how it raised or died, and when."""

    def __init__(self, value=None, error=None, status=None, seconds=0.0):
        self.value, self.error, self.status, self.seconds = value, error, status, seconds

    def __repr__(self):
        return f"Answer({self.value!r}, {self.error!r}, {self.status}, {self.seconds:.1f} s)"


def run_in_child(writing, function, rank, arguments, limit_s):
    # Where it hangs is then in the test's log.
    faulthandler.dump_traceback_later(limit_s * 0.9)
    try:
        value, error = function(rank, *arguments), None
    except BaseException as failure:  # noqa: B902  (the parent judges it)
        value, error = None, f"{type(failure).__name__}: {failure}"
        if os.environ.get("TORCH_TEST_TRACE"):
            traceback.print_exc()
    faulthandler.cancel_dump_traceback_later()
    data = pickle.dumps((value, error))
    os.write(writing, data)
    os.close(writing)
    # As a program that ends does, for what the backend leaves to that; sys.exit() would end in the
    # test runner, of which this process has a copy.
    atexit._run_exitfuncs()
    ctypes.CDLL(None).exit(0)


def fork_rank(function, rank, arguments, limit_s):
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        run_in_child(writing, function, rank, arguments, limit_s)
    os.close(writing)
    return pid, reading


def collect(pid, reading, begin, limit_s):
    """None for the status of one that had to be killed."""
    data, is_late = b"", False
    while True:
        left_s = begin + limit_s - time.monotonic()
        if not select.select([reading], [], [], max(left_s, 0))[0]:
            is_late = True
            break
        part = os.read(reading, 65536)
        if not part:
            break
        data += part
    seconds = time.monotonic() - begin
    os.close(reading)
    status = None
    while status is None:
        ended, word = os.waitpid(pid, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(word)
        elif is_late or time.monotonic() > begin + limit_s:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return Answer(error="did not end", seconds=seconds)
        else:
            time.sleep(0.01)
    value, error = pickle.loads(data) if data else (None, f"died with status {status}")
    return Answer(value, error, status, seconds)


def fork_ranks(size, function, *arguments, limit_s=60):
    """Runs function(rank, *arguments) in `size` processes; their answers in the order of ranks."""
    begin = time.monotonic()
    started = [fork_rank(function, rank, arguments, limit_s) for rank in range(size)]
    return [collect(pid, reading, begin, limit_s) for pid, reading in started]


def free_port():
    import socket
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main():
    """Exit status 1 when a case failed; 77 when none did but some could not be run here."""
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped else 0)
