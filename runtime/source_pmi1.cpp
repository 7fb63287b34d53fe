// SPDX-License-Identifier: Apache-2.0
/// PMI-1's key-value space as the store of a host group.
#include "runtime/source_pmi1.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/host_group.hpp"
#include "runtime/pmi1_client.hpp"

#include <atomic>
#include <cstdlib>
#include <optional>
#include <utility>

namespace dlrt {
namespace {

/// PMI-1 lets a process in once: after its finalize the launcher listens no more.
constinit std::atomic<bool> has_left{false};

class Pmi1Source final : public WireupSource {
  public:
    explicit Pmi1Source(int timeout_ms) : timeout_ms_(timeout_ms), client_(timeout_ms) {}

    [[nodiscard]] std::string_view name() const override { return "pmi1"; }
    [[nodiscard]] Result<Membership> join() override {
        if (has_left.load(std::memory_order_relaxed)) {
            return fail(
                Errc::wireup,
                "this process has left its job; a launcher with PMI-1 lets nobody in "
                "a second time (dlrun does)"
            );
        }
        if (Status status = client_.connect(); !status.ok()) return status;
        Exchange exchange{
            client_.rank(), client_.size(),
            [this](const std::string& key, const std::string& value) {
                return client_.put(key, value);
            },
            [this] { return client_.barrier(); },
            [this](const std::string& key) { return client_.get(key); }};
        group_.emplace(std::move(exchange), "dlrt-", timeout_ms_);
        return group_->join();
    }
    void abort(std::int32_t code, std::string_view) override { client_.abort(code); }
    Status leave() override {
        if (group_) group_->leave();
        has_left.store(true, std::memory_order_relaxed);
        return client_.finalize();
    }
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) override {
        return group_ ? group_->doorbell_of(local_rank) : -1;
    }
    [[nodiscard]] std::string shared_secret() const override {
        return group_ ? group_->shared_secret() : std::string();
    }
    Status put_address(const std::string& transport, Bytes address) override {
        return group_->put_address(transport, address);
    }
    [[nodiscard]] std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    ) override {
        return group_ ? group_->address_of(rank, transport) : std::nullopt;
    }
    [[nodiscard]] int news_descriptor() const override {
        return group_ ? group_->news_descriptor() : -1;
    }
    void take_news() override {
        if (group_) group_->take_news();
    }
    void abandon() noexcept override {
        client_.close();
        if (group_) group_->abandon();
    }

  private:
    int timeout_ms_;
    Pmi1Client client_;
    std::optional<HostGroup> group_;
};

}  // namespace

bool has_pmi1_launcher() {
    return std::getenv("PMI_FD") != nullptr || std::getenv("PMI_PORT") != nullptr;
}

std::unique_ptr<WireupSource> make_pmi1_source(int timeout_ms) {
    return std::make_unique<Pmi1Source>(timeout_ms);
}

}  // namespace dlrt
