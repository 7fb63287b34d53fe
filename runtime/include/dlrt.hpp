// SPDX-License-Identifier: Apache-2.0
/// dlrt.hpp: message passing for C++20. Header only over dlrt.h; link with -ldlrt.
///
///     dlrt::Session session;
///     dlrt::Communicator& world = session.world;
///     dlrt::Request sending = world.isend(values, {.to = next, .tag = 7});
///     world.recv(halo, {.from = previous, .tag = 7});
///     sending.wait();
///
/// Buffers are contiguous ranges, single values, or dlrt::Elements with a Type that has gaps.
/// Failures throw dlrt::Error. Owners (Communicator, Group, Type, Request) move and don't copy; a
/// request waits when it is destroyed, so that no buffer dies under it. Threads and everything
/// else: as dlrt.h says.
#ifndef DLRT_HPP
#define DLRT_HPP

#include "dlrt.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// For levels with DLRT_THREAD_PROGRESS.
constexpr dlrt_thread_level operator|(dlrt_thread_level level, dlrt_thread_level flag) {
    return static_cast<dlrt_thread_level>(
        static_cast<unsigned>(level) | static_cast<unsigned>(flag)
    );
}

namespace dlrt {
// Keeps these names apart from the library's own.
inline namespace cpp {

class Error : public std::runtime_error {
  public:
    explicit Error(dlrt_err code) : std::runtime_error(dlrt_last_error()), code_(code) {}
    [[nodiscard]] dlrt_err code() const { return code_; }

  private:
    dlrt_err code_;
};

inline void check(dlrt_err code) {
    if (code != DLRT_OK) throw Error(code);
}

inline constexpr int any_source = DLRT_ANY_SOURCE;
inline constexpr int any_tag = DLRT_ANY_TAG;
inline constexpr int no_process = DLRT_PROC_NULL;
/// The root's own root between two groups; those beside it pass no_process.
inline constexpr int root_here = DLRT_ROOT;

/// Where a message goes, and what to take: `{.to = 3, .tag = 7}`, `{.from = 3}`.
struct To {
    int to;
    int tag = 0;
};
struct From {
    int from = any_source;
    int tag = any_tag;
};

// ---- What can be sent ----

/// Bytes that mean the same in another process: no pointers.
template<typename T>
concept Transferable = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                       !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T>;

template<typename R>
concept TransferableRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Transferable<std::ranges::range_value_t<R>>;

struct ConstElements;

/// A description of memory is not itself a value to be sent.
template<typename T>
concept TransferableValue = Transferable<T> && !std::ranges::range<T> &&
                            !std::is_base_of_v<ConstElements, T>;

/// A value and where it is, for Op::min_location and Op::max_location.
template<typename V>
struct Located {
    V value{};
    std::int32_t index = 0;
};
template<typename T>
inline constexpr bool is_located = false;
template<typename V>
inline constexpr bool is_located<Located<V>> = true;

/// The type of Located<V>; DLRT_TYPE_NULL where there is none.
template<typename V>
[[nodiscard]] constexpr dlrt_type located_type() {
    if constexpr (std::is_same_v<V, float>) return DLRT_FLOAT_INT32;
    if constexpr (std::is_same_v<V, double>) return DLRT_DOUBLE_INT32;
    if constexpr (std::is_same_v<V, long double>) return DLRT_LONG_DOUBLE_INT32;
    if constexpr (std::is_integral_v<V> && std::is_signed_v<V>) {
        if constexpr (sizeof(V) == 2) return DLRT_INT16_INT32;
        if constexpr (sizeof(V) == 4) return DLRT_INT32_INT32;
        if constexpr (sizeof(V) == 8) return DLRT_INT64_INT32;
    }
    return DLRT_TYPE_NULL;
}

/// The element type of T; DLRT_TYPE_NULL for structs, which travel as bytes.
template<Transferable T>
[[nodiscard]] constexpr dlrt_type element_type() {
    if constexpr (std::is_enum_v<T> && !std::is_same_v<T, std::byte>) {
        return element_type<std::underlying_type_t<T>>();
    } else if constexpr (std::is_same_v<T, bool>) {
        return DLRT_BOOL;
    } else if constexpr (std::is_same_v<T, char>) {
        return DLRT_CHAR;
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
        constexpr bool is_signed = std::is_signed_v<T>;
        if constexpr (sizeof(T) == 1) return is_signed ? DLRT_INT8 : DLRT_UINT8;
        if constexpr (sizeof(T) == 2) return is_signed ? DLRT_INT16 : DLRT_UINT16;
        if constexpr (sizeof(T) == 4) return is_signed ? DLRT_INT32 : DLRT_UINT32;
        if constexpr (sizeof(T) == 8) return is_signed ? DLRT_INT64 : DLRT_UINT64;
    } else if constexpr (std::is_same_v<T, float>) {
        return DLRT_FLOAT;
    } else if constexpr (std::is_same_v<T, double>) {
        return DLRT_DOUBLE;
    } else if constexpr (std::is_same_v<T, long double>) {
        return DLRT_LONG_DOUBLE;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return DLRT_COMPLEX_FLOAT;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
        return DLRT_COMPLEX_DOUBLE;
    } else if constexpr (is_located<T>) {
        return located_type<decltype(T::value)>();
    } else {
        return DLRT_TYPE_NULL;
    }
}

/// Has an element type, so that reductions know what it is.
template<typename T>
concept Reducible = Transferable<T> && element_type<T>()
.index != 0;

/// Of one T on its way.
template<Transferable T>
[[nodiscard]] constexpr std::size_t sent_size_bytes() {
    // The gaps of these stay behind.
    if constexpr (is_located<T> && Reducible<T>) return sizeof(T::value) + sizeof(T::index);
    return sizeof(T);
}

/// A layout in memory, possibly with gaps.
class Type {
  public:
    template<Reducible T>
    [[nodiscard]] static Type of() {
        return Type(element_type<T>());
    }
    /// So many bytes that mean nothing to dlrt.
    [[nodiscard]] static Type bytes(std::int64_t count) {
        return make([&](dlrt_type* made) { return dlrt_type_contiguous(count, DLRT_BYTE, made); });
    }
    [[nodiscard]] static Type contiguous(std::int64_t count, const Type& old) {
        return make([&](dlrt_type* made) { return dlrt_type_contiguous(count, old, made); });
    }
    /// stride in extents of old.
    [[nodiscard]] static Type vector(
        std::int64_t count, std::int64_t block_length, std::int64_t stride, const Type& old
    ) {
        return make([&](dlrt_type* made) {
            return dlrt_type_vector(count, block_length, stride, old, made);
        });
    }
    /// Displacements in extents of old. REQUIRES: both spans have one size.
    [[nodiscard]] static Type indexed(
        std::span<const std::int64_t> block_lengths, std::span<const std::int64_t> displacements,
        const Type& old
    ) {
        if (block_lengths.size() != displacements.size()) {
            throw std::invalid_argument("dlrt::Type::indexed: the spans differ in size");
        }
        const auto count = static_cast<std::int64_t>(block_lengths.size());
        return make([&](dlrt_type* made) {
            return dlrt_type_indexed(count, block_lengths.data(), displacements.data(), old, made);
        });
    }
    /// `{offsetof(Particle, mass), Type::of<double>(), 1}`
    struct Field {
        std::size_t offset_bytes;
        const Type& type;
        std::int64_t count = 1;
    };
    [[nodiscard]] static Type structure(std::initializer_list<Field> fields) {
        std::vector<std::int64_t> counts, offsets;
        std::vector<dlrt_type> types;
        for (const Field& field : fields) {
            counts.push_back(field.count);
            offsets.push_back(static_cast<std::int64_t>(field.offset_bytes));
            types.push_back(field.type);
        }
        return make([&](dlrt_type* made) {
            const auto count = static_cast<std::int64_t>(counts.size());
            return dlrt_type_struct(count, counts.data(), offsets.data(), types.data(), made);
        });
    }
    [[nodiscard]] Type resized(std::int64_t lower_bound_bytes, std::int64_t extent_bytes) const {
        return make([&](dlrt_type* made) {
            return dlrt_type_resized(type_, lower_bound_bytes, extent_bytes, made);
        });
    }
    /// A box in an array, last index fastest. REQUIRES: all spans have one size.
    [[nodiscard]] static Type subarray(
        std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
        std::span<const std::int64_t> starts, const Type& old
    ) {
        if (sizes.size() != subsizes.size() || sizes.size() != starts.size()) {
            throw std::invalid_argument("dlrt::Type::subarray: the spans differ in size");
        }
        return make([&](dlrt_type* made) {
            return dlrt_type_subarray(
                static_cast<std::int32_t>(sizes.size()), sizes.data(), subsizes.data(),
                starts.data(), DLRT_ROW_MAJOR, old, made
            );
        });
    }

    Type(Type&& other) noexcept : type_(std::exchange(other.type_, DLRT_TYPE_NULL)) {}
    Type& operator=(Type&& other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~Type() {
        // Refused for predefined ones, which are nobody's to free.
        if (type_.generation != 0) static_cast<void>(dlrt_type_free(&type_));
    }

    operator dlrt_type() const { return type_; }  // NOLINT(*-explicit-*)
    [[nodiscard]] std::uint64_t size_bytes() const {
        std::uint64_t size = 0;
        check(dlrt_type_size(type_, &size));
        return size;
    }

  private:
    explicit Type(dlrt_type type) : type_(type) {}
    template<typename Maker>
    static Type make(const Maker& maker) {
        dlrt_type made = DLRT_TYPE_NULL;
        check(maker(&made));
        return Type(made);
    }
    dlrt_type type_;
};

/// Memory to be sent: a range, a value, or elements of a Type.
struct ConstElements {
    const void* data = nullptr;
    std::int64_t count = 0;
    dlrt_type type = DLRT_BYTE;

    template<TransferableRange R>
    ConstElements(const R& range)  // NOLINT(*-explicit-*)
        : ConstElements(std::ranges::data(range), std::ranges::size(range)) {}
    template<TransferableValue T>
    ConstElements(const T& value) : ConstElements(&value, 1) {}  // NOLINT(*-explicit-*)
    ConstElements(const void* first, std::int64_t element_count, const Type& element)
        : data(first), count(element_count), type(element) {}

  protected:
    template<typename T>
    ConstElements(const T* first, std::size_t element_count) : data(first) {
        constexpr bool has_type = element_type<T>().index != 0;
        type = has_type ? element_type<T>() : DLRT_BYTE;
        count = static_cast<std::int64_t>(element_count * (has_type ? 1 : sizeof(T)));
    }
};

/// Memory to be written.
struct Elements : ConstElements {
    template<TransferableRange R>
    requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
        Elements(R&& range)  // NOLINT(*-explicit-*, *-forwarding-*)
        : ConstElements(std::ranges::data(range), std::ranges::size(range)) {}
    template<TransferableValue T>
    requires(!std::is_const_v<T>) Elements(T& value)
        : ConstElements(&value, 1) {}  // NOLINT(*-explicit-*)
    Elements(void* first, std::int64_t element_count, const Type& element)
        : ConstElements(first, element_count, element) {}

    [[nodiscard]] void* address() const { return const_cast<void*>(data); }
};

/// A buffer that lives on: an lvalue, or a view such as std::span.
template<typename B>
concept Lasting = std::is_lvalue_reference_v<B> || std::ranges::borrowed_range<B> ||
    std::is_base_of_v<ConstElements, std::remove_cvref_t<B>>;

// ---- Outcomes ----

class Status {
  public:
    Status() = default;
    [[nodiscard]] int source() const { return status_.source; }
    [[nodiscard]] int tag() const { return status_.tag; }
    [[nodiscard]] bool is_cancelled() const { return status_.cancelled != 0; }
    [[nodiscard]] std::uint64_t size_bytes() const { return status_.size_bytes; }
    /// Whole elements received.
    template<Transferable T>
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(status_.size_bytes / sent_size_bytes<T>());
    }
    [[nodiscard]] dlrt_status* out() { return &status_; }

  private:
    dlrt_status status_{};
};

/// An operation in flight. Waits when destroyed; errors are then lost, so call wait().
class [[nodiscard]] Request {
  public:
    Request() = default;
    explicit Request(dlrt_request request) : request_(request) {}
    Request(Request&& other) noexcept
        : request_(std::exchange(other.request_, DLRT_REQUEST_NULL)) {}
    Request& operator=(Request&& other) noexcept {
        std::swap(request_, other.request_);
        return *this;
    }
    ~Request() {
        if (request_.generation == 0) return;
        static_cast<void>(dlrt_wait(&request_, nullptr));
        // A persistent request is still there.
        if (request_.generation != 0) static_cast<void>(dlrt_request_free(&request_));
    }

    Status wait() {
        Status status;
        check(dlrt_wait(&request_, status.out()));
        return status;
    }
    /// Empty while it is not complete.
    [[nodiscard]] std::optional<Status> test() {
        Status status;
        int is_complete = 0;
        check(dlrt_test(&request_, &is_complete, status.out()));
        return is_complete != 0 ? std::optional(status) : std::nullopt;
    }
    /// Begins one round of a persistent request.
    void start() { check(dlrt_start(request_)); }
    /// Receives only; it must still be waited for.
    void cancel() { check(dlrt_cancel(request_)); }
    [[nodiscard]] dlrt_request* out() { return &request_; }

  private:
    dlrt_request request_ = DLRT_REQUEST_NULL;
};

inline void wait_all(std::span<Request> requests) {
    std::vector<dlrt_request> handles;
    for (Request& request : requests) handles.push_back(*request.out());
    const dlrt_err outcome = dlrt_waitall(
        static_cast<std::int32_t>(handles.size()), handles.data(), nullptr
    );
    for (std::size_t i = 0; i < handles.size(); ++i) *requests[i].out() = handles[i];
    check(outcome);
}

/// The index of one that is complete; empty when all are null or inactive.
[[nodiscard]] inline std::optional<std::size_t> wait_any(std::span<Request> requests) {
    std::vector<dlrt_request> handles;
    for (Request& request : requests) handles.push_back(*request.out());
    std::int32_t index = DLRT_UNDEFINED;
    const dlrt_err outcome = dlrt_waitany(
        static_cast<std::int32_t>(handles.size()), handles.data(), &index, nullptr
    );
    for (std::size_t i = 0; i < handles.size(); ++i) *requests[i].out() = handles[i];
    check(outcome);
    return index >= 0 ? std::optional(static_cast<std::size_t>(index)) : std::nullopt;
}

}  // namespace cpp
}  // namespace dlrt

#include "dlrt_communicator.hpp"
#include "dlrt_memory.hpp"

#endif  // DLRT_HPP
