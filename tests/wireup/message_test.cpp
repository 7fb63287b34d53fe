// SPDX-License-Identifier: Apache-2.0
/// Control messages: the bytes of format.md, every type there and back, and damaged input.
#include "runtime/wireup/message.hpp"

#include "runtime/base/error_text.hpp"

#include <initializer_list>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

std::vector<ControlMessage> one_of_each() {
    const auto blob = bytes_of({0, 255, 7});
    return {
        Hello{1, 3, 258, "ab", false},
        Hello{2, 0xffffffff, -1, "", true},
        Welcome{7},
        Refused{"rank 3 is claimed by process 17"},
        Abort{-5, "no input"},
        Finalized{},
        PutAddress{"ofi", blob},
        GetAddress{12, "ofi"},
        Address{12, "ofi", blob},
        GetDoorbell{9},
        DoorbellReply{9},
        ConnectBack{9, "tcp/1", "no route to host"},
    };
}

}  // namespace

TEST_CASE("message: a hello has the bytes of format.md", "[wireup]") {
    const auto expected = bytes_of({0x44, 0x4c, 0x52, 0x4d, 1, 0, 1, 0, 0, 0,   3,   0, 0,
                                    0,    2,    1,    0,    0, 2, 0, 0, 0, 'a', 'b', 0});
    CHECK(encode_message(Hello{1, 3, 258, "ab", false}) == expected);
}

TEST_CASE("message: every type comes back equal", "[wireup]") {
    for (const ControlMessage& message : one_of_each()) {
        const auto decoded = decode_message(encode_message(message));
        REQUIRE(decoded.has_value());
        CHECK(*decoded == message);
    }
}

TEST_CASE("message: a cut or lengthened message is refused", "[wireup]") {
    for (const ControlMessage& message : one_of_each()) {
        auto bytes = encode_message(message);
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            const auto decoded = decode_message(Bytes(bytes).first(length));
            CHECK(decoded.error().code == Errc::wireup);
        }
        bytes.push_back(std::byte{0});
        CHECK(decode_message(bytes).error().code == Errc::wireup);
    }
}

TEST_CASE("message: foreign magic, unknown type and a bool of 2 are refused in words", "[wireup]") {
    auto bytes = encode_message(Hello{1, 3, 258, "ab", true});
    bytes.back() = std::byte{2};
    CHECK_FALSE(decode_message(bytes).has_value());
    CHECK_FALSE(decode_message(bytes_of({1, 2, 3, 4, 5, 6, 7})).has_value());
    CHECK(last_error_text() == "not a control message: it starts with 0x04030201");
    CHECK_FALSE(decode_message(bytes_of({0x44, 0x4c, 0x52, 0x4d, 99, 0})).has_value());
    CHECK(last_error_text() == "control message of unknown type 99");
}

TEST_CASE("message: a length beyond the end doesn't allocate", "[wireup]") {
    const auto bytes = bytes_of({0x44, 0x4c, 0x52, 0x4d, 3, 0, 0xff, 0xff, 0xff, 0xff, 'x'});
    CHECK(decode_message(bytes).error().code == Errc::wireup);
}

TEST_CASE("message: more than 64 KiB is refused", "[wireup]") {
    const std::vector<std::byte> bytes(control_message_bytes_max + 1);
    CHECK(decode_message(bytes).error().code == Errc::wireup);
}

}  // namespace dlrt
