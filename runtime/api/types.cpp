// SPDX-License-Identifier: Apache-2.0
/// Types: construction, questions, packing.
#include "runtime/api/surface.hpp"

#include <span>
#include <vector>

namespace dlrt::api {
namespace {

/// What every constructor with one old type begins with.
Status open_type(const Site& site, dlrt_type old, const dlrt_type* result, LayoutUse& use) {
    if (const Status bad = site.require(result, "result"); !bad.ok()) return bad;
    return site.use(old, use);
}

dlrt_err give_made(const Site& site, Result<LayoutRef> made, dlrt_type* result) {
    if (!made) return to_c(site.pass(made.error()));
    return to_c(site.give(*std::move(made), result));
}

Status check_count(const Site& site, std::int64_t count) {
    if (count >= 0) return {};
    return site.fail(Errc::count, "count {} is negative", count);
}

/// The arrays of the indexed forms. Errors: Errc::count, Errc::argument.
Status check_blocks(
    const Site& site, std::int64_t count, const std::int64_t* block_lengths,
    const std::int64_t* displacements
) {
    if (const Status bad = check_count(site, count); !bad.ok()) return bad;
    if (count == 0) return {};
    if (const Status bad = site.require(block_lengths, "block_lengths"); !bad.ok()) return bad;
    return site.require(displacements, "the array of displacements");
}

std::span<const std::int64_t> span_of(const std::int64_t* numbers, std::int64_t count) {
    return {numbers, static_cast<std::size_t>(count)};
}

/// From extents to bytes. Errors: Errc::type when it leaves 63 bits.
Status scale(const Site& site, const Layout& layout, std::int64_t extents, std::int64_t& bytes) {
    if (!__builtin_mul_overflow(extents, layout.extent_bytes(), &bytes)) return {};
    return site.fail(
        Errc::type, "{} extents of {} bytes are more than 63 bits hold", extents,
        layout.extent_bytes()
    );
}

Status check_status_use(const Site& site, const void* first, const void* second) {
    if (const Status bad = site.require(first, "the first result"); !bad.ok()) return bad;
    return site.require(second, "the second result");
}

/// A part of a pack buffer that must have room for a message.
struct PackArguments {
    const void* user;
    std::int64_t count;
    dlrt_type type;
    const void* packed;
    std::uint64_t packed_size_bytes;
    const std::uint64_t* position_bytes;
};

Status check_pack(
    const Site& site, const PackArguments& arguments, LayoutUse& use, std::uint64_t& size_bytes
) {
    if (const Status bad = site.use(arguments.type, use); !bad.ok()) return bad;
    if (const Status bad = site.require(arguments.position_bytes, "position_bytes"); !bad.ok()) {
        return bad;
    }
    if (const Status bad = check_count(site, arguments.count); !bad.ok()) return bad;
    const auto count = static_cast<std::uint64_t>(arguments.count);
    const std::uint64_t position = *arguments.position_bytes;
    const std::uint64_t room = position <= arguments.packed_size_bytes
                                   ? arguments.packed_size_bytes - position
                                   : 0;
    const bool is_too_long = __builtin_mul_overflow(count, use.layout().size_bytes(), &size_bytes);
    if (is_too_long || position > arguments.packed_size_bytes || size_bytes > room) {
        return site.fail(
            Errc::buffer, "{} elements of {} bytes don't fit at {} of a packed buffer of {} bytes",
            count, use.layout().size_bytes(), position, arguments.packed_size_bytes
        );
    }
    if (size_bytes > 0 && (arguments.user == nullptr || arguments.packed == nullptr)) {
        return site.fail(Errc::buffer, "a buffer is null, with {} bytes to copy", size_bytes);
    }
    return {};
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_type_contiguous(int64_t count, dlrt_type old, dlrt_type* result) {
    const Site site("dlrt_type_contiguous");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    return give_made(site, Layout::contiguous(count, *use.reference), result);
}

dlrt_err dlrt_type_vector(
    int64_t count, int64_t block_length, int64_t stride, dlrt_type old, dlrt_type* result
) {
    const Site site("dlrt_type_vector");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    std::int64_t stride_bytes = 0;
    const Status bad = scale(site, use.layout(), stride, stride_bytes);
    if (!bad.ok()) return to_c(bad);
    Result<LayoutRef> made = Layout::vector(count, block_length, stride_bytes, *use.reference);
    return give_made(site, std::move(made), result);
}

dlrt_err dlrt_type_vector_bytes(
    int64_t count, int64_t block_length, int64_t stride_bytes, dlrt_type old, dlrt_type* result
) {
    const Site site("dlrt_type_vector_bytes");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    Result<LayoutRef> made = Layout::vector(count, block_length, stride_bytes, *use.reference);
    return give_made(site, std::move(made), result);
}

dlrt_err dlrt_type_indexed(
    int64_t count, const int64_t* block_lengths, const int64_t* displacements, dlrt_type old,
    dlrt_type* result
) {
    const Site site("dlrt_type_indexed");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    const Status bad = check_blocks(site, count, block_lengths, displacements);
    if (!bad.ok()) return to_c(bad);
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const Status too_far = scale(site, use.layout(), displacements[i], bytes[i]);
        if (!too_far.ok()) return to_c(too_far);
    }
    return give_made(
        site, Layout::indexed(span_of(block_lengths, count), bytes, *use.reference), result
    );
}

dlrt_err dlrt_type_indexed_bytes(
    int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes, dlrt_type old,
    dlrt_type* result
) {
    const Site site("dlrt_type_indexed_bytes");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    const Status bad = check_blocks(site, count, block_lengths, displacements_bytes);
    if (!bad.ok()) return to_c(bad);
    Result<LayoutRef> made = Layout::indexed(
        span_of(block_lengths, count), span_of(displacements_bytes, count), *use.reference
    );
    return give_made(site, std::move(made), result);
}

dlrt_err dlrt_type_struct(
    int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes,
    const dlrt_type* olds, dlrt_type* result
) {
    const Site site("dlrt_type_struct");
    if (!site.is_ready()) return site.error();
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    const Status bad = check_blocks(site, count, block_lengths, displacements_bytes);
    if (!bad.ok()) return to_c(bad);
    if (count > 0) {
        if (const Status missing = site.require(olds, "olds"); !missing.ok()) return to_c(missing);
    }
    std::vector<LayoutRef> layouts;
    for (std::int64_t i = 0; i < count; ++i) {
        LayoutUse use;
        if (const Status unknown = site.use(olds[i], use); !unknown.ok()) return to_c(unknown);
        layouts.push_back(*use.reference);
    }
    Result<LayoutRef> made = Layout::structure(
        span_of(block_lengths, count), span_of(displacements_bytes, count), layouts
    );
    return give_made(site, std::move(made), result);
}

dlrt_err dlrt_type_resized(
    dlrt_type old, int64_t lower_bound_bytes, int64_t extent_bytes, dlrt_type* result
) {
    const Site site("dlrt_type_resized");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    Result<LayoutRef> made = Layout::resized(lower_bound_bytes, extent_bytes, *use.reference);
    return give_made(site, std::move(made), result);
}

dlrt_err dlrt_type_subarray(
    int32_t dimensions, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts,
    dlrt_order order, dlrt_type old, dlrt_type* result
) {
    const Site site("dlrt_type_subarray");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = open_type(site, old, result, use); !bad.ok()) return to_c(bad);
    if (dimensions < 1) {
        return to_c(site.fail(Errc::argument, "{} dimensions are fewer than 1", dimensions));
    }
    if (const Status bad = site.require(sizes, "sizes"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(subsizes, "subsizes"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(starts, "starts"); !bad.ok()) return to_c(bad);
    if (order != DLRT_ROW_MAJOR && order != DLRT_COLUMN_MAJOR) {
        return to_c(site.fail(
            Errc::argument, "order {} is neither DLRT_ROW_MAJOR nor DLRT_COLUMN_MAJOR",
            static_cast<long>(order)
        ));
    }
    Result<LayoutRef> made = Layout::subarray(
        span_of(sizes, dimensions), span_of(subsizes, dimensions), span_of(starts, dimensions),
        static_cast<Layout::Order>(order), *use.reference
    );
    return give_made(site, std::move(made), result);
}

dlrt_err dlrt_type_free(dlrt_type* type) {
    const Site site("dlrt_type_free");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = site.require(type, "type"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(*type, use); !bad.ok()) return to_c(bad);
    if (!site.surface().types.remove(to_handle(*type))) {
        return to_c(site.fail(Errc::type, "predefined types can't be freed"));
    }
    *type = DLRT_TYPE_NULL;
    return DLRT_OK;
}

dlrt_err dlrt_type_size(dlrt_type type, uint64_t* size_bytes) {
    const Site site("dlrt_type_size");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = site.require(size_bytes, "size_bytes"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(type, use); !bad.ok()) return to_c(bad);
    *size_bytes = use.layout().size_bytes();
    return DLRT_OK;
}

dlrt_err dlrt_type_extent(dlrt_type type, int64_t* lower_bound_bytes, int64_t* extent_bytes) {
    const Site site("dlrt_type_extent");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    const Status bad = check_status_use(site, lower_bound_bytes, extent_bytes);
    if (!bad.ok()) return to_c(bad);
    if (const Status unknown = site.use(type, use); !unknown.ok()) return to_c(unknown);
    *lower_bound_bytes = use.layout().lower_bound_bytes();
    *extent_bytes = use.layout().extent_bytes();
    return DLRT_OK;
}

dlrt_err dlrt_type_true_extent(dlrt_type type, int64_t* lower_bound_bytes, int64_t* extent_bytes) {
    const Site site("dlrt_type_true_extent");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    const Status bad = check_status_use(site, lower_bound_bytes, extent_bytes);
    if (!bad.ok()) return to_c(bad);
    if (const Status unknown = site.use(type, use); !unknown.ok()) return to_c(unknown);
    *lower_bound_bytes = use.layout().true_lower_bound_bytes();
    *extent_bytes = use.layout().true_extent_bytes();
    return DLRT_OK;
}

dlrt_err dlrt_status_count(const dlrt_status* status, dlrt_type type, int64_t* count) {
    const Site site("dlrt_status_count");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = site.require(status, "status"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(count, "count"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(type, use); !bad.ok()) return to_c(bad);
    const std::uint64_t element_bytes = use.layout().size_bytes();
    if (element_bytes == 0) {
        *count = status->size_bytes == 0 ? 0 : DLRT_UNDEFINED;
    } else if (status->size_bytes % element_bytes != 0) {
        *count = DLRT_UNDEFINED;
    } else {
        *count = static_cast<std::int64_t>(status->size_bytes / element_bytes);
    }
    return DLRT_OK;
}

dlrt_err dlrt_pack_size(int64_t count, dlrt_type type, uint64_t* size_bytes) {
    const Site site("dlrt_pack_size");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    if (const Status bad = site.require(size_bytes, "size_bytes"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(type, use); !bad.ok()) return to_c(bad);
    if (const Status bad = check_count(site, count); !bad.ok()) return to_c(bad);
    const std::uint64_t element_bytes = use.layout().size_bytes();
    std::uint64_t total = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), element_bytes, &total)) {
        return to_c(site.fail(
            Errc::count, "{} elements of {} bytes are more than 64 bits hold", count, element_bytes
        ));
    }
    *size_bytes = total;
    return DLRT_OK;
}

dlrt_err dlrt_pack(
    const void* source, int64_t count, dlrt_type type, void* packed, uint64_t packed_size_bytes,
    uint64_t* position_bytes
) {
    const Site site("dlrt_pack");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    std::uint64_t size_bytes = 0;
    const Status bad = check_pack(
        site, {source, count, type, packed, packed_size_bytes, position_bytes}, use, size_bytes
    );
    if (!bad.ok()) return to_c(bad);
    if (size_bytes > 0) {
        std::byte* place = static_cast<std::byte*>(packed) + *position_bytes;
        pack(use.layout(), static_cast<std::uint64_t>(count), source, 0, {place, size_bytes});
        *position_bytes += size_bytes;
    }
    return DLRT_OK;
}

dlrt_err dlrt_unpack(
    const void* packed, uint64_t packed_size_bytes, uint64_t* position_bytes, void* target,
    int64_t count, dlrt_type type
) {
    const Site site("dlrt_unpack");
    if (!site.is_ready()) return site.error();
    LayoutUse use;
    std::uint64_t size_bytes = 0;
    const Status bad = check_pack(
        site, {target, count, type, packed, packed_size_bytes, position_bytes}, use, size_bytes
    );
    if (!bad.ok()) return to_c(bad);
    if (size_bytes > 0) {
        const std::byte* place = static_cast<const std::byte*>(packed) + *position_bytes;
        unpack(use.layout(), static_cast<std::uint64_t>(count), target, 0, {place, size_bytes});
        *position_bytes += size_bytes;
    }
    return DLRT_OK;
}
