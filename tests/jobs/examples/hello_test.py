# SPDX-License-Identifier: Apache-2.0
"""hello prints one line per rank and the token's count, nothing else on its standard output.

usage: hello_test.py DLRUN RANKS PROGRAM
"""
import subprocess
import sys

dlrun, ranks, program = sys.argv[1:]
job = subprocess.run(
    [dlrun, "-np", ranks, program], capture_output=True, text=True, timeout=50, check=False)
expected = [f"hello from rank {rank} of {ranks}" for rank in range(int(ranks))]
expected.append(f"the token counted {ranks} ranks")
if job.returncode != 0 or sorted(job.stdout.splitlines()) != sorted(expected):
    sys.exit(f"status {job.returncode}\n{job.stdout}\n{job.stderr}")
