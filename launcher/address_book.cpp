// SPDX-License-Identifier: Apache-2.0
#include "launcher/address_book.hpp"

namespace dlrt::launcher {

const std::set<std::uint32_t>& AddressBook::put(const RankAddress& address) {
    Entry& entry = entries_[{address.rank, address.transport}];
    entry.address = address.address;
    entry.is_known = true;
    return entry.askers;
}

const std::vector<std::byte>* AddressBook::ask(std::uint32_t host, const AddressWanted& wanted) {
    Entry& entry = entries_[{wanted.rank, wanted.transport}];
    entry.askers.insert(host);
    return entry.is_known ? &entry.address : nullptr;
}

}  // namespace dlrt::launcher
