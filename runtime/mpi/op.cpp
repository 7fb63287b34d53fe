// SPDX-License-Identifier: Apache-2.0
/// Chapter: operations of reductions.
#include "runtime/mpi/op.hpp"

#include "runtime/mpi/surface.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <mpi_functions.hpp>
#include <new>

namespace dlrt::mpi {
namespace {

struct Predefined {
    MPI_Op handle;
    ReduceOp core;
    const char* name;
};
const Predefined predefined_ops[] = {
    {MPI_SUM, ReduceOp::sum, "MPI_SUM"},
    {MPI_MIN, ReduceOp::minimum, "MPI_MIN"},
    {MPI_MAX, ReduceOp::maximum, "MPI_MAX"},
    {MPI_PROD, ReduceOp::product, "MPI_PROD"},
    {MPI_BAND, ReduceOp::bit_and, "MPI_BAND"},
    {MPI_BOR, ReduceOp::bit_or, "MPI_BOR"},
    {MPI_BXOR, ReduceOp::bit_xor, "MPI_BXOR"},
    {MPI_LAND, ReduceOp::logical_and, "MPI_LAND"},
    {MPI_LOR, ReduceOp::logical_or, "MPI_LOR"},
    {MPI_LXOR, ReduceOp::logical_xor, "MPI_LXOR"},
    {MPI_MINLOC, ReduceOp::minimum_location, "MPI_MINLOC"},
    {MPI_MAXLOC, ReduceOp::maximum_location, "MPI_MAXLOC"},
};

const Predefined* find_predefined(MPI_Op op) {
    const auto found = std::ranges::find(predefined_ops, op, &Predefined::handle);
    return found != std::end(predefined_ops) ? &*found : nullptr;
}

/// The standard's table.
bool is_allowed(ReduceOp op, Category category) {
    using C = Category;
    const bool is_number = category == C::integer || category == C::fortran_integer ||
                           category == C::floating || category == C::multi_language;
    switch (op) {
        case ReduceOp::maximum:
        case ReduceOp::minimum:
            return is_number;
        case ReduceOp::sum:
        case ReduceOp::product:
            return is_number || category == C::complex;
        case ReduceOp::logical_and:
        case ReduceOp::logical_or:
        case ReduceOp::logical_xor:
            return category == C::integer || category == C::logical ||
                   category == C::multi_language;
        case ReduceOp::bit_and:
        case ReduceOp::bit_or:
        case ReduceOp::bit_xor:
            return category == C::integer || category == C::fortran_integer ||
                   category == C::byte || category == C::multi_language;
        case ReduceOp::minimum_location:
        case ReduceOp::maximum_location:
            return category == C::pair;
        case ReduceOp::null:
        case ReduceOp::average:
            break;
    }
    return false;
}

template<typename T>
T load(const void* from, std::int64_t i) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(T), sizeof(T));
    return value;
}
template<typename T>
void store(void* to, std::int64_t i, const T& value) {
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof(T), &value, sizeof(T));
}

using LongComplex = std::complex<long double>;

UserOp complex_op(ReduceOp op) {
    const bool is_sum = op == ReduceOp::sum;
    const auto function = [is_sum](const void* left, void* right, std::int64_t count, Handle) {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto a = load<LongComplex>(left, i);
            const auto b = load<LongComplex>(right, i);
            store(right, i, is_sum ? a + b : a * b);
        }
    };
    return {function, true};
}

/// Of a value and an index that are floating point numbers both: MPI_2REAL and its like.
template<typename T>
UserOp location_op(ReduceOp op) {
    struct Pair {
        T value, index;
    };
    const bool is_minimum = op == ReduceOp::minimum_location;
    const auto function = [is_minimum](const void* left, void* right, std::int64_t count, Handle) {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto a = load<Pair>(left, i);
            const auto b = load<Pair>(right, i);
            const bool is_better = is_minimum ? a.value < b.value : a.value > b.value;
            const bool is_earlier = a.value == b.value && a.index < b.index;
            store(right, i, is_better || is_earlier ? a : b);
        }
    };
    return {function, true};
}

