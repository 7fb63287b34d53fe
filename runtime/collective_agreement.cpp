// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_agreement.hpp"

#include "collectives/contract.hpp"

#include <fmt/format.h>

namespace dlrt {
namespace {

constexpr std::uint32_t signature_shift = 32;
constexpr std::uint32_t reduction_shift = 16;
constexpr std::uint32_t element_shift = 8;
constexpr std::uint32_t form_shift = 1;

/// Spreads all bits over all (the finalizer of MurmurHash3).
std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
    return x ^ (x >> 33);
}

std::string_view form_words(std::uint64_t form) {
    switch (static_cast<CollectiveForm>(form)) {
        case CollectiveForm::blocking:
            return "";
        case CollectiveForm::nonblocking:
            return "nonblocking ";
        case CollectiveForm::persistent:
            return "persistent ";
    }
    return "";
}

}  // namespace

std::uint64_t Agreement::packed() const {
    return std::uint64_t{signature} << signature_shift |
           std::uint64_t{reduction} << reduction_shift |
           static_cast<std::uint64_t>(element) << element_shift |
           static_cast<std::uint64_t>(form) << form_shift | (is_uneven ? 1 : 0);
}

std::uint32_t Agreement::check(std::uint32_t algorithm) const {
    const std::uint64_t call = std::uint64_t{algorithm} << 40 |
                               static_cast<std::uint64_t>(collective) << 32 |
                               static_cast<std::uint32_t>(root);
    // The element is in the signature, except of ranks that have no data to say it of.
    Agreement alike = *this;
    alike.element = ElementType::none;
    const std::uint64_t mixed = mix(mix(alike.packed()) ^ call);
    return static_cast<std::uint32_t>(mixed >> (64 - check_bits)) | 1;
}

Agreement agreement_of(const CollectiveCall& call, CollectiveForm form) {
    Agreement agreement;
    agreement.collective = call.collective;
    agreement.form = form;
    agreement.is_uneven = call.is_uneven();
    // Between groups it is another number to each part.
    if (coll::has_root(call.collective) && !call.is_between_groups) agreement.root = call.root;
    // In place one of them is not there: the output of scatter, else the input.
    const bool is_output_absent = call.output.layout == nullptr;
    const bool has_input = call.input.layout != nullptr && (!call.is_in_place || is_output_absent);
    const LayoutRef* const layout = has_input ? call.input.layout : call.output.layout;
    if (call.reducer != nullptr) {
        agreement.reduction = call.reducer->is_user()
                                  ? Agreement::user_reduction
                                  : static_cast<std::uint8_t>(call.reducer->op());
    }
    if (layout == nullptr) return agreement;
    agreement.element = (*layout)->element();
    if (agreement.is_uneven) return agreement;
    const std::uint64_t count = has_input ? call.input.count : call.output.count;
    agreement.signature = count == 1 ? (*layout)->signature_hash()
                                     : (*layout)->signature_hash(count);
    return agreement;
}

bool is_same_call(const FlightEntry& a, const FlightEntry& b) {
    const std::uint64_t no_element = ~(std::uint64_t{0xff} << element_shift);
    return a.call == b.call && a.peer == b.peer &&
           (a.arguments_hash & no_element) == (b.arguments_hash & no_element);
}

std::string describe_call(const FlightEntry& entry) {
    const std::uint64_t packed = entry.arguments_hash;
    const auto element = static_cast<ElementType>(packed >> element_shift & 0xff);
    const auto reduction = static_cast<std::uint8_t>(packed >> reduction_shift & 0xff);
    std::string text = fmt::format(
        "{}{}", form_words(packed >> form_shift & 3), call_name(entry.call)
    );
    if (entry.peer >= 0) text += fmt::format(" with root {}", entry.peer);
    if (entry.call == Call::barrier) return text;
    text += fmt::format(" of {} bytes", entry.size_bytes);
    const char* const of = element == ElementType::none ? "mixed elements" : element_name(element);
    if (reduction == 0) return text + fmt::format(" ({})", of);
    const bool is_user = reduction == Agreement::user_reduction;
    const char* const op = is_user ? "the user's reduction"
                                   : reduce_op_name(static_cast<ReduceOp>(reduction));
    return text + fmt::format(" ({} of {})", op, of);
}

}  // namespace dlrt
