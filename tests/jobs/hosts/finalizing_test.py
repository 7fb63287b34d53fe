# SPDX-License-Identifier: Apache-2.0
"""Case E06 over hosts, each rank on one of its own. usage: finalizing_test.py PROGRAM"""
import sys

from hosts_case import HERE, HostsCase, main

sys.path.append(str(HERE.parent / "cases"))

import finalize_test  # noqa: E402

del sys.argv[1:]
START_S = 10


class FinalizeOverHosts(HostsCase, finalize_test.Finalize):
    def expect(self, part, size=2, status=0, limit_s=5.0):
        return super().expect(part, size, status, limit_s + START_S)

    def run_job(self, *words, **options):
        return super().run_job("--hostfile", self.all_hosts(1), *words, **options)


if __name__ == "__main__":
    main()
