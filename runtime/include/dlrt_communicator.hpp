// SPDX-License-Identifier: Apache-2.0
/// The part of dlrt.hpp that deals with groups, communicators and the life of a process in a job.
/// Include dlrt.hpp, not this.
#ifndef DLRT_COMMUNICATOR_HPP
#define DLRT_COMMUNICATOR_HPP

#include "dlrt.hpp"

#include "dlrt_topology.hpp"

namespace dlrt {
inline namespace cpp {

/// An ordered set of ranks.
class Group {
  public:
    explicit Group(dlrt_group group) : group_(group) {}
    Group(Group&& other) noexcept : group_(std::exchange(other.group_, DLRT_GROUP_NULL)) {}
    Group& operator=(Group&& other) noexcept {
        std::swap(group_, other.group_);
        return *this;
    }
    ~Group() {
        if (group_.generation != 0) static_cast<void>(dlrt_group_free(&group_));
    }

    [[nodiscard]] int size() const {
        std::int32_t size = 0;
        check(dlrt_group_size(group_, &size));
        return size;
    }
    /// Empty when the caller is not in it.
    [[nodiscard]] std::optional<int> rank() const {
        std::int32_t rank = 0;
        check(dlrt_group_rank(group_, &rank));
        return rank != DLRT_UNDEFINED ? std::optional<int>(rank) : std::nullopt;
    }
    /// The ranks in the order given.
    [[nodiscard]] Group include(std::span<const std::int32_t> ranks) const {
        return make([&](dlrt_group* made) {
            return dlrt_group_incl(group_, size_of(ranks), ranks.data(), made);
        });
    }
    [[nodiscard]] Group exclude(std::span<const std::int32_t> ranks) const {
        return make([&](dlrt_group* made) {
            return dlrt_group_excl(group_, size_of(ranks), ranks.data(), made);
        });
    }
    /// The rank in `other` of the one that is `rank` here; empty when it is not there.
    [[nodiscard]] std::optional<int> translate(std::int32_t rank, const Group& other) const {
        std::int32_t translated = 0;
        check(dlrt_group_translate(group_, 1, &rank, other.group_, &translated));
        return translated != DLRT_UNDEFINED ? std::optional<int>(translated) : std::nullopt;
    }

    friend Group operator|(const Group& a, const Group& b) {
        return make([&](dlrt_group* made) { return dlrt_group_union(a.group_, b.group_, made); });
    }
    friend Group operator&(const Group& a, const Group& b) {
        return make([&](dlrt_group* made) {
            return dlrt_group_intersection(a.group_, b.group_, made);
        });
    }
    friend Group operator-(const Group& a, const Group& b) {
        return make([&](dlrt_group* made) {
            return dlrt_group_difference(a.group_, b.group_, made);
        });
    }
    /// The same ranks in the same order.
    friend bool operator==(const Group& a, const Group& b) {
        dlrt_comparison result = DLRT_UNEQUAL;
        check(dlrt_group_compare(a.group_, b.group_, &result));
        return result == DLRT_IDENT;
    }
    [[nodiscard]] dlrt_group handle() const { return group_; }

  private:
    template<typename Maker>
    static Group make(const Maker& maker) {
        dlrt_group made = DLRT_GROUP_NULL;
        check(maker(&made));
        return Group(made);
    }
    static std::int32_t size_of(std::span<const std::int32_t> ranks) {
        return static_cast<std::int32_t>(ranks.size());
    }
    dlrt_group group_;
};

/// A group of processes whose messages stay among themselves.
class Communicator : public NeighborExchanges {
  public:
    /// Takes over the handle.
    explicit Communicator(dlrt_comm comm) : NeighborExchanges(comm) {}
    Communicator(Communicator&& other) noexcept
        : NeighborExchanges(std::exchange(other.comm_, DLRT_COMM_NULL)) {}
    Communicator& operator=(Communicator&& other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~Communicator() {
        if (comm_.generation != 0) static_cast<void>(dlrt_comm_free(&comm_));
    }

    [[nodiscard]] Group group() const {
        dlrt_group group = DLRT_GROUP_NULL;
        check(dlrt_comm_group(comm_, &group));
        return Group(group);
    }

    /// Of a communicator between two groups.
    [[nodiscard]] Group remote_group() const {
        dlrt_group group = DLRT_GROUP_NULL;
        check(dlrt_comm_remote_group(comm_, &group));
        return Group(group);
    }

    // Collective: every rank of this communicator calls.
    [[nodiscard]] Communicator duplicate() const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_comm_dup(comm_, &made));
        return Communicator(made);
    }
    /// Empty color: this rank takes no part, and the result is empty.
    [[nodiscard]] std::optional<Communicator> split(std::optional<int> color, int key = 0) const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_comm_split(comm_, color.value_or(DLRT_UNDEFINED), key, &made));
        return wrap(made);
    }
    [[nodiscard]] Communicator split_by_host() const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_comm_split_host(comm_, 1, 0, &made));
        return Communicator(made);
    }
    /// Each rank passes the group that it belongs to.
    [[nodiscard]] std::optional<Communicator> create(const Group& members) const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_comm_create(comm_, members.handle(), &made));
        return wrap(made);
    }
    /// Between this group and another one, which does the same: both leaders are in `bridge`, where
    /// `remote_leader` is the other one. See dlrt_intercomm.h for what collectives do there.
    [[nodiscard]] Communicator connect(
        int leader, const Communicator& bridge, int remote_leader, int tag = 0
    ) const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_intercomm_create(comm_, leader, bridge.comm_, remote_leader, tag, &made));
        return Communicator(made);
    }
    /// One group of both: a low one comes before a high one.
    enum class MergeOrder : bool { low, high };
    [[nodiscard]] Communicator merge(MergeOrder order) const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_intercomm_merge(comm_, order == MergeOrder::high ? 1 : 0, &made));
        return Communicator(made);
    }
    /// Each rank names those that it receives from and those that it sends to.
    [[nodiscard]] Communicator create_graph(
        std::span<const std::int32_t> sources, std::span<const std::int32_t> targets
    ) const {
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_comm_create_graph(
            comm_, static_cast<std::int32_t>(sources.size()), sources.data(),
            static_cast<std::int32_t>(targets.size()), targets.data(), &made
        ));
        return Communicator(made);
    }
    /// A grid of the first ranks; the last coordinate runs fastest. Empty for ranks beyond it.
    [[nodiscard]] std::optional<Communicator> create_cart(
        const std::vector<GridDimension>& dimensions
    ) const {
        std::vector<std::int32_t> sizes;
        std::vector<int> periodic;
        for (const GridDimension& dimension : dimensions) {
            sizes.push_back(dimension.size);
            periodic.push_back(dimension.is_periodic ? 1 : 0);
        }
        dlrt_comm made = DLRT_COMM_NULL;
        check(dlrt_comm_create_cart(
            comm_, static_cast<std::int32_t>(sizes.size()), sizes.data(), periodic.data(), &made
        ));
        return wrap(made);
    }

    void send(ConstElements buffer, To to) const {
        check(dlrt_send(buffer.data, buffer.count, buffer.type, to.to, to.tag, comm_));
    }
    /// Returns once the receiver has matched the message.
    void send_synchronously(ConstElements buffer, To to) const {
        check(dlrt_ssend(buffer.data, buffer.count, buffer.type, to.to, to.tag, comm_));
    }
    /// Within a CallGroup the status is empty, here and of exchange().
    Status recv(Elements buffer, From from = {}) const {
        Status status;
        check(dlrt_recv(
            buffer.address(), buffer.count, buffer.type, from.from, from.tag, comm_,
            CallGroup::is_inside() ? nullptr : status.out()
        ));
        return status;
    }
    /// One value.
    template<TransferableValue T>
    [[nodiscard]] T recv(From from = {}) const {
        CallGroup::expect_outside();
        T value{};
        recv(value, from);
        return value;
    }
    Status exchange(ConstElements outgoing, To to, Elements incoming, From from) const {
        Status status;
        check(dlrt_sendrecv(
            outgoing.data, outgoing.count, outgoing.type, to.to, to.tag, incoming.address(),
            incoming.count, incoming.type, from.from, from.tag, comm_,
            CallGroup::is_inside() ? nullptr : status.out()
        ));
        return status;
    }
    template<Lasting B>
    Request isend(B&& buffer, To to) const {
        const ConstElements elements(buffer);
        Request made;
        check(dlrt_isend(
            elements.data, elements.count, elements.type, to.to, to.tag, comm_, made.out()
        ));
        return made;
    }
    template<Lasting B>
    Request irecv(B&& buffer, From from = {}) const {
        const Elements elements(buffer);
        Request made;
        check(dlrt_irecv(
            elements.address(), elements.count, elements.type, from.from, from.tag, comm_,
            made.out()
        ));
        return made;
    }
    /// Persistent: start() begins a round.
    template<Lasting B>
    Request prepare_send(B&& buffer, To to) const {
        const ConstElements elements(buffer);
        Request made;
        check(dlrt_send_init(
            elements.data, elements.count, elements.type, to.to, to.tag, comm_, made.out()
        ));
        return made;
    }
    template<Lasting B>
    Request prepare_recv(B&& buffer, From from = {}) const {
        const Elements elements(buffer);
        Request made;
        check(dlrt_recv_init(
            elements.address(), elements.count, elements.type, from.from, from.tag, comm_,
            made.out()
        ));
        return made;
    }
    /// Waits for a message without taking it.
    [[nodiscard]] Status probe(From from = {}) const {
        Status status;
        check(dlrt_probe(from.from, from.tag, comm_, status.out()));
        return status;
    }
    [[nodiscard]] std::optional<Status> probe_now(From from = {}) const {
        Status status;
        int is_there = 0;
        check(dlrt_iprobe(from.from, from.tag, comm_, &is_there, status.out()));
        return is_there != 0 ? std::optional(status) : std::nullopt;
    }

  private:
    static std::optional<Communicator> wrap(dlrt_comm made) {
        return made.index != 0 ? std::optional<Communicator>(made) : std::nullopt;
    }
};

