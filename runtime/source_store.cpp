// SPDX-License-Identifier: Apache-2.0
/// The caller's store as the launcher's.
#include "runtime/base/error_text.hpp"
#include "runtime/host_group.hpp"
#include "runtime/wireup_source.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace dlrt {
namespace {

/// Joins of this process so far: keys of an earlier one must not be found by a later.
constinit std::atomic<std::uint32_t> join_count{0};

class StoreSource final : public WireupSource {
  public:
    StoreSource(KeyValueStore store, int timeout_ms)
        : store_(std::move(store)), timeout_ms_(timeout_ms) {}

    [[nodiscard]] std::string_view name() const override { return "store"; }
    [[nodiscard]] Result<Membership> join() override {
        if (!store_.put || !store_.get) {
            return fail(Errc::argument, "a key-value store needs both put and get");
        }
        const std::uint32_t number = join_count.fetch_add(1, std::memory_order_relaxed);
        Exchange exchange{store_.rank, store_.size, store_.put, {}, store_.get};
        group_.emplace(std::move(exchange), fmt::format("dlrt/{}/", number), timeout_ms_);
        return group_->join();
    }
    void abort(std::int32_t, std::string_view) override {
        // The abort cell reaches all ranks of the host, and there is no launcher to be told.
    }
    Status leave() override {
        if (group_) group_->leave();
        return {};
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
    void put_no_address(const std::string& transport, std::string_view reason) override {
        group_->put_no_address(transport, reason);
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
        if (group_) group_->abandon();
    }

  private:
    KeyValueStore store_;
    int timeout_ms_;
    std::optional<HostGroup> group_;
};

}  // namespace

std::unique_ptr<WireupSource> make_store_source(KeyValueStore store, int timeout_ms) {
    return std::make_unique<StoreSource>(std::move(store), timeout_ms);
}

}  // namespace dlrt