/// A predefined one on a type that the core has no element for.
UserOp own_op(ReduceOp op, const Type& type) {
    if (type.category == Category::complex) return complex_op(op);
    return type.handle == MPI_2REAL ? location_op<float>(op) : location_op<double>(op);
}

/// The caller's function counts in int; long vectors come to it in pieces.
UserOp user_op(MPI_User_function* function, bool is_commutative) {
    const auto call = [function](const void* left, void* right, std::int64_t count, Handle type) {
        auto handle = to_mpi<MPI_Datatype>(type);
        if (count <= std::numeric_limits<int>::max()) {
            auto length = static_cast<int>(count);
            function(const_cast<void*>(left), right, &length, &handle);
            return;
        }
        const TypeRef object = Surface::get().share(handle);
        if (object == nullptr) return;
        const std::int64_t extent = object->layout->extent_bytes();
        for (std::int64_t done = 0; done < count;) {
            const std::int64_t rest = count - done;
            auto length = static_cast<int>(
                std::min<std::int64_t>(rest, std::numeric_limits<int>::max())
            );
            const auto* const from = static_cast<const std::byte*>(left) + done * extent;
            function(
                const_cast<std::byte*>(from), static_cast<std::byte*>(right) + done * extent,
                &length, &handle
            );
            done += length;
        }
    };
    return {call, is_commutative};
}

UserOp user_op(MPI_User_function_c* function, bool is_commutative) {
    const auto call = [function](const void* left, void* right, std::int64_t count, Handle type) {
        auto handle = to_mpi<MPI_Datatype>(type);
        MPI_Count length = count;
        function(const_cast<void*>(left), right, &length, &handle);
    };
    return {call, is_commutative};
}

template<typename Function>
int create(const char* name, Function* function, int commute, MPI_Op* op) {
    const Site site(name);
    if (!site.ok()) return site.error();
    if (function == nullptr) return site.raise(MPI_ERR_ARG, "the function is null");
    if (const int wrong = site.require(op, "op")) return site.raise(wrong);
    auto made = std::make_shared<Op>();
    made->core = std::make_shared<const UserOp>(user_op(function, commute != 0));
    const int wrong = site.give(std::move(made), op);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

/// Elements that are reduced as wider ones, a few at a time.
void reduce_narrow(
    const Reducer& reducer, const void* input, void* result, std::uint64_t element_count
) {
    constexpr std::uint64_t chunk = 256;
    alignas(std::max_align_t) std::byte left[chunk * sizeof(long double)];
    alignas(std::max_align_t) std::byte right[chunk * sizeof(long double)];
    const ElementType narrow = reducer.stored();
    const std::uint64_t narrow_bytes = element_size_bytes(narrow);
    const std::uint64_t wide_bytes = element_size_bytes(reducer.carried());
    const auto* from = static_cast<const std::byte*>(input);
    auto* to = static_cast<std::byte*>(result);
    for (std::uint64_t done = 0; done < element_count; done += chunk) {
        const std::uint64_t count = std::min(chunk, element_count - done);
        widen_elements(narrow, from + done * narrow_bytes, left, count);
        widen_elements(narrow, to + done * narrow_bytes, right, count);
        reducer.apply(left, right, right, count * wide_bytes, nullptr);
        narrow_elements(narrow, right, to + done * narrow_bytes, count);
    }
}

}  // namespace

