// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/fd.hpp"

#include <array>
#include <fcntl.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

bool is_open(int descriptor) {
    return ::fcntl(descriptor, F_GETFD) >= 0;
}

Fd open_null() {
    return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

TEST_CASE("fd: closes when it is destroyed", "[base]") {
    int descriptor = -1;
    {
        const Fd file = open_null();
        descriptor = file.get();
        REQUIRE(is_open(descriptor));
    }
    CHECK_FALSE(is_open(descriptor));
}

TEST_CASE("fd: a move leaves one owner", "[base]") {
    Fd first = open_null();
    const int descriptor = first.get();
    Fd second = std::move(first);
    CHECK_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move)
    CHECK(second.get() == descriptor);

    Fd third = open_null();
    const int replaced = third.get();
    third = std::move(second);
    CHECK_FALSE(is_open(replaced));
    CHECK(third.get() == descriptor);
    CHECK(is_open(descriptor));
}

TEST_CASE("fd: moved to itself it stays open", "[base]") {
    Fd file = open_null();
    Fd& same = file;
    file = std::move(same);
    CHECK(is_open(file.get()));
}

TEST_CASE("fd: what is released is not closed", "[base]") {
    int descriptor = -1;
    {
        Fd file = open_null();
        descriptor = file.release();
        CHECK_FALSE(file.is_open());
    }
    CHECK(is_open(descriptor));
    ::close(descriptor);
}

}  // namespace dlrt
