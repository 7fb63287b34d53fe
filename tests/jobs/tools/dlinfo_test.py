# SPDX-License-Identifier: Apache-2.0
"""dlinfo says what is here, in words and as JSON, and refuses what it doesn't know.

usage: dlinfo_test.py DLINFO DLTUNE_TABLE
"""
import json
import os
import resource
import subprocess
import sys

DLINFO, TABLE = sys.argv[1:]
SECTIONS = ["cpus", "transports", "copy-table", "settings", "limits"]


def run(*words, low_descriptors=None, **variables):
    def lower():
        if low_descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (low_descriptors, low_descriptors))

    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("DLRT_")}
    return subprocess.run([DLINFO, *words], capture_output=True, text=True, timeout=30,
                          check=False, env={**environment, **variables}, preexec_fn=lower)


def facts(*words, **variables):
    done = run("--json", *words, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_facts():
    everything = facts()
    assert list(everything) == SECTIONS, list(everything)
    assert everything["cpus"]["allowed"] == sorted(os.sched_getaffinity(0)), everything["cpus"]
    assert [transport["name"] for transport in everything["transports"]] == [
        "loopback", "shm", "shm cross-memory attach"]
    assert everything["copy-table"]["in_force"] == "built in"
    assert everything["copy-table"]["table"]["rows"][0]["size_bytes_min"] == 0
    assert list(facts("limits")) == ["limits"]
    for section in SECTIONS:
        assert f"{section}:\n" in run().stdout, section


def check_origins():
    settings = {setting["name"]: setting for setting in facts("settings",
                                                              DLRT_SPIN_US="7")["settings"]}
    assert settings["DLRT_SPIN_US"]["value"] == "7"
    assert settings["DLRT_SPIN_US"]["origin"] == "environment"
    assert settings["DLRT_LOG"]["origin"] == "standard"
    attach = facts("transports", DLRT_CMA="0")["transports"][2]
    assert attach["is_used"] is False and attach["reason"] == "DLRT_CMA=0", attach
    named = facts("copy-table", DLRT_COPY_TABLE=TABLE)["copy-table"]
    assert named["in_force"] == TABLE
    assert named["table"]["rows"][1]["size_bytes_min"] == 4096, named
    damaged = facts("copy-table", DLRT_COPY_TABLE="/dev/null")["copy-table"]
    assert "/dev/null" in damaged["error"], damaged


def check_limits():
    low = {limit["name"]: limit for limit in facts("limits", low_descriptors=100)["limits"]}
    # (100 - 64 of the daemon) / 6 of a rank.
    assert low["descriptors"]["meaning"].startswith("about 6 ranks"), low
    assert low["descriptors"]["will_bite"] is True


def check_refusals():
    for words, variables, text in [
        (["cpu"], {}, "'cpu' is no section"),
        (["--jsno"], {}, "'--jsno' is no section and no option"),
        ([], {"DLRT_LOG": "loud"}, "DLRT_LOG"),
        ([], {"DLRT_SPIN": "1"}, "DLRT_SPIN_US"),
    ]:
        refused = run(*words, **variables)
        assert refused.returncode == 2, (words, refused.returncode)
        assert text in refused.stderr and refused.stderr.count("\n") == 1, refused.stderr
        assert refused.stdout == "", refused.stdout


check_facts()
check_origins()
check_limits()
check_refusals()
