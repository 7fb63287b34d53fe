# SPDX-License-Identifier: Apache-2.0
"""Ranks that are forked from the process of a test, so that torch is imported once for all of them.
They come together by torch's store alone; whatever one returns or raises is its answer."""
import atexit
import ctypes
import faulthandler
import os
import pickle
import select
import signal
import sys
import time
import traceback


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
