// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/byte_io.hpp"

#include <initializer_list>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

}  // namespace

TEST_CASE("byte io: numbers are little endian and take their own size", "[base]") {
    ByteWriter out;
    out.number(std::uint8_t{0x12});
    out.number(std::uint16_t{0x3456});
    out.number(std::uint32_t{0x789abcde});
    out.number(std::uint64_t{0x0102030405060708});
    const auto right = bytes_of(
        {0x12, 0x56, 0x34, 0xde, 0xbc, 0x9a, 0x78, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01}
    );
    const std::vector<std::byte> bytes = out.take();
    CHECK(bytes == right);
    ByteReader in(bytes);
    CHECK(in.number<std::uint8_t>() == 0x12);
    CHECK(in.number<std::uint16_t>() == 0x3456);
    CHECK(in.number<std::uint32_t>() == 0x789abcde);
    CHECK(in.number<std::uint64_t>() == 0x0102030405060708);
    CHECK(in.is_at_end());
}

TEST_CASE("byte io: a string is its length in four bytes and its letters", "[base]") {
    ByteWriter out;
    out.text("ab");
    out.text("");
    const std::vector<std::byte> bytes = out.take();
    CHECK(bytes == bytes_of({2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0}));
    ByteReader in(bytes);
    CHECK(in.text() == "ab");
    CHECK(in.text().empty());
    CHECK(in.is_at_end());
}

TEST_CASE("byte io: after the first read that does not fit, nothing more is read", "[base]") {
    const auto bytes = bytes_of({1, 2, 3});
    ByteReader in(bytes);
    CHECK(in.number<std::uint32_t>() == 0);
    CHECK_FALSE(in.ok());
    CHECK(in.number<std::uint8_t>() == 0);
    CHECK(in.size_left() == 0);
    CHECK_FALSE(in.is_at_end());
}

TEST_CASE("byte io: a length beyond the end allocates nothing", "[base]") {
    const auto bytes = bytes_of({0xff, 0xff, 0xff, 0xff, 'a'});
    ByteReader text(bytes);
    CHECK(text.text().empty());
    CHECK_FALSE(text.ok());
    ByteReader blob(bytes);
    CHECK(blob.blob().capacity() == 0);
    CHECK_FALSE(blob.ok());
}

TEST_CASE("byte io: a count is refused when its items can't be in what is left", "[base]") {
    const auto bytes = bytes_of({2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
    ByteReader fits(bytes);
    CHECK(fits.count(4) == 2);
    CHECK(fits.ok());
    ByteReader misfits(bytes);
    CHECK(misfits.count(5) == 0);
    CHECK_FALSE(misfits.ok());
}

TEST_CASE("byte io: a truth value other than 0 and 1 is a misfit", "[base]") {
    const auto bytes = bytes_of({0, 1, 2});
    ByteReader in(bytes);
    CHECK_FALSE(in.boolean());
    CHECK(in.boolean());
    CHECK(in.ok());
    CHECK_FALSE(in.boolean());
    CHECK_FALSE(in.ok());
}

}  // namespace dlrt
