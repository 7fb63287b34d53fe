// SPDX-License-Identifier: Apache-2.0
/// Memory in the shared heap: the functions of dlrt_memory.h.
#include "runtime/api/surface.hpp"
#include "runtime/heap.hpp"

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_alloc(uint64_t size_bytes, void** address) {
    const Site site("dlrt_alloc");
    if (!site.is_ready()) return site.error();
    if (const Status bad = site.require(address, "address"); !bad.ok()) return to_c(bad);
    if (size_bytes == 0) {
        *address = nullptr;
        return DLRT_OK;
    }
    const Result<void*> memory = Core::get()->heap().allocate(size_bytes);
    if (!memory) return to_c(site.pass(memory.error()));
    *address = *memory;
    return DLRT_OK;
}

dlrt_err dlrt_free(void* address) {
    const Site site("dlrt_free");
    if (!site.is_ready()) return site.error();
    if (address == nullptr) return DLRT_OK;
    const Status freed = Core::get()->heap().free(address);
    return freed.ok() ? DLRT_OK : to_c(site.pass(freed));
}
