// SPDX-License-Identifier: Apache-2.0
#include "tests/transports/conformance.hpp"

#include "tests/support/fake_transport.hpp"
#include "tests/transports/shm_area.hpp"
#include "tests/transports/tcp_network.hpp"
#include "transports/loopback/loopback.hpp"

#include <catch2/catch.hpp>

namespace dlrt::testing {
namespace {

class LoopbackRig final : public Rig {
  public:
    [[nodiscard]] std::uint32_t size() const override { return 1; }
    [[nodiscard]] Endpoint& endpoint(std::uint32_t) override { return *endpoint_; }
    [[nodiscard]] PeerIndex index(std::uint32_t) const override { return PeerIndex{0}; }

  private:
    std::unique_ptr<Endpoint> endpoint_ = loopback::open_endpoint();
};

class ShmRig final : public Rig {
  public:
    explicit ShmRig(std::uint32_t size) : area_(size) {
        for (std::uint32_t rank = 0; rank < size; ++rank) endpoints_.push_back(area_.open(rank));
    }
    [[nodiscard]] std::uint32_t size() const override { return area_.local_size(); }
    [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override { return *endpoints_[rank]; }
    [[nodiscard]] PeerIndex index(std::uint32_t peer) const override { return PeerIndex{peer}; }

  private:
    ShmArea area_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

class TcpRig final : public Rig {
  public:
    explicit TcpRig(std::uint32_t size) : network_(size) { network_.connect_all(); }
    [[nodiscard]] std::uint32_t size() const override { return network_.size(); }
    [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override {
        return network_.endpoint(rank);
    }
    [[nodiscard]] PeerIndex index(std::uint32_t peer) const override { return PeerIndex{peer}; }

  private:
    TcpNetwork network_;
};

class FakeRig final : public Rig {
  public:
    FakeRig(std::uint32_t size, FakeOptions options) : network_(size, std::move(options)) {
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            endpoints_.push_back(network_.open_endpoint(rank));
        }
    }
    [[nodiscard]] std::uint32_t size() const override {
        return static_cast<std::uint32_t>(endpoints_.size());
    }
    [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override { return *endpoints_[rank]; }
    [[nodiscard]] PeerIndex index(std::uint32_t peer) const override { return PeerIndex{peer}; }

  private:
    FakeNetwork network_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace

TEST_CASE("loopback: does what every transport must", "[transports]") {
    check_conformance([] { return std::make_unique<LoopbackRig>(); });
}

TEST_CASE("shm: does what every transport must, with 2 ranks", "[transports]") {
    check_conformance([] { return std::make_unique<ShmRig>(2); });
}

TEST_CASE("shm: does what every transport must, with a rank that talks to itself", "[transports]") {
    check_conformance([] { return std::make_unique<ShmRig>(1); });
}

TEST_CASE(
    "shm: does what every transport must, with more peers than are polled at once", "[transports]"
) {
    check_conformance([] { return std::make_unique<ShmRig>(12); });
}

TEST_CASE("tcp: does what every transport must", "[transports]") {
    const auto size = GENERATE(2u, 7u);
    check_conformance([=] { return std::make_unique<TcpRig>(size); });
}

TEST_CASE("fake: does what every transport must, for several seeds", "[transports]") {
    const auto seed = GENERATE(1u, 2u, 3u);
    const auto get = GENERATE(FakeGet::granted, FakeGet::refused, FakeGet::refused_later);
    check_conformance([=] {
        FakeOptions options;
        options.seed = seed;
        options.get = get;
        return std::make_unique<FakeRig>(3, std::move(options));
    });
}

}  // namespace dlrt::testing
