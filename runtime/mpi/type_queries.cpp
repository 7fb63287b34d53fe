// SPDX-License-Identifier: Apache-2.0
/// Chapter: datatypes, what can be asked about them; and those found by their properties.
#include "runtime/mpi/surface.hpp"
#include "runtime/mpi/text_result.hpp"

#include <map>
#include <mpi_functions.hpp>
#include <mutex>

namespace dlrt::mpi {
namespace {

int open(const Site& site, MPI_Datatype handle, Use<Type>& use) {
    if (!site.ok()) return site.error();
    const int wrong = site.use(handle, use);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

constexpr std::int64_t undefined = MPI_UNDEFINED;

/// Of a type that the platform lacks all are MPI_UNDEFINED.
std::int64_t size_of(const Type& type) {
    return type.layout != nullptr ? static_cast<std::int64_t>(type.layout->size_bytes())
                                  : undefined;
}

int get_extent(const char* function, MPI_Datatype handle, MPI_Count* lb, MPI_Count* extent) {
    const Site site(function);
    Use<Type> use;
    if (const int code = open(site, handle, use)) return code;
    if (const int wrong = site.require(lb, "lb")) return site.raise(wrong);
    if (const int wrong = site.require(extent, "extent")) return site.raise(wrong);
    const bool is_there = use->layout != nullptr;
    *lb = is_there ? use->layout->lower_bound_bytes() : undefined;
    *extent = is_there ? use->layout->extent_bytes() : undefined;
    return MPI_SUCCESS;
}

int get_true_extent(const char* function, MPI_Datatype handle, MPI_Count* lb, MPI_Count* extent) {
    const Site site(function);
    Use<Type> use;
    if (const int code = open(site, handle, use)) return code;
    if (const int wrong = site.require(lb, "true_lb")) return site.raise(wrong);
    if (const int wrong = site.require(extent, "true_extent")) return site.raise(wrong);
    const bool is_there = use->layout != nullptr;
    *lb = is_there ? use->layout->true_lower_bound_bytes() : undefined;
    *extent = is_there ? use->layout->true_extent_bytes() : undefined;
    return MPI_SUCCESS;
}

int refuse_large(const Site& site, const Type& type) {
    if (type.envelope.large_counts.empty()) return MPI_SUCCESS;
    return site.bad(MPI_ERR_TYPE, "the type was made with large counts: ask by the ..._c function");
}

template<typename T, typename Target>
int copy_list(
    const Site& site, const std::vector<T>& list, MPI_Count most, Target* target, const char* name
) {
    const auto count = static_cast<MPI_Count>(list.size());
    if (most < count) {
        return site.bad(
            MPI_ERR_ARG, "the array of {} has {} entries; {} are needed", name, most, count
        );
    }
    if (count > 0 && target == nullptr)
        return site.bad(MPI_ERR_ARG, "the array of {} is null", name);
    for (std::size_t i = 0; i < list.size(); ++i) target[i] = list[i];
    return MPI_SUCCESS;
}

/// Predefined types by their own handles; of others the caller gets handles that he has to free.
int give_parts(const Site& site, const Type& type, MPI_Count most, MPI_Datatype* handles) {
    std::vector<MPI_Datatype> parts;
    if (most < static_cast<MPI_Count>(type.envelope.types.size())) {
        return site.bad(MPI_ERR_ARG, "the array of datatypes is too short");
    }
    for (const TypeRef& part : type.envelope.types) {
        MPI_Datatype handle = part->handle;
        if (handle == MPI_DATATYPE_NULL) {
            if (const int wrong = site.give(part, &handle)) return wrong;
        }
        parts.push_back(handle);
    }
    return copy_list(site, parts, most, handles, "datatypes");
}

int refuse_named(const Site& site, const Type& type) {
    if (type.envelope.combiner != MPI_COMBINER_NAMED) return MPI_SUCCESS;
    return site.bad(MPI_ERR_TYPE, "{} is predefined and has no contents", type.name);
}

}  // namespace

int MPI_Type_size(MPI_Datatype datatype, NumberResult size) {
    const Site site("MPI_Type_size");
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    if (size.is_null()) return site.raise(MPI_ERR_ARG, "size is null");
    size.set(size_of(*use));
    return MPI_SUCCESS;
}

int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
    return MPI_Type_size(datatype, NumberResult(size));
}

int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
    return get_extent("MPI_Type_get_extent", datatype, lb, extent);
}
int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
    return get_extent("MPI_Type_get_extent_x", datatype, lb, extent);
}
int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
    return get_true_extent("MPI_Type_get_true_extent", datatype, lb, extent);
}
int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
    return get_true_extent("MPI_Type_get_true_extent_x", datatype, lb, extent);
}

int MPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
    const Site site("MPI_Type_set_name");
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    if (const int wrong = site.require(type_name, "type_name")) return site.raise(wrong);
    use->name = std::string_view(type_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
    return MPI_SUCCESS;
}

int MPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
    const Site site("MPI_Type_get_name");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(type_name, "type_name")) return site.raise(wrong);
    if (const int wrong = site.require(resultlen, "resultlen")) return site.raise(wrong);
    if (datatype == MPI_DATATYPE_NULL) {
        write_text("MPI_DATATYPE_NULL", MPI_MAX_OBJECT_NAME, type_name, resultlen);
        return MPI_SUCCESS;
    }
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    write_text(use->name, MPI_MAX_OBJECT_NAME, type_name, resultlen);
    return MPI_SUCCESS;
}

int MPI_Type_get_envelope(
    MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes, int* combiner
) {
    const Site site("MPI_Type_get_envelope");
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    if (num_integers == nullptr || num_addresses == nullptr || num_datatypes == nullptr ||
        combiner == nullptr) {
        return site.raise(MPI_ERR_ARG, "a result is null");
    }
    if (const int wrong = refuse_large(site, *use)) return site.raise(wrong);
    const Envelope& envelope = use->envelope;
    *num_integers = static_cast<int>(envelope.integers.size());
    *num_addresses = static_cast<int>(envelope.addresses.size());
    *num_datatypes = static_cast<int>(envelope.types.size());
    *combiner = envelope.combiner;
    return MPI_SUCCESS;
}

int MPI_Type_get_envelope_c(
    MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
    MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner
) {
    const Site site("MPI_Type_get_envelope_c");
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    if (num_integers == nullptr || num_addresses == nullptr || num_large_counts == nullptr ||
        num_datatypes == nullptr || combiner == nullptr) {
        return site.raise(MPI_ERR_ARG, "a result is null");
    }
    const Envelope& envelope = use->envelope;
    *num_integers = static_cast<MPI_Count>(envelope.integers.size());
    *num_addresses = static_cast<MPI_Count>(envelope.addresses.size());
    *num_large_counts = static_cast<MPI_Count>(envelope.large_counts.size());
    *num_datatypes = static_cast<MPI_Count>(envelope.types.size());
    *combiner = envelope.combiner;
    return MPI_SUCCESS;
}

