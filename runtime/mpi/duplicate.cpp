// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/duplicate.hpp"

#include "runtime/collective.hpp"
#include "runtime/communicator_create.hpp"
#include "runtime/communicator_pair.hpp"
#include "runtime/mpi/request_site.hpp"

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

/// The context of the new communicator, on its way from rank 0 of the parent by a broadcast.
class Duplication final : public RequestNote {
  public:
    Duplication(Comm& parent, CommRef made)
        : RequestNote(parent), parent_(parent.shared_from_this()), made_(std::move(made)) {
        if (parent.core->rank() == 0) context_ = static_cast<std::uint64_t>(new_context());
    }

    [[nodiscard]] Result<Request*> start() {
        CollectiveCall call;
        call.collective = coll::Collective::bcast;
        call.output = {&context_, 1, &Layout::of(ElementType::uint64)};
        return start_collective(parent_->core, call);
    }

    [[nodiscard]] bool is_special() const override { return true; }
    [[nodiscard]] int report(const Request& request, MPI_Status& status) override {
        write_empty_status(&status);
        if (request.error != 0) return class_of(outcome_of(request));
        const Communicator& parent = *parent_->core;
        auto core = std::make_shared<Communicator>(
            parent.engine(), ContextId{context_}, parent.group(), parent.rank()
        );
        core->set_topology(parent.topology());
        made_->core = std::move(core);
        return MPI_SUCCESS;
    }

  private:
    CommRef parent_;
    CommRef made_;
    std::uint64_t context_ = 0;
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
    if (site.core().is_between_groups()) {
        const int code = duplicate_comm(site, hints, newcomm);
        if (code != MPI_SUCCESS) return code;
        give_request(
            *site.engine().without_peer(RequestKind::send, Persistence::once), request
        );
        return MPI_SUCCESS;
    }
    if (const int wrong = site.require(newcomm, "newcomm")) return site.raise(wrong);
    CommRef made;
    if (const int wrong = make_facts(site, hints, made)) return site.raise(wrong);
    auto duplication = std::make_shared<Duplication>(site.comm(), made);
    const Result<Request*> started = duplication->start();
    if (!started) return site.raise(started.error());
    set_note(**started, std::move(duplication));
    const int wrong = site.give(std::move(made), newcomm);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    give_request(**started, request);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
