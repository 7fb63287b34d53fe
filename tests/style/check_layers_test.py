# SPDX-License-Identifier: Apache-2.0
"""check_layers.py finds each planted forbidden include and accepts the allowed ones."""
import unittest

from planted_tree import HEADER, SOURCE, PlantedTree


class CheckLayers(PlantedTree):
    def plant_targets(self):
        for name in (
            "runtime/base/fd.hpp", "runtime/wireup/message.hpp", "runtime/engine.hpp",
            "runtime/api/handles.hpp", "transports/transport.hpp", "collectives/schedule.hpp",
            "launcher/daemon.hpp", "tests/support/fake.hpp", "runtime/include/dlrt.h",
        ):
            self.plant(name, HEADER)

    def assert_refused(self, path, include, reason):
        self.plant_targets()
        self.plant(path, SOURCE + "\n" + include + "\n")
        status, said = self.run_tool("check_layers.py")
        self.assertEqual(status, 1, said)
        self.assertIn(f"{path}:3:", said)
        self.assertIn(reason, said)

    def assert_allowed(self, path, include):
        self.plant_targets()
        self.plant(path, SOURCE + "\n" + include + "\n")
        self.assertEqual(self.run_tool("check_layers.py")[0], 0, (path, include))

    def test_every_arrow_that_the_picture_lacks_is_refused(self):
        for path, include in (
            ("runtime/base/a.cpp", "runtime/wireup/message.hpp"),
            ("runtime/wireup/a.cpp", "transports/transport.hpp"),
            ("transports/shm/a.cpp", "runtime/engine.hpp"),
            ("transports/shm/a.cpp", "collectives/schedule.hpp"),
            ("transports/shm/a.cpp", "runtime/wireup/message.hpp"),
            ("collectives/a.cpp", "transports/transport.hpp"),
            ("collectives/a.cpp", "runtime/engine.hpp"),
            ("runtime/a.cpp", "launcher/daemon.hpp"),
            ("runtime/a.cpp", "runtime/api/handles.hpp"),
            ("launcher/a.cpp", "runtime/engine.hpp"),
            ("launcher/a.cpp", "transports/transport.hpp"),
            ("launcher/a.cpp", "collectives/schedule.hpp"),
            ("runtime/a.cpp", "tests/support/fake.hpp"),
        ):
            with self.subTest(path=path, include=include):
                self.assert_refused(path, f'#include "{include}"', "may not use")
                (self.root / path).unlink()

    def test_every_arrow_of_the_picture_is_allowed(self):
        for path, include in (
            ("runtime/wireup/a.cpp", "runtime/base/fd.hpp"),
            ("transports/shm/a.cpp", "transports/transport.hpp"),
            ("collectives/a.cpp", "runtime/base/fd.hpp"),
            ("runtime/a.cpp", "collectives/schedule.hpp"),
            ("runtime/api/a.cpp", "runtime/engine.hpp"),
            ("launcher/a.cpp", "runtime/wireup/message.hpp"),
            ("tests/a.cpp", "launcher/daemon.hpp"),
            ("tools/a.cpp", "runtime/engine.hpp"),
        ):
            with self.subTest(path=path, include=include):
                self.assert_allowed(path, f'#include "{include}"')
                (self.root / path).unlink()

    def test_third_parties_stay_behind_their_fences(self):
        for path, header in (
            ("runtime/a.cpp", "boost/asio.hpp"), ("launcher/a.cpp", "boost/asio/ip/tcp.hpp"),
            ("runtime/a.cpp", "CLI/CLI.hpp"), ("runtime/a.cpp", "hwloc.h"),
            ("transports/shm/a.cpp", "rdma/fabric.h"), ("runtime/a.cpp", "cuda_runtime.h"),
            ("runtime/engine.cpp", "nlohmann/json.hpp"), ("runtime/a.cpp", "catch2/catch.hpp"),
            ("runtime/a.cpp", "openssl/hmac.h"), ("launcher/a.cpp", "spdlog/spdlog.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_refused(path, f"#include <{header}>", header)
                (self.root / path).unlink()
        self.assert_allowed("launcher/event_loop.cpp", "#include <boost/asio/io_context.hpp>")
        self.assert_allowed("transports/ofi/domain.cpp", "#include <rdma/fabric.h>")
        self.assert_allowed("runtime/reduce_op.cu", "#include <cuda_runtime.h>")

    def test_schedules_know_no_clock_thread_or_file(self):
        for header in ("chrono", "thread", "atomic", "fstream", "unistd.h", "sys/socket.h"):
            with self.subTest(header=header):
                self.assert_refused("collectives/a.cpp", f"#include <{header}>", "no clock")

    def test_quoted_includes_are_paths_from_the_root(self):
        self.assert_refused("runtime/base/a.cpp", '#include "fd.hpp"', "not a path from the root")

    def test_includes_in_comments_do_not_count(self):
        self.assert_allowed("runtime/base/a.cpp", '// #include "runtime/engine.hpp"')


if __name__ == "__main__":
    unittest.main()
