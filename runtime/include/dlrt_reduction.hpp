// SPDX-License-Identifier: Apache-2.0
/// The part of dlrt.hpp that deals with reductions. Include dlrt.hpp, not this.
// dlrt.hpp includes this file in its right place.
#ifndef DLRT_HPP
#include "dlrt.hpp"
#endif

#ifndef DLRT_REDUCTION_HPP
#define DLRT_REDUCTION_HPP

#include <memory>

namespace dlrt {
inline namespace cpp {

/// dlrt's own reductions; dlrt.h says what each accepts.
enum class Op : std::uint32_t {
    sum = DLRT_SUM.index,
    product = DLRT_PROD.index,
    min = DLRT_MIN.index,
    max = DLRT_MAX.index,
    logical_and = DLRT_LAND.index,
    logical_or = DLRT_LOR.index,
    logical_xor = DLRT_LXOR.index,
    bit_and = DLRT_BAND.index,
    bit_or = DLRT_BOR.index,
    bit_xor = DLRT_BXOR.index,
    min_location = DLRT_MINLOC.index,
    max_location = DLRT_MAXLOC.index,
    average = DLRT_AVG.index,
};

/// no: operands are combined in the order of ranks.
enum class Commutes : std::uint8_t { no, yes };

/// A reduction that is the caller's: an associative function of two T. It must outlive the
/// operations that use it, not throw, and not communicate.
///
///     const dlrt::CustomOp<Matrix> product([](const Matrix& a, const Matrix& b) { return a * b;
///     }); world.allreduce(matrices, product);
template<Transferable T>
class CustomOp {
  public:
    template<typename F>
    requires std::is_invocable_r_v<T, const F&, const T&, const T&>
    explicit CustomOp(F function, Commutes commutes = Commutes::no)
        : type_(make_type()), function_(std::make_shared<const F>(std::move(function))) {
        void* const user = const_cast<void*>(function_.get());
        check(dlrt_op_create(&apply<F>, user, commutes == Commutes::yes ? 1 : 0, &op_));
    }
    CustomOp(CustomOp&& other) noexcept
        : type_(std::move(other.type_)),
          function_(std::move(other.function_)),
          op_(std::exchange(other.op_, DLRT_OP_NULL)) {}
    CustomOp& operator=(CustomOp&& other) noexcept {
        std::swap(type_, other.type_);
        std::swap(function_, other.function_);
        std::swap(op_, other.op_);
        return *this;
    }
    ~CustomOp() {
        if (op_.generation != 0) static_cast<void>(dlrt_op_free(&op_));
    }

    [[nodiscard]] dlrt_op handle() const { return op_; }
    [[nodiscard]] const Type& type() const { return type_; }

  private:
    static Type make_type() {
        if constexpr (Reducible<T>) {
            return Type::template of<T>();
        } else {
            return Type::bytes(static_cast<std::int64_t>(sizeof(T)));
        }
    }
    template<typename F>
    static void apply(
        const void* left, void* right, std::int64_t count, dlrt_type, void* user
    ) noexcept {
        const F& function = *static_cast<const F*>(user);
        const T* const operands = static_cast<const T*>(left);
        T* const results = static_cast<T*>(right);
        for (std::int64_t i = 0; i < count; ++i) results[i] = function(operands[i], results[i]);
    }

    Type type_;
    std::shared_ptr<const void> function_;
    dlrt_op op_ = DLRT_OP_NULL;
};

/// Either kind of reduction, for the length of a call.
class AnyOp {
  public:
    AnyOp(Op op) : op_{static_cast<std::uint32_t>(op), 0} {}  // NOLINT(*-explicit-*)
    template<typename T>
    AnyOp(const CustomOp<T>& op)  // NOLINT(*-explicit-*)
        : op_(op.handle()), type_(op.type()), size_bytes_(sizeof(T)) {}

    [[nodiscard]] dlrt_op handle() const { return op_; }
    /// The same memory, in elements that the reduction takes.
    template<typename Memory>
    [[nodiscard]] Memory elements(Memory memory) const {
        const auto is_same = [](dlrt_type a, dlrt_type b) {
            return a.index == b.index && a.generation == b.generation;
        };
        if (type_.index == 0 || is_same(memory.type, type_)) return memory;
        if (!is_same(memory.type, DLRT_BYTE) || memory.count % size_bytes_ != 0) {
            throw std::invalid_argument("dlrt: the reduction is for elements of another type");
        }
        memory.type = type_;
        memory.count /= size_bytes_;
        return memory;
    }

  private:
    dlrt_op op_;
    dlrt_type type_ = DLRT_TYPE_NULL;
    std::int64_t size_bytes_ = 1;
};

}  // namespace cpp
}  // namespace dlrt

#endif  // DLRT_REDUCTION_HPP
