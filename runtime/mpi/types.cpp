// SPDX-License-Identifier: Apache-2.0
/// Chapter: datatypes, their construction and their end.
#include "runtime/layout_padding.hpp"
#include "runtime/mpi/type_site.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

/// Blocks at displacements in bytes.
struct Blocks {
    std::vector<std::int64_t> lengths, displacements;
};

/// What both forms of a vector have in common.
int add_vector(
    const Site& site, MPI_Count count, MPI_Count blocklength, const TypeRef& old,
    EnvelopeWriter& envelope
) {
    if (const int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT)) return wrong;
    const int wrong = site.require_not_negative(blocklength, "blocklength", MPI_ERR_ARG);
    if (wrong != MPI_SUCCESS) return wrong;
    envelope.add_count(count);
    envelope.add_count(blocklength);
    envelope.add_type(old, count * blocklength);
    return MPI_SUCCESS;
}

int give_blocks(
    const Site& site, const Blocks& blocks, const TypeRef& old, EnvelopeWriter& envelope,
    MPI_Datatype* result
) {
    envelope.add_type(old, sum_of(blocks.lengths));
    return give_type(
        site, Layout::indexed(blocks.lengths, blocks.displacements, old->layout), envelope, result
    );
}

}  // namespace

int MPI_Type_contiguous(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype, Width width) {
    const Site site("MPI_Type_contiguous");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT)) {
        return site.raise(wrong);
    }
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_CONTIGUOUS, width);
    envelope.add_count(count);
    envelope.add_type(old, count);
    return give_type(site, Layout::contiguous(count, old->layout), envelope, newtype);
}

int MPI_Type_vector(
    MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
    MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_vector");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    std::vector<std::int64_t> bytes{stride};
    if (const int wrong = scale(site, *old, bytes)) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_VECTOR, width);
    const int wrong = add_vector(site, count, blocklength, old, envelope);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    envelope.add_count(stride);
    return give_type(
        site, Layout::vector(count, blocklength, bytes[0], old->layout), envelope, newtype
    );
}

int MPI_Type_create_hvector(
    MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
    MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_hvector");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_HVECTOR, width);
    const int wrong = add_vector(site, count, blocklength, old, envelope);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    envelope.add_address(stride);
    return give_type(
        site, Layout::vector(count, blocklength, stride, old->layout), envelope, newtype
    );
}

int MPI_Type_indexed(
    MPI_Count count, Numbers array_of_blocklengths, Numbers array_of_displacements,
    MPI_Datatype oldtype, MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_indexed");
    if (!site.ok()) return site.error();
    TypeRef old;
    Blocks blocks;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    int wrong = use_lengths(site, count, array_of_blocklengths, blocks.lengths);
    if (wrong == MPI_SUCCESS) {
        wrong = use_list(
            site, count, array_of_displacements, "array_of_displacements", blocks.displacements
        );
    }
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_INDEXED, width);
    envelope.add_count(count);
    envelope.add_counts(blocks.lengths);
    envelope.add_counts(blocks.displacements);
    wrong = scale(site, *old, blocks.displacements);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    return give_blocks(site, blocks, old, envelope, newtype);
}

int MPI_Type_create_hindexed(
    MPI_Count count, Numbers array_of_blocklengths, Numbers array_of_displacements,
    MPI_Datatype oldtype, MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_hindexed");
    if (!site.ok()) return site.error();
    TypeRef old;
    Blocks blocks;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    int wrong = use_lengths(site, count, array_of_blocklengths, blocks.lengths);
    if (wrong == MPI_SUCCESS) {
        wrong = use_list(
            site, count, array_of_displacements, "array_of_displacements", blocks.displacements
        );
    }
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_HINDEXED, width);
    envelope.add_count(count);
    envelope.add_counts(blocks.lengths);
    envelope.add_addresses(blocks.displacements);
    return give_blocks(site, blocks, old, envelope, newtype);
}

namespace {

/// indexed_block: displacements in extents; hindexed_block: in bytes.
int make_equal_blocks(
    const Site& site, MPI_Count count, MPI_Count blocklength, const Numbers& displacements,
    Blocks& blocks
) {
    const int wrong = use_list(
        site, count, displacements, "array_of_displacements", blocks.displacements
    );
    if (wrong != MPI_SUCCESS) return wrong;
    blocks.lengths.assign(blocks.displacements.size(), blocklength);
    return site.require_not_negative(blocklength, "blocklength", MPI_ERR_ARG);
}

}  // namespace

