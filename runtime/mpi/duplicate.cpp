// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/duplicate.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/communicator_create.hpp"
#include "runtime/communicator_pair.hpp"
#include "runtime/mpi/request_task.hpp"

namespace dlrt::mpi {
namespace {

/// All but the core's communicator. Returns what an attribute's function said.
int copy_facts(const Comm& parent, const InfoRef& hints, Comm& made) {
    made.error_handler = parent.error_handler;
    made.topology = parent.topology;
    if (hints != nullptr) made.hints = std::make_shared<Info>(*hints);
    return parent.attributes.copy_to(made.attributes, parent.handle);
}

int make_facts(const Site& site, const InfoRef& hints, CommRef& made) {
    made = std::make_shared<Comm>();
    const int said = copy_facts(site.comm(), hints, *made);
    if (said == MPI_SUCCESS) return MPI_SUCCESS;
    return site.bad(said, "an attribute's copy function returned {}", said);
}

Result<CommunicatorRef> duplicate_core(Communicator& parent) {
    return parent.is_between_groups() ? duplicate_pair(parent, new_context)
                                      : duplicate(parent, new_context);
}

/// Messages of duplications under way have a context of their own beside each communicator's.
ContextId duplication_context(const Communicator& comm) {
    constexpr std::uint64_t apart = std::uint64_t{1} << 63;
    return ContextId{static_cast<std::uint64_t>(comm.user_context()) | apart};
}

/// The context of the new communicator, on its way from the first rank of all to the others.
class Duplication final : public RequestTask {
  public:
    Duplication(Comm& parent, CommRef made)
        : RequestTask(parent, "comm_idup"),
          parent_(parent),
          made_(std::move(made)),
          tag_(parent.duplication_count++) {
        if (is_leader()) context_ = static_cast<std::uint64_t>(new_context());
    }
    [[nodiscard]] bool is_special() const override { return true; }
    [[nodiscard]] int report(const Request& request, MPI_Status& status) override {
        write_sent_status(&status);
        if (request.error != 0) return class_of(outcome());
        const Communicator& parent = *parent_.core;
        if (parent.is_between_groups()) {
            made_->core = std::make_shared<Communicator>(
                parent.engine(), ContextId{context_}, parent.group(), parent.rank(),
                Communicator::OtherGroup{parent.peers(), parent.position()}
            );
        } else {
            made_->core = std::make_shared<Communicator>(
                parent.engine(), ContextId{context_}, parent.group(), parent.rank()
            );
        }
        made_->core->set_topology(parent.topology());
        return MPI_SUCCESS;
    }
    [[nodiscard]] int cancel(Request&) override { return MPI_SUCCESS; }

    void restart(EngineInside& inside) override {
        const LayoutRef* const number = &Layout::of(ElementType::uint64);
        const Group& all = *parent_.core->everybody();
        const ContextId context = duplication_context(*parent_.core);
        if (!is_leader()) {
            requests_.push_back(
                &inside.irecv({context, all.world_rank(0), tag_}, {&context_, 1, number}, 0)
            );
            return;
        }
        for (std::int32_t rank = 1; rank < all.size(); ++rank) {
            requests_.push_back(
                &inside.isend({context, all.world_rank(rank), tag_}, {&context_, 1, number}, 0)
            );
        }
    }
    Progress advance(EngineInside& inside) override {
        std::erase_if(requests_, [&](Request* request) {
            if (!is_complete(*request)) return false;
            const Status failed = outcome_of(*request);
            if (!failed.ok()) failure_ = failed.code;
            inside.release(*request);
            return true;
        });
        return requests_.empty() ? Progress::over : Progress::waiting;
    }
    [[nodiscard]] Status outcome() const override {
        if (failure_ == Errc::ok) return {};
        return fail(failure_, "the context of the duplicate didn't come");
    }

  private:
    [[nodiscard]] bool is_leader() const { return parent_.core->rank_among_all() == 0; }

    Comm& parent_;
    CommRef made_;
    Tag tag_;
    std::uint64_t context_ = 0;
    std::vector<Request*> requests_;
    Errc failure_ = Errc::ok;
};

}  // namespace

int duplicate_comm(const Site& site, const InfoRef& hints, MPI_Comm* newcomm) {
    if (const int wrong = site.require(newcomm, "newcomm")) return site.raise(wrong);
    CommRef made;
    if (const int wrong = make_facts(site, hints, made)) return site.raise(wrong);
    const FlightMark mark(site.surface(), record_of(Call::comm_dup, site.core()));
    Result<CommunicatorRef> core = duplicate_core(site.core());
    if (!core) return site.raise(core.error());
    made->core = *std::move(core);
    const int wrong = site.give(std::move(made), newcomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int start_duplicate(
    const Site& site, const InfoRef& hints, MPI_Comm* newcomm, MPI_Request* request
) {
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    if (const int wrong = site.require(newcomm, "newcomm")) return site.raise(wrong);
    CommRef made;
    if (const int wrong = make_facts(site, hints, made)) return site.raise(wrong);
    auto duplication = std::make_shared<Duplication>(site.comm(), made);
    if (const int wrong = site.give(std::move(made), newcomm)) return site.raise(wrong);
    give_request(*start_task(std::move(duplication)), request);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