int use_op(const Site& site, MPI_Op op, const Type& type, MPI_Datatype handle, Reducer& reducer) {
    const Predefined* const predefined = find_predefined(op);
    if (predefined == nullptr) {
        if (op == MPI_REPLACE || op == MPI_NO_OP) {
            return site.bad(MPI_ERR_OP, "op is for one-sided communication only");
        }
        OpRef found;
        if (const int wrong = site.use(op, found)) return wrong;
        reducer = Reducer(found->core, type.layout, to_handle(handle));
        return MPI_SUCCESS;
    }
    if (!is_allowed(predefined->core, type.category)) {
        return site.bad(
            MPI_ERR_OP, "{} isn't defined for {}", predefined->name,
            type.name.empty() ? "a derived datatype" : type.name
        );
    }
    if (type.layout->element() != ElementType::none && type.handle != MPI_2REAL &&
        type.handle != MPI_2DOUBLE_PRECISION &&
        dlrt::is_defined(predefined->core, type.layout->element())) {
        reducer = Reducer(predefined->core, type.layout->element());
    } else {
        auto own = std::make_shared<const UserOp>(own_op(predefined->core, type));
        reducer = Reducer(std::move(own), type.layout, Handle{});
    }
    return MPI_SUCCESS;
}

int MPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
    return create("MPI_Op_create", user_fn, commute, op);
}

int MPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
    return create("MPI_Op_create_c", user_fn, commute, op);
}

int MPI_Op_free(MPI_Op* op) {
    const Site site("MPI_Op_free");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(op, "op")) return site.raise(wrong);
    if (is_always_there(*op) && *op != MPI_OP_NULL) {
        return site.raise(MPI_ERR_OP, "predefined operations can't be freed");
    }
    OpRef found;
    if (const int wrong = site.use(*op, found)) return site.raise(wrong);
    static_cast<void>(site.surface().ops.remove(to_handle(*op)));
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int MPI_Op_commutative(MPI_Op op, int* commute) {
    const Site site("MPI_Op_commutative");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(commute, "commute")) return site.raise(wrong);
    if (find_predefined(op) != nullptr || op == MPI_REPLACE || op == MPI_NO_OP) {
        *commute = op == MPI_REPLACE || op == MPI_NO_OP ? 0 : 1;
        return MPI_SUCCESS;
    }
    OpRef found;
    if (const int wrong = site.use(op, found)) return site.raise(wrong);
    *commute = found->core->is_commutative ? 1 : 0;
    return MPI_SUCCESS;
}

int MPI_Reduce_local(
    const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op
) {
    const Site site("MPI_Reduce_local");
    if (!site.ok()) return site.error();
    Use<Type> type;
    Reducer reducer;
    int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT);
    if (wrong == MPI_SUCCESS) wrong = site.use(datatype, type);
    if (wrong == MPI_SUCCESS && type->layout == nullptr) {
        wrong = site.bad(MPI_ERR_TYPE, "{} isn't supported on this platform", type->name);
    }
    if (wrong == MPI_SUCCESS) wrong = use_op(site, op, *type, datatype, reducer);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    if (count == 0) return MPI_SUCCESS;
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE) {
        return site.raise(MPI_ERR_BUFFER, "MPI_IN_PLACE isn't valid here");
    }
    if (inbuf == inoutbuf) return site.raise(MPI_ERR_BUFFER, "both buffers are the same");
    if (find_predefined(op) == nullptr) {
        OpRef found;
        wrong = site.use(op, found);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
        found->core->function(inbuf, inoutbuf, count, to_handle(datatype));
        return MPI_SUCCESS;
    }
    const auto elements = static_cast<std::uint64_t>(count);
    if (!reducer.is_plain() && !reducer.is_user()) {
        reduce_narrow(reducer, inbuf, inoutbuf, elements);
        return MPI_SUCCESS;
    }
    const std::uint64_t bytes = elements * type->layout->size_bytes();
    const std::uint64_t all_bytes = 2 * bytes + reducer.memory_bytes();
    const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[all_bytes]);
    if (memory == nullptr) return site.raise(MPI_ERR_NO_MEM, "no memory for {} bytes", all_bytes);
    std::byte* const left = memory.get();
    std::byte* const right = left + bytes;
    pack(*type->layout, elements, inbuf, 0, {left, bytes});
    pack(*type->layout, elements, inoutbuf, 0, {right, bytes});
    reducer.apply(left, right, right, bytes, right + bytes);
    unpack(*type->layout, elements, inoutbuf, 0, {right, bytes});
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
