// SPDX-License-Identifier: Apache-2.0
#include "launcher/frame.hpp"

#include "runtime/base/byte_io.hpp"
#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <concepts>
#include <sys/socket.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

/// In order, as visit_fields.
template<typename Fields, typename Topology>
void visit_topology(Fields& fields, Topology& t) {
    fields(t.detail, t.packages, t.numas, t.l3s, t.cores, t.hwthreads, t.l2s, t.devices);
    fields(t.cpu_model);
}

/// Writes a list of fields. FieldReader has the same call, so that each frame lists its fields
/// once.
class FieldWriter {
  public:
    template<typename... Fields>
    void operator()(const Fields&... fields) {
        (put(fields), ...);
    }
    [[nodiscard]] std::vector<std::byte> take() { return writer_.take(); }

    template<std::unsigned_integral T>
    void put(T value) {
        writer_.number(value);
    }
    void put(bool value) { writer_.boolean(value); }
    void put(std::int32_t value) { writer_.number(static_cast<std::uint32_t>(value)); }
    void put(StreamKind value) { writer_.number(static_cast<std::uint8_t>(value)); }
    void put(StdinKind value) { writer_.number(static_cast<std::uint8_t>(value)); }
    void put(MemoryBinding value) { writer_.number(static_cast<std::uint8_t>(value)); }
    void put(TopologyDetail value) { writer_.number(static_cast<std::uint8_t>(value)); }
    void put(const std::string& value) { writer_.text(value); }
    void put(const std::vector<std::byte>& value) { writer_.blob(value); }
    void put(const RankSet& value) { writer_.text(value.text()); }
    void put(const OutputRule& value) {
        (*this)(value.file_pattern, value.file_tags, value.has_file_times);
        (*this)(value.forwarded_ranks, value.merges_stderr, value.passes_prompts);
    }
    void put(const RankUsage& value) {
        (*this)(value.started_at_unix_ns, value.max_rss_kib, value.user_us, value.system_us);
    }
    void put(const Program& value) {
        (*this)(value.arguments, value.environment, value.working_directory);
    }
    void put(const TopologyObject& value) {
        (*this)(value.os_index, value.cpus, value.size_bytes, value.kind);
    }
    void put(const TopologyDevice& value) {
        put(static_cast<std::uint8_t>(value.kind));
        (*this)(value.name, value.detail, value.near_cpus);
    }
    void put(const HostTopology& value) { visit_topology(*this, value); }
    template<typename T>
    void put(const std::vector<T>& values) {
        writer_.number(static_cast<std::uint32_t>(values.size()));
        for (const T& value : values) put(value);
    }

  private:
    ByteWriter writer_;
};

class FieldReader {
  public:
    explicit FieldReader(Bytes bytes) : reader_(bytes) {}
    template<typename... Fields>
    void operator()(Fields&... fields) {
        (get(fields), ...);
    }
    [[nodiscard]] bool is_complete() const { return is_valid_ && reader_.is_at_end(); }

    template<std::unsigned_integral T>
    void get(T& value) {
        value = reader_.number<T>();
    }
    void get(bool& value) { value = reader_.boolean(); }
    void get(std::int32_t& value) {
        value = static_cast<std::int32_t>(reader_.number<std::uint32_t>());
    }
    void get(StreamKind& value) {
        value = static_cast<StreamKind>(reader_.number<std::uint8_t>());
        if (value != StreamKind::out && value != StreamKind::err) is_valid_ = false;
    }
    void get(StdinKind& value) {
        value = static_cast<StdinKind>(reader_.number<std::uint8_t>());
        if (value > StdinKind::forwarded_to_all) is_valid_ = false;
    }
    void get(RankSet& value) {
        value = RankSet();
        const std::string text = reader_.text();
        if (text.empty()) return;
        Result<RankSet> ranks = RankSet::parse(text);
        if (ranks && ranks->text() == text)
            value = std::move(*ranks);
        else
            is_valid_ = false;
    }
    void get(OutputRule& value) {
        (*this)(value.file_pattern, value.file_tags, value.has_file_times);
        (*this)(value.forwarded_ranks, value.merges_stderr, value.passes_prompts);
    }
    void get(MemoryBinding& value) {
        value = static_cast<MemoryBinding>(reader_.number<std::uint8_t>());
        if (value > MemoryBinding::interleave) is_valid_ = false;
    }
    void get(TopologyDetail& value) {
        value = static_cast<TopologyDetail>(reader_.number<std::uint8_t>());
        if (value > TopologyDetail::devices) is_valid_ = false;
    }
    void get(std::string& value) { value = reader_.text(); }
    void get(std::vector<std::byte>& value) { value = reader_.blob(); }
    void get(RankUsage& value) {
        (*this)(value.started_at_unix_ns, value.max_rss_kib, value.user_us, value.system_us);
    }
    void get(Program& value) {
        (*this)(value.arguments, value.environment, value.working_directory);
    }
    void get(TopologyObject& value) {
        (*this)(value.os_index, value.cpus, value.size_bytes, value.kind);
    }
    void get(TopologyDevice& value) {
        value.kind = static_cast<TopologyDevice::Kind>(reader_.number<std::uint8_t>());
        if (value.kind > TopologyDevice::Kind::other) is_valid_ = false;
        (*this)(value.name, value.detail, value.near_cpus);
    }
    void get(HostTopology& value) { visit_topology(*this, value); }
    template<typename T>
    void get(std::vector<T>& values) {
        const std::uint32_t count = reader_.count(4);
        values.clear();
        for (std::uint32_t i = 0; i < count && reader_.ok(); ++i) get(values.emplace_back());
    }

