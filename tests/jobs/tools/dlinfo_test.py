# SPDX-License-Identifier: Apache-2.0
"""dlinfo says what is here, in words and as JSON, and refuses what it doesn't know.

usage: dlinfo_test.py DLINFO OLD_TABLE (of before tables said where they were measured)
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

from copy_tables import measured_here, write_table

DLINFO, OLD_TABLE = sys.argv[1:]
SECTIONS = [
    "cpus", "transports", "copy-table", "collective-table", "settings", "limits", "mpi",
]


def run(*words, low_descriptors=None, **variables):
    def lower():
        if low_descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (low_descriptors, low_descriptors))

    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("DLRT_", "XDG_"))}
    # A table of whoever runs the test is not to be found.
    environment["HOME"] = "/nonexistent"
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
        "loopback", "shm", "shm cross-memory attach", "tcp"]
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


def check_copy_table_places():
    with tempfile.TemporaryDirectory() as folder:
        user = pathlib.Path(folder, "dlrt/copy_table.json")
        user.parent.mkdir()
        named = write_table(folder + "/named.json", measured_here(), fragment_bytes=2048)

        def look(**variables):
            found = facts("copy-table", XDG_CONFIG_HOME=folder, **variables)["copy-table"]
            return found, {place["name"]: place for place in found["places"]}

        found, places = look()
        assert list(places) == ["DLRT_COPY_TABLE", "user", "system", "built in"], places
        assert [place["state"] for place in places.values()] == [
            "no such place", "absent", "absent", "in force"], places
        assert places["user"]["path"] == str(user), places
        assert places["system"]["path"].endswith("/etc/dlrt/copy_table.json"), places
        assert found["in_force"] == "built in"

        write_table(user, measured_here(), fragment_bytes=4096)
        found, places = look()
        assert found["in_force"] == str(user) and places["user"]["state"] == "in force", found
        assert places["built in"]["state"] == "not reached", places
        assert found["table"]["rows"][0]["fragment_bytes"] == 4096, found
        assert found["table"]["measured_on"] == measured_here(), found

        found, places = look(DLRT_COPY_TABLE=named)
        assert found["in_force"] == named and places["user"]["state"] == "not reached", found
        assert found["table"]["rows"][0]["fragment_bytes"] == 2048, found

        unmeasured = "field 'measured_on' is missing"
        for text, reason in [("{}", unmeasured),
                             (pathlib.Path(OLD_TABLE).read_text(), unmeasured),
                             ("{", "line 1: not JSON")]:
            user.write_text(text)
            found, places = look()
            assert found["in_force"] == "built in", found
            assert places["user"]["state"] == "passed over", places
            assert places["user"]["reason"].startswith(reason), places
            found, places = look(DLRT_COPY_TABLE=str(user))
            assert found["in_force"] is None and "table" not in found, found
            assert places["DLRT_COPY_TABLE"]["state"] == "refused", places
            assert places["built in"]["state"] == "not reached", places
        words = run("copy-table", XDG_CONFIG_HOME=folder).stdout
        assert f"user             passed over   {user}: line 1: not JSON\n" in words, words
        assert "  in force: built in\n" in words, words

        write_table(user, {**measured_here(), "online_cpus": 100000}, fragment_bytes=4096)
        found, places = look()
        assert places["user"]["state"] == "passed over", places
        assert places["user"]["reason"].startswith("measured on a host with 100000 cpus"), places


def check_limits():
    heap = {limit["name"]: limit for limit in facts("limits", DLRT_HEAP_BYTES="5m")["limits"]}
    assert heap["shared heap"]["value"] == str(5 << 20) and heap["shared heap"]["will_bite"]
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
check_copy_table_places()
check_limits()
check_refusals()
