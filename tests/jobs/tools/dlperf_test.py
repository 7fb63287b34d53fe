# SPDX-License-Identifier: Apache-2.0
"""Every test of dlperf runs, validates what it moves, and says so in lines that a machine reads.

usage: dlperf_test.py DLRUN DLPERF
"""
import json
import subprocess
import sys

DLRUN, DLPERF = sys.argv[1:]
QUICK = ["--json", "--validate", "--batches", "1", "--window", "8", "--wait", "1"]
# test: (ranks, options, the sizes of its results)
EXPECTED = {
    "latency": (2, ["--sizes", "1:4096"], [2**i for i in range(13)]),
    "bandwidth": (2, ["--sizes", "1:65", "--step", "4", "--one-more"],
                  [1, 2, 4, 5, 16, 17, 64, 65]),
    "both_ways": (4, ["--sizes", "8:8"], [8]),
    "rate": (4, [], [8]),
    "ring": (3, [], [3]),
    "matching": (2, [], [10, 100, 1000, 10000]),
    "threads": (2, ["--threads", "3"], [3]),
    "start": (2, [], []),
    "memory": (3, [], [3, 3]),
    "waiting": (3, [], [3] * 6),
    "barrier": (3, [], [3]),
    "begun_barrier": (3, [], [3]),
    **{name: (3, ["--sizes", "2:64", "--rotate"], [4, 8, 16, 32, 64])
       for name in ("broadcast", "reduce", "all_reduce", "all_gather", "gather", "scatter")},
    **{name: (3, ["--sizes", "4:1024", "--step", "16"], [4, 64, 1024])
       for name in ("begun_all_reduce", "reduce_scatter", "scan", "exclusive_scan", "all_gatherv",
                    "all_to_all", "all_to_allv")},
}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def check_results():
    listed = [line.split()[0] for line in run(DLPERF, "--help").stdout.split("Tests:")[1]
              .split("Options:")[0].splitlines() if line.strip()]
    assert sorted(listed) == sorted([*EXPECTED, "limits", "launch"]), listed
    for test, (ranks, options, sizes) in EXPECTED.items():
        job = run(DLRUN, "-np", str(ranks), DLPERF, *QUICK, *options, test)
        assert job.returncode == 0, f"{test}: status {job.returncode}\n{job.stderr}"
        results = [json.loads(line) for line in job.stdout.splitlines()]
        assert [result["size"] for result in results] == sizes, (test, job.stdout)
        for result in results:
            assert result["value"] >= 0 and result["unit"], result
            assert result["library"] == "dlrt" and result["ranks"] == ranks, result


def check_heap():
    job = run(DLRUN, "-np", "2", DLPERF, *QUICK, "--heap", "--rotate", "--sizes", "65536:65536",
              "all_reduce", "latency")
    assert job.returncode == 0, job.stderr
    results = [json.loads(line) for line in job.stdout.splitlines()]
    assert [result["memory"] for result in results] == ["heap", "heap"], results


def check_launch():
    done = run(DLPERF, "--json", "--batches", "1", "--ranks", "1:2", "launch", "--", DLRUN)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(result["test"], result["size"]) for result in results] == [
        ("launch_true", 1), ("launch_start", 1), ("launch_true", 2), ("launch_start", 2)], results
    assert all(result["value"] > 0 and result["unit"] == "ms" for result in results), results
    for launcher, text in (["false"], "'false -np 1' failed"), (["/no/such"], "No such file"):
        failed = run(DLPERF, "launch", "--", *launcher)
        assert failed.returncode == 1, failed.returncode
        assert text in failed.stderr, failed.stderr


def check_refusals():
    for words, text in [
        ([], "a test is missing"),
        (["lateny"], "there is no test 'lateny'"),
        (["--sizes", "8", "latency"], "--sizes: '8' is not valid; valid is FROM:TO"),
        (["--sizes", "9:8", "latency"], "FROM <= TO"),
        (["--sizes", "0:8", "latency"], "--sizes: '0' is not valid; valid are 1 to"),
        (["--ranks", "4", "launch"], "--ranks: '4' is not valid; valid is FROM:TO"),
        (["launch"], "a launcher is missing"),
        (["--step", "1", "latency"], "--step: '1' is not valid; valid are 2 to"),
        (["--batches", "x", "latency"], "--batches: 'x' is not valid"),
        (["--window", "5000", "latency"], "valid are 1 to 4096"),
        (["--wait", "-1", "waiting"], "--wait: '-1' is not valid"),
        (["--nonsense", "latency"], "nonsense"),
    ]:
        refused = run(DLPERF, *words)
        assert refused.returncode == 2, (words, refused.returncode)
        assert text in refused.stderr, (words, refused.stderr)
        assert refused.stdout == "", (words, refused.stdout)
    for ranks, test, needs in [("3", "latency", "2 ranks"), ("3", "rate", "an even number")]:
        refused = run(DLRUN, "-np", ranks, DLPERF, test)
        assert refused.returncode == 2, refused.returncode
        assert f"{test} needs {needs}" in refused.stderr, refused.stderr


check_results()
check_heap()
check_launch()
check_refusals()