/// Collective over the group only; text tells apart concurrent creations.
[[nodiscard]] inline Communicator create_from_group(const Group& group, const std::string& text) {
    dlrt_comm made = DLRT_COMM_NULL;
    check(dlrt_comm_create_from_group(group.handle(), text.c_str(), &made));
    return Communicator(made);
}

// ---- Life of a process in a job ----

/// Joins the job; returns the world. Ends with finalize(), or use a Session.
[[nodiscard]] inline Communicator init(dlrt_thread_level level = DLRT_THREAD_SINGLE) {
    check(dlrt_init_thread(level, nullptr));
    return Communicator(DLRT_COMM_WORLD);
}
inline void finalize() {
    check(dlrt_finalize());
}
[[noreturn]] inline void abort(int code, const std::string& text = {}) {
    dlrt_abort(code, text.c_str());
    std::terminate();
}

/// Joins at construction and leaves at the end of the scope. Leaving by an exception aborts the
/// job, since the other ranks would wait for this one.
class Session {
  public:
    explicit Session(dlrt_thread_level level = DLRT_THREAD_SINGLE) : world(init(level)) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        if (std::uncaught_exceptions() > exceptions_) {
            abort(1, "a C++ exception ended this rank");
        }
        static_cast<void>(dlrt_finalize());
    }

    Communicator world;

  private:
    int exceptions_ = std::uncaught_exceptions();
};

}  // namespace cpp
}  // namespace dlrt

#endif  // DLRT_COMMUNICATOR_HPP