int MPI_Type_create_indexed_block(
    MPI_Count count, MPI_Count blocklength, Numbers array_of_displacements, MPI_Datatype oldtype,
    MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_indexed_block");
    if (!site.ok()) return site.error();
    TypeRef old;
    Blocks blocks;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    int wrong = make_equal_blocks(site, count, blocklength, array_of_displacements, blocks);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_INDEXED_BLOCK, width);
    envelope.add_count(count);
    envelope.add_count(blocklength);
    envelope.add_counts(blocks.displacements);
    wrong = scale(site, *old, blocks.displacements);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    return give_blocks(site, blocks, old, envelope, newtype);
}

int MPI_Type_create_hindexed_block(
    MPI_Count count, MPI_Count blocklength, Numbers array_of_displacements, MPI_Datatype oldtype,
    MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_hindexed_block");
    if (!site.ok()) return site.error();
    TypeRef old;
    Blocks blocks;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    const int wrong = make_equal_blocks(site, count, blocklength, array_of_displacements, blocks);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_HINDEXED_BLOCK, width);
    envelope.add_count(count);
    envelope.add_count(blocklength);
    envelope.add_addresses(blocks.displacements);
    return give_blocks(site, blocks, old, envelope, newtype);
}

int MPI_Type_create_struct(
    MPI_Count count, Numbers array_of_blocklengths, Numbers array_of_displacements,
    const MPI_Datatype array_of_types[], MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_struct");
    if (!site.ok()) return site.error();
    Blocks blocks;
    int wrong = use_lengths(site, count, array_of_blocklengths, blocks.lengths);
    if (wrong == MPI_SUCCESS) {
        wrong = use_list(
            site, count, array_of_displacements, "array_of_displacements", blocks.displacements
        );
    }
    if (wrong == MPI_SUCCESS && count > 0) wrong = site.require(array_of_types, "array_of_types");
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_STRUCT, width);
    envelope.add_count(count);
    envelope.add_counts(blocks.lengths);
    envelope.add_addresses(blocks.displacements);
    std::vector<LayoutRef> layouts;
    std::uint32_t alignment = 1;
    for (std::size_t i = 0; i < blocks.lengths.size(); ++i) {
        TypeRef old;
        wrong = use_old(site, array_of_types[i], old);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
        layouts.push_back(old->layout);
        if (blocks.lengths[i] > 0) alignment = std::max(alignment, old->alignment);
        envelope.add_type(std::move(old), blocks.lengths[i]);
    }
    Result<LayoutRef> layout = Layout::structure(blocks.lengths, blocks.displacements, layouts);
    if (layout) layout = pad_to_alignment(*layout, alignment);
    return give_type(site, std::move(layout), envelope, newtype);
}

int MPI_Type_create_resized(
    MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_resized");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    EnvelopeWriter envelope(MPI_COMBINER_RESIZED, width);
    envelope.add_address(lb);
    envelope.add_address(extent);
    envelope.add_type(old, 1);
    return give_type(site, Layout::resized(lb, extent, old->layout), envelope, newtype);
}

int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
    const Site site("MPI_Type_dup");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    if (const int wrong = site.require(newtype, "newtype")) return site.raise(wrong);
    auto type = std::make_shared<Type>();
    type->layout = old->layout;
    type->is_committed = old->is_committed;
    type->alignment = old->alignment;
    type->element_count = old->element_count;
    type->element_bytes = old->element_bytes;
    type->category = old->category;
    type->envelope.combiner = MPI_COMBINER_DUP;
    type->envelope.types.push_back(old);
    type->envelope.repetitions.push_back(1);
    const int said = old->attributes.copy_to(type->attributes, oldtype);
    if (said != MPI_SUCCESS) {
        return site.raise(said, "an attribute's copy function returned {}", said);
    }
    const int wrong = site.give(std::move(type), newtype);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Type_commit(MPI_Datatype* datatype) {
    const Site site("MPI_Type_commit");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(datatype, "datatype")) return site.raise(wrong);
    Use<Type> use;
    if (const int wrong = site.use(*datatype, use)) return site.raise(wrong);
    use->is_committed = true;
    return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* datatype) {
    const Site site("MPI_Type_free");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(datatype, "datatype")) return site.raise(wrong);
    Use<Type> use;
    if (const int wrong = site.use(*datatype, use)) return site.raise(wrong);
    if (use->is_predefined) {
        return site.raise(MPI_ERR_TYPE, "{} is predefined and can't be freed", use->name);
    }
    const int said = use->attributes.erase_all(*datatype);
    if (said != MPI_SUCCESS) {
        return site.raise(said, "an attribute's delete function returned {}", said);
    }
    static_cast<void>(site.surface().types.remove(to_handle(*datatype)));
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
