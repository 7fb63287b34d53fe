# SPDX-License-Identifier: Apache-2.0
"""torch.distributed on dlrt: importing this registers the backend "dlrt".

    import torch.distributed as dist
    import dlrt_torch

    dist.init_process_group("dlrt")

Under dlrun nothing else is needed: the ranks find each other through it (dlrun://, which is also
what no init_method and env:// mean there). Elsewhere the usual ways work: env://, tcp://, file://
and a store of your own.
"""
import atexit
import importlib
import os
import time
from datetime import timedelta
from urllib.parse import parse_qsl, urlparse

import torch.distributed as dist

from . import _backend

__all__ = ["is_under_dlrun", "monitored_barrier"]

_default_timeout = timedelta(minutes=30)
_old_store_limit_s = 2
_job_store = None
_rounds = 0


def is_under_dlrun():
    """Whether dlrun has started this process."""
    return _backend.place_in_job() is not None


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A barrier whose error names who hasn't come: at rank 0 one of them, or all.

    torch.distributed.monitored_barrier of torch 1.13 refuses every backend but gloo.
    """
    group = dist.group.WORLD if group is None else group
    if group is None:
        raise RuntimeError("the default process group has not been initialised")
    timeout = _default_timeout if timeout is None else timeout
    return group.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)


def _make_backend(options, _):
    return _backend.make_backend(options)


def _open_job_store(rank, size, timeout):
    """The one store of a job: rank 0 serves it at a port that the system chooses, and tells the
    others through dlrt."""
    global _job_store
    if _job_store is not None:
        return
    host = os.environ.get("MASTER_ADDR", "127.0.0.1")
    if rank == 0:
        store = dist.TCPStore(host, 0, size, True, timeout, wait_for_workers=False)
        _backend.tell_all(store.port, timeout)
    else:
        port = _backend.tell_all(0, timeout)
        store = dist.TCPStore(host, port, size, False, timeout)
    _job_store = store


def _dlrun_handler(url, timeout=_default_timeout, **_):
    global _rounds
    place = _backend.place_in_job()
    if place is None:
        raise ValueError("dlrun:// needs dlrun: start the ranks by dlrun -np N, or use env://")
    rank, size = place
    asked = dict(parse_qsl(urlparse(url).query))
    for name, own in (("rank", rank), ("world_size", size)):
        if int(asked.get(name, own)) not in (own, -1):
            raise ValueError(
                "dlrun://: this process has {} {}, not {}".format(name, own, asked[name]))
    _backend.join_job()
    _open_job_store(rank, size, timeout)
    _rounds += 1
    yield dist.PrefixStore("init{}".format(_rounds), _job_store), rank, size
    raise RuntimeError("dlrun:// can't meet again")


def _with_a_store_of_now(usual, url, **options):
    """As the usual handler. But when groups are destroyed and made again, a rank that is quicker
    than rank 0 would meet the store of before, which is about to go."""
    end = time.monotonic() + _old_store_limit_s
    while True:
        try:
            store, rank, size = next(usual(url, **options))
            mark = "dlrt/met/{}/{}".format(rank, os.getpid())
            if rank == 0 or store.add(mark, 1) == 1 or time.monotonic() > end:
                break
        except RuntimeError:
            # It went in this moment, or nobody serves one in time.
            if time.monotonic() > end:
                raise
        store = None
        time.sleep(0.005)
    yield store, rank, size
    raise RuntimeError("torch can't meet again")


def _tcp_handler(url, **options):
    yield from _with_a_store_of_now(_usual_tcp_handler, url, **options)


def _env_handler(url, **options):
    """As before, but that under dlrun nobody must serve a port that others may have taken."""
    place = _backend.place_in_job()
    asked = dict(parse_qsl(urlparse(url).query))
    named = (int(asked.get("rank", os.environ.get("RANK", -1))),
             int(asked.get("world_size", os.environ.get("WORLD_SIZE", -1))))
    if place is not None and named == place:
        yield from _dlrun_handler(url, **options)
    elif os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == str(True):
        # That store is not a rank's, and stays.
        yield from _usual_env_handler(url, **options)
    else:
        yield from _with_a_store_of_now(_usual_env_handler, url, **options)


# torch.distributed.rendezvous is the function, by the name of its module.
_rendezvous = importlib.import_module("torch.distributed.rendezvous")
_usual_env_handler = _rendezvous._rendezvous_handlers["env"]
_usual_tcp_handler = _rendezvous._rendezvous_handlers["tcp"]
_rendezvous._rendezvous_handlers["env"] = _env_handler
_rendezvous._rendezvous_handlers["tcp"] = _tcp_handler
dist.register_rendezvous_handler("dlrun", _dlrun_handler)
if int(_backend.torch_version.split(".")[0]) >= 2:
    dist.Backend.register_backend("dlrt", _make_backend, extended_api=True, devices=["cpu"])
else:
    dist.Backend.register_backend("dlrt", _make_backend, extended_api=True)
atexit.register(_backend.leave_all)