  private:
    ByteReader reader_;
    bool is_valid_ = true;
};

/// Of the frames that keep a tree of daemons together.
template<typename Fields, typename F>
void visit_tree_fields(Fields& fields, F& f) {
    using T = std::remove_const_t<F>;
    if constexpr (std::is_same_v<T, JoinTree>) {
        fields(f.member, f.member_count, f.width, f.job_id, f.host_name, f.secret);
        fields(f.heartbeat_ms, f.connect_limit_ms, f.port_first, f.port_last);
        fields(f.parent_name, f.parent_addresses);
    } else if constexpr (std::is_same_v<T, RelayReady>) {
        fields(f.addresses);
    } else if constexpr (std::is_same_v<T, Relayed>) {
        fields(f.member, f.frame);
    } else if constexpr (std::is_same_v<T, ToAll>) {
        fields(f.except, f.frame);
    } else if constexpr (std::is_same_v<T, AssignHosts>) {
        fields(f.host_of_member);
    } else if constexpr (std::is_same_v<T, LinkLost>) {
        fields(f.member, f.reason);
    } else if constexpr (std::is_same_v<T, DaemonLost> || std::is_same_v<T, ParentLost>) {
        fields(f.reason);
    } else {
        static_assert(std::is_empty_v<T>);
    }
}

/// The fields of each frame, in order. `Fields` is FieldWriter or FieldReader; F may be const.
template<typename Fields, typename F>
void visit_fields(Fields& fields, F& f) {
    using T = std::remove_const_t<F>;
    if constexpr (std::is_same_v<T, HostFacts>) {
        fields(f.protocol_version, f.host_name, f.pid, f.cpus, f.usable_cpu_count, f.free_port);
        fields(f.busy_cpus, f.topology, f.topology_digest, f.address, f.caller_address);
    } else if constexpr (std::is_same_v<T, StartJob>) {
        fields(
            f.token, f.host_index, f.job_map, f.programs, f.program_of_rank, f.stdin_kind,
            f.stdin_rank
        );
        fields(f.output, f.master_address, f.master_port, f.outlives_failures, f.heartbeat_ms);
        fields(f.start_gate, f.memory_binding, f.lends_cpus, f.waits_for_others);
        fields(f.are_hosts_simulated);
    } else if constexpr (std::is_same_v<T, HostFailed>) {
        fields(f.exit_status, f.text);
    } else if constexpr (std::is_same_v<T, RanksStarted>) {
        fields(f.pids);
    } else if constexpr (std::is_same_v<T, RankOutput>) {
        fields(f.rank, f.stream, f.pid, f.time_us, f.bytes);
    } else if constexpr (std::is_same_v<T, OutputWritten>) {
        fields(f.rank, f.size_bytes);
    } else if constexpr (std::is_same_v<T, RankEnded>) {
        fields(f.rank, f.pid, f.wait_status, f.lifetime_ns, f.is_unfinalized, f.usage);
        fields(f.was_told_to_end, f.remark, f.last_calls);
    } else if constexpr (std::is_same_v<T, RankMissed>) {
        fields(f.rank, f.waiting_rank);
    } else if constexpr (std::is_same_v<T, HostSignalled>) {
        fields(f.signal, f.process);
    } else if constexpr (std::is_same_v<T, RankAborted>) {
        fields(f.rank, f.pid, f.code, f.text);
    } else if constexpr (std::is_same_v<T, Terminate>) {
        fields(f.signal, f.grace_ms);
    } else if constexpr (std::is_same_v<T, SignalRanks>) {
        fields(f.signal);
    } else if constexpr (std::is_same_v<T, StdinBytes>) {
        fields(f.bytes);
    } else if constexpr (std::is_same_v<T, StdinTaken>) {
        fields(f.size_bytes, f.is_closed);
    } else if constexpr (std::is_same_v<T, Notice>) {
        fields(f.text);
    } else if constexpr (std::is_same_v<T, DescribeHost>) {
        fields(f.detail, f.wanted_cpus);
    } else if constexpr (std::is_same_v<T, RankAddress>) {
        fields(f.rank, f.transport, f.address);
    } else if constexpr (std::is_same_v<T, AddressWanted>) {
        fields(f.rank, f.transport);
    } else if constexpr (std::is_same_v<T, RankDeparted>) {
        fields(f.rank);
    } else if constexpr (std::is_same_v<T, RankConnectBack>) {
        fields(f.from, f.to, f.transport, f.failure);
    } else {
        visit_tree_fields(fields, f);
    }
}

