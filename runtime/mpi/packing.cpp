// SPDX-License-Identifier: Apache-2.0
/// Chapter: packing data into bytes and out of them, as this machine has it and as external32 does.
#include "runtime/mpi/external32.hpp"
#include "runtime/mpi/surface.hpp"

#include <memory>
#include <mpi_functions.hpp>
#include <new>
#include <string_view>

namespace dlrt::mpi {
namespace {

/// Elements of the caller's, and the bytes that they make.
struct Data {
    Use<Type> type;
    std::uint64_t count = 0;
    std::uint64_t size_bytes = 0;
};

int use_data(const Site& site, MPI_Count count, MPI_Datatype handle, Data& data) {
    if (const int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT)) return wrong;
    if (const int wrong = site.use(handle, data.type)) return wrong;
    if (data.type->layout == nullptr) {
        return site.bad(MPI_ERR_TYPE, "{} isn't supported on this platform", data.type->name);
    }
    data.count = static_cast<std::uint64_t>(count);
    const std::uint64_t bytes = data.type->layout->size_bytes();
    if (!__builtin_mul_overflow(data.count, bytes, &data.size_bytes)) return MPI_SUCCESS;
    return site.bad(MPI_ERR_COUNT, "{} elements of {} bytes are too many", count, bytes);
}

/// The packed bytes and the place in them.
struct Room {
    const void* address;
    MPI_Count size;
    NumberResult position;
};

int check_room(const Site& site, const Room& room, std::uint64_t bytes) {
    if (room.position.is_null()) return site.bad(MPI_ERR_ARG, "position is null");
    const std::int64_t at = room.position.get();
    if (room.size < 0) return site.bad(MPI_ERR_ARG, "a size of {} is negative", room.size);
    const bool fits = at >= 0 && at <= room.size &&
                      bytes <= static_cast<std::uint64_t>(room.size - at);
    if (!fits) {
        return site.bad(
            MPI_ERR_TRUNCATE, "{} bytes don't fit at {} of a packed buffer of {} bytes", bytes, at,
            room.size
        );
    }
    if (bytes == 0 || room.address != nullptr) return MPI_SUCCESS;
    return site.bad(MPI_ERR_BUFFER, "the packed buffer is null");
}

int check_user(const Site& site, const void* address, const Data& data) {
    const bool is_absolute = !data.type->is_predefined;
    if (address != nullptr || data.size_bytes == 0 || is_absolute) return MPI_SUCCESS;
    return site.bad(MPI_ERR_BUFFER, "the buffer of {} bytes is null", data.size_bytes);
}

void advance(const Room& room, std::uint64_t bytes) {
    room.position.set(room.position.get() + static_cast<std::int64_t>(bytes));
}

int check_representation(const Site& site, const char* name) {
    if (const int wrong = site.require(name, "datarep")) return wrong;
    if (std::string_view(name) == "external32") return MPI_SUCCESS;
    return site.bad(MPI_ERR_ARG, "datarep '{}' isn't known, only 'external32'", name);
}

}  // namespace