int MPI_Type_get_contents(
    MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]
) {
    const Site site("MPI_Type_get_contents");
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    const Envelope& envelope = use->envelope;
    int wrong = refuse_named(site, *use);
    if (wrong == MPI_SUCCESS) wrong = refuse_large(site, *use);
    if (wrong == MPI_SUCCESS) {
        wrong = copy_list(site, envelope.integers, max_integers, array_of_integers, "integers");
    }
    if (wrong == MPI_SUCCESS) {
        wrong = copy_list(site, envelope.addresses, max_addresses, array_of_addresses, "addresses");
    }
    if (wrong == MPI_SUCCESS) wrong = give_parts(site, *use, max_datatypes, array_of_datatypes);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Type_get_contents_c(
    MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
    MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
    MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
    MPI_Datatype array_of_datatypes[]
) {
    const Site site("MPI_Type_get_contents_c");
    Use<Type> use;
    if (const int code = open(site, datatype, use)) return code;
    const Envelope& envelope = use->envelope;
    int wrong = refuse_named(site, *use);
    if (wrong == MPI_SUCCESS) {
        wrong = copy_list(site, envelope.integers, max_integers, array_of_integers, "integers");
    }
    if (wrong == MPI_SUCCESS) {
        wrong = copy_list(site, envelope.addresses, max_addresses, array_of_addresses, "addresses");
    }
    if (wrong == MPI_SUCCESS) {
        wrong = copy_list(
            site, envelope.large_counts, max_large_counts, array_of_large_counts, "large counts"
        );
    }
    if (wrong == MPI_SUCCESS) wrong = give_parts(site, *use, max_datatypes, array_of_datatypes);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
    const Site site("MPI_Type_match_size");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(datatype, "datatype")) return site.raise(wrong);
    struct Match {
        int typeclass, size;
        MPI_Datatype type;
    };
    const Match matches[] = {
        {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
        {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
        {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
        {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
        {MPI_TYPECLASS_REAL, sizeof(long double), MPI_LONG_DOUBLE},
        {MPI_TYPECLASS_COMPLEX, 2 * sizeof(long double), MPI_C_LONG_DOUBLE_COMPLEX},
    };
    for (const Match& match : matches) {
        if (match.typeclass != typeclass || match.size != size) continue;
        *datatype = match.type;
        return MPI_SUCCESS;
    }
    return site.raise(MPI_ERR_ARG, "there is no type of {} bytes in class {}", size, typeclass);
}

int MPI_Type_get_value_index(
    MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type
) {
    const Site site("MPI_Type_get_value_index");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(pair_type, "pair_type")) return site.raise(wrong);
    Use<Type> value, index;
    if (const int wrong = site.use(value_type, value, "value_type")) return site.raise(wrong);
    if (const int wrong = site.use(index_type, index, "index_type")) return site.raise(wrong);
    struct Pair {
        MPI_Datatype value, index, pair;
    };
    const Pair pairs[] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_REAL, MPI_REAL, MPI_2REAL},
        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
    };
    *pair_type = MPI_DATATYPE_NULL;
    for (const Pair& pair : pairs) {
        if (pair.value == value_type && pair.index == index_type) *pair_type = pair.pair;
    }
    return MPI_SUCCESS;
}

namespace {

/// One of the types that are asked for by their precision and range; the same each time, and never
/// freed.
int give_f90(
    const Site& site, int combiner, std::vector<int> wish, MPI_Datatype like, MPI_Datatype* result
) {
    static std::mutex mutex;
    static std::map<std::pair<int, std::vector<int>>, TypeRef> made;
    if (const int wrong = site.require(result, "newtype")) return site.raise(wrong);
    const std::scoped_lock guard(mutex);
    TypeRef& type = made[{combiner, wish}];
    const bool is_new = type == nullptr;
    if (is_new) {
        type = std::make_shared<Type>();
        const Type& model = *site.surface().share(like);
        type->layout = model.layout;
        type->category = model.category;
        type->alignment = model.alignment;
        type->element_count = model.element_count;
        type->element_bytes = model.element_bytes;
        type->is_predefined = true;
        type->is_committed = true;
        type->envelope.combiner = combiner;
        type->envelope.integers = std::move(wish);
    }
    if (is_new) {
        const int wrong = site.give(type, &type->handle);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
    }
    *result = type->handle;
    return MPI_SUCCESS;
}

/// Whether a type of that many decimal digits and that exponent is enough.
bool is_enough(int p, int r, int digits, int range) {
    return (p == MPI_UNDEFINED || p <= digits) && (r == MPI_UNDEFINED || r <= range);
}

int create_f90_pair(
    const char* function, int combiner, int p, int r, const MPI_Datatype (&types)[2],
    MPI_Datatype* result
) {
    const Site site(function);
    if (!site.ok()) return site.error();
    const bool is_asked = p != MPI_UNDEFINED || r != MPI_UNDEFINED;
    if (is_asked && is_enough(p, r, 6, 37)) {
        return give_f90(site, combiner, {p, r}, types[0], result);
    }
    if (is_asked && is_enough(p, r, 15, 307)) {
        return give_f90(site, combiner, {p, r}, types[1], result);
    }
    return site.raise(MPI_ERR_ARG, "there is no type of precision {} and range {}", p, r);
}

}  // namespace

int MPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
    return create_f90_pair(
        "MPI_Type_create_f90_real", MPI_COMBINER_F90_REAL, p, r, {MPI_REAL4, MPI_REAL8}, newtype
    );
}

int MPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
    return create_f90_pair(
        "MPI_Type_create_f90_complex", MPI_COMBINER_F90_COMPLEX, p, r,
        {MPI_COMPLEX8, MPI_COMPLEX16}, newtype
    );
}

int MPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
    const Site site("MPI_Type_create_f90_integer");
    if (!site.ok()) return site.error();
    const MPI_Datatype like = r <= 2    ? MPI_INTEGER1
                              : r <= 4  ? MPI_INTEGER2
                              : r <= 9  ? MPI_INTEGER4
                              : r <= 18 ? MPI_INTEGER8
                                        : MPI_DATATYPE_NULL;
    if (like == MPI_DATATYPE_NULL) {
        return site.raise(MPI_ERR_ARG, "there is no integer of {} decimal digits", r);
    }
    return give_f90(site, MPI_COMBINER_F90_INTEGER, {r}, like, newtype);
}

}  // namespace dlrt::mpi