/// Makes the alternative with that index, filled from the reader.
template<std::size_t Index = 0>
bool read_alternative(std::size_t index, FieldReader& reader, Frame& frame) {
    if constexpr (Index < std::variant_size_v<Frame>) {
        if (index != Index) return read_alternative<Index + 1>(index, reader, frame);
        visit_fields(reader, frame.emplace<Index>());
        return reader.is_complete();
    } else {
        return false;
    }
}

Status read_fully(int descriptor, std::byte* target, std::size_t size_bytes) {
    while (size_bytes > 0) {
        const ssize_t got = ::read(descriptor, target, size_bytes);
        if (got == 0)
            return fail(Errc::peer_lost, "the other end of the launcher's stream is gone");
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "cannot read from the launcher's stream");
        target += got;
        size_bytes -= static_cast<std::size_t>(got);
    }
    return {};
}

}  // namespace

std::vector<std::byte> encode_frame(const Frame& frame) {
    FieldWriter writer;
    writer.put(std::uint32_t{0});
    writer.put(static_cast<std::uint8_t>(frame.index() + 1));
    std::visit([&](const auto& value) { visit_fields(writer, value); }, frame);
    std::vector<std::byte> bytes = writer.take();
    const std::size_t body_bytes = bytes.size() - frame_header_bytes;
    for (std::size_t i = 0; i < frame_header_bytes; ++i) {
        bytes[i] = static_cast<std::byte>(body_bytes >> (8 * i));
    }
    return bytes;
}

Result<std::size_t> decode_frame_size(Bytes header) {
    ByteReader reader(header);
    const std::size_t body_bytes = reader.number<std::uint32_t>();
    if (!reader.is_at_end() || body_bytes == 0 || body_bytes > frame_bytes_max) {
        return fail(Errc::wireup, "a frame of the launcher has a bad length: {} bytes", body_bytes);
    }
    return body_bytes;
}

Result<Frame> decode_frame(Bytes body) {
    if (body.empty()) return fail(Errc::wireup, "a frame of the launcher is empty");
    const auto type = static_cast<std::size_t>(body[0]);
    FieldReader reader(body.subspan(1));
    Frame frame;
    if (type == 0 || !read_alternative(type - 1, reader, frame)) {
        return fail(
            Errc::wireup, "a frame of the launcher is malformed: type {}, {} bytes", type,
            body.size()
        );
    }
    return frame;
}

Result<Frame> decode_whole_frame(Bytes frame) {
    if (frame.size() < frame_header_bytes) return fail(Errc::wireup, "a frame within is cut off");
    const Result<std::size_t> body_bytes = decode_frame_size(frame.first(frame_header_bytes));
    if (!body_bytes) return body_bytes.error();
    const Bytes body = frame.subspan(frame_header_bytes);
    if (body.size() != *body_bytes) return fail(Errc::wireup, "a frame within is cut off");
    return decode_frame(body);
}

Status send_frame(int descriptor, const Frame& frame) {
    const std::vector<std::byte> bytes = encode_frame(frame);
    Bytes left = bytes;
    while (!left.empty()) {
        const ssize_t put = ::write(descriptor, left.data(), left.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(errno, "cannot write to the launcher's stream");
        left = left.subspan(static_cast<std::size_t>(put));
    }
    return {};
}

Result<Frame> receive_frame(int descriptor) {
    std::byte header[frame_header_bytes];
    if (const Status status = read_fully(descriptor, header, sizeof header); !status.ok()) {
        return status;
    }
    const Result<std::size_t> size_bytes = decode_frame_size(header);
    if (!size_bytes) return size_bytes.error();
    std::vector<std::byte> body(*size_bytes);
    if (const Status status = read_fully(descriptor, body.data(), body.size()); !status.ok()) {
        return status;
    }
    return decode_frame(body);
}

}  // namespace dlrt::launcher