int MPI_Pack(
    const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
    NumberResult position, MPI_Comm comm
) {
    const Site site("MPI_Pack", comm);
    if (!site.ok()) return site.error();
    Data data;
    const Room room{outbuf, outsize, position};
    int wrong = use_data(site, incount, datatype, data);
    if (wrong == MPI_SUCCESS) wrong = check_room(site, room, data.size_bytes);
    if (wrong == MPI_SUCCESS) wrong = check_user(site, inbuf, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    std::byte* const target = static_cast<std::byte*>(outbuf) + position.get();
    if (data.size_bytes > 0) {
        pack(*data.type->layout, data.count, inbuf, 0, {target, data.size_bytes});
    }
    advance(room, data.size_bytes);
    return MPI_SUCCESS;
}

int MPI_Unpack(
    const void* inbuf, MPI_Count insize, NumberResult position, void* outbuf, MPI_Count outcount,
    MPI_Datatype datatype, MPI_Comm comm
) {
    const Site site("MPI_Unpack", comm);
    if (!site.ok()) return site.error();
    Data data;
    const Room room{inbuf, insize, position};
    int wrong = use_data(site, outcount, datatype, data);
    if (wrong == MPI_SUCCESS) wrong = check_room(site, room, data.size_bytes);
    if (wrong == MPI_SUCCESS) wrong = check_user(site, outbuf, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const std::byte* const source = static_cast<const std::byte*>(inbuf) + position.get();
    if (data.size_bytes > 0) {
        unpack(*data.type->layout, data.count, outbuf, 0, {source, data.size_bytes});
    }
    advance(room, data.size_bytes);
    return MPI_SUCCESS;
}

int MPI_Pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, NumberResult size) {
    const Site site("MPI_Pack_size", comm);
    if (!site.ok()) return site.error();
    Data data;
    if (size.is_null()) return site.raise(MPI_ERR_ARG, "size is null");
    const int wrong = use_data(site, incount, datatype, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    size.set(static_cast<std::int64_t>(data.size_bytes));
    return MPI_SUCCESS;
}

int MPI_Pack_external_size(
    const char* datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count* size
) {
    const Site site("MPI_Pack_external_size");
    if (!site.ok()) return site.error();
    Data data;
    int wrong = check_representation(site, datarep);
    if (wrong == MPI_SUCCESS) wrong = site.require(size, "size");
    if (wrong == MPI_SUCCESS) wrong = use_data(site, incount, datatype, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    *size = static_cast<MPI_Count>(data.count * external32_bytes(*data.type));
    return MPI_SUCCESS;
}

int MPI_Pack_external(
    const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
    MPI_Count outsize, MPI_Count* position
) {
    const Site site("MPI_Pack_external");
    if (!site.ok()) return site.error();
    Data data;
    const Room room{outbuf, outsize, NumberResult(position)};
    int wrong = check_representation(site, datarep);
    if (wrong == MPI_SUCCESS) wrong = use_data(site, incount, datatype, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const std::uint64_t external_bytes = data.count * external32_bytes(*data.type);
    wrong = check_room(site, room, external_bytes);
    if (wrong == MPI_SUCCESS) wrong = check_user(site, inbuf, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    if (data.size_bytes == 0) return MPI_SUCCESS;
    const std::unique_ptr<std::byte[]> native(new (std::nothrow) std::byte[data.size_bytes]);
    if (native == nullptr) {
        return site.raise(MPI_ERR_NO_MEM, "no memory for {} bytes", data.size_bytes);
    }
    pack(*data.type->layout, data.count, inbuf, 0, {native.get(), data.size_bytes});
    write_external32(
        *data.type, data.count, native.get(), static_cast<std::byte*>(outbuf) + *position
    );
    advance(room, external_bytes);
    return MPI_SUCCESS;
}

int MPI_Unpack_external(
    const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
    MPI_Count outcount, MPI_Datatype datatype
) {
    const Site site("MPI_Unpack_external");
    if (!site.ok()) return site.error();
    Data data;
    const Room room{inbuf, insize, NumberResult(position)};
    int wrong = check_representation(site, datarep);
    if (wrong == MPI_SUCCESS) wrong = use_data(site, outcount, datatype, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const std::uint64_t external_bytes = data.count * external32_bytes(*data.type);
    wrong = check_room(site, room, external_bytes);
    if (wrong == MPI_SUCCESS) wrong = check_user(site, outbuf, data);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    if (data.size_bytes == 0) return MPI_SUCCESS;
    const std::unique_ptr<std::byte[]> native(new (std::nothrow) std::byte[data.size_bytes]);
    if (native == nullptr) {
        return site.raise(MPI_ERR_NO_MEM, "no memory for {} bytes", data.size_bytes);
    }
    read_external32(
        *data.type, data.count, static_cast<const std::byte*>(inbuf) + *position, native.get()
    );
    unpack(*data.type->layout, data.count, outbuf, 0, {native.get(), data.size_bytes});
    advance(room, external_bytes);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
