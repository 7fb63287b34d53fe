// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/result.hpp"

#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <memory>

#include <catch2/catch.hpp>

namespace dlrt {

TEST_CASE("result: holds a move-only value or the status that says why not", "[base]") {
    Result<std::unique_ptr<int>> good = std::make_unique<int>(7);
    REQUIRE(good.has_value());
    CHECK(good.error().ok());
    std::unique_ptr<int> taken = *std::move(good);
    CHECK(*taken == 7);

    Result<std::unique_ptr<int>> bad = fail(Errc::rank, "rank {} is not in 0..{}", 9, 3);
    REQUIRE_FALSE(bad.has_value());
    CHECK(bad.error().code == Errc::rank);
    CHECK(last_error_text() == "rank 9 is not in 0..3");
}

TEST_CASE("error text: a failed system call carries errno and its text", "[base]") {
    const Status status = fail_errno(ENOENT, "open '{}'", "x");
    CHECK(status.code == Errc::system);
    CHECK(status.os_error == ENOENT);
    CHECK(last_error_text() == "open 'x': No such file or directory");
}

TEST_CASE("error text: unknown codes have a name too", "[base]") {
    CHECK(errc_name(static_cast<Errc>(-5)) == "ERR_UNKNOWN");
    CHECK(errc_name(static_cast<Errc>(9999)) == "ERR_UNKNOWN");
    CHECK(errc_name(Errc::timeout) == "ERR_TIMEOUT");
}

}  // namespace dlrt
