// SPDX-License-Identifier: Apache-2.0
/// What the head (dlrun) and a daemon (dlrund) say to each other, as values, and their bytes.
///
/// A frame on the stream is a 4-byte length, a 1-byte type and the fields in the order of the
/// struct. The conversation: HostFacts up, StartJob down (before it
/// DescribeHost, if need be), where there are several hosts JobPrepared up and BeginRanks down,
/// then RanksStarted, RankOutput, RankEnded … up and commands down, until JobEnded. A daemon whose
/// stream ends kills its ranks at once.
#pragma once

#include "launcher/memory_binding.hpp"
#include "launcher/rank_set.hpp"
#include "launcher/topology.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace dlrt::launcher {

inline constexpr std::uint32_t frame_protocol_version = 4;
inline constexpr std::size_t frame_bytes_max = 64u << 20;
inline constexpr std::size_t frame_header_bytes = 4;

enum class StreamKind : std::uint8_t { out = 1, err = 2 };

/// Where the ranks of a host read from. All others read /dev/null.
enum class StdinKind : std::uint8_t {
    none = 0,
    descriptor = 1,        ///< One rank gets the daemon's own descriptor 0.
    forwarded = 2,         ///< One rank gets a pipe that is fed with StdinBytes.
    forwarded_to_all = 3,  ///< Every rank gets such a pipe, and all of the input.
};

[[nodiscard]] constexpr bool is_forwarded(StdinKind kind) {
    return kind == StdinKind::forwarded || kind == StdinKind::forwarded_to_all;
}

/// Daemon → head, first: what this host offers.
struct HostFacts {
    std::uint32_t protocol_version = frame_protocol_version;
    std::string host_name;
    std::int32_t pid = 0;
    std::vector<std::uint32_t> cpus;       ///< Cpus that ranks may be bound to; empty: don't bind.
    std::uint32_t usable_cpu_count = 1;    ///< How many ranks can run at once.
    std::uint32_t free_port = 0;           ///< A TCP port that was free a moment ago.
    std::vector<std::uint32_t> busy_cpus;  ///< Of `cpus`, those that this user's other jobs hold.
    HostTopology topology;
    /// Of the topology, by the relay that passed it on first; empty: nobody did. `topology` is then
    /// left out where the same went up the same way before.
    std::vector<std::byte> topology_digest;
    std::string address;         ///< Its own, at which ssh reached it; empty: not known.
    std::string caller_address;  ///< Of the host that reached it, as it saw it.
    friend bool operator==(const HostFacts&, const HostFacts&) = default;
};

/// A command line that ranks run, and what it finds around it.
struct Program {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  ///< NAME=value; without what a rank's number decides.
    std::string working_directory;         ///< Absolute.
    friend bool operator==(const Program&, const Program&) = default;
};

/// What a daemon does with the output of its ranks. Formats are those of line_format.hpp.
struct OutputRule {
    std::string file_pattern;     ///< Absolute; empty: no files.
    std::string file_tags;        ///< Before every line in files.
    bool has_file_times = false;  ///< Before every line in files, too.
    /// Whose output goes to the head.
    RankSet forwarded_ranks{std::vector<RankSet::Range>{{0, UINT32_MAX}}};
    bool merges_stderr = false;   ///< Both streams of a rank are one pipe.
    bool passes_prompts = false;  ///< Ranks that read the input write questions, see OutputPump.
    friend bool operator==(const OutputRule&, const OutputRule&) = default;
};

/// Head → daemon: start your ranks of this job.
struct StartJob {
    std::string token;
    std::uint32_t host_index = 0;
    std::vector<std::byte> job_map;  ///< encode_job_map().
    std::vector<Program> programs;
    std::vector<std::uint32_t> program_of_rank;  ///< By world rank: which of the programs it runs.
    StdinKind stdin_kind = StdinKind::none;
    std::uint32_t stdin_rank = 0;
    OutputRule output;
    std::string master_address;  ///< Of rank 0's host, for programs that want one; empty: as
                                 ///< inherited.
    std::uint32_t master_port = 0;
    bool outlives_failures = false;  ///< The other ranks go on when one fails.
    std::uint64_t heartbeat_ms = 0;  ///< How often head, daemon and keeper tell that they live.
    std::string start_gate;          ///< For tests: see LaunchPlan.
    MemoryBinding memory_binding = MemoryBinding::first_touch;
    bool lends_cpus = false;        ///< Ranks may shrink to a cpu each for other jobs of this user.
    bool waits_for_others = false;  ///< Starts no rank before BeginRanks.
    bool are_hosts_simulated = false;  ///< Ranks of all hosts share one machine's cpus.
    friend bool operator==(const StartJob&, const StartJob&) = default;
};

/// Daemon → head: this host can no longer take part; what runs there is being killed.
struct HostFailed {
    std::int32_t exit_status = 125;
    std::string text;
    friend bool operator==(const HostFailed&, const HostFailed&) = default;
};

/// Daemon → head: all ranks of this host run their program.
struct RanksStarted {
    std::vector<std::int32_t> pids;  ///< By local rank.
    friend bool operator==(const RanksStarted&, const RanksStarted&) = default;
};

/// Daemon → head. Bytes are whole lines, but for a line longer than line_bytes_max.
struct RankOutput {
    std::uint32_t rank = 0;
    StreamKind stream = StreamKind::out;
    std::int32_t pid = 0;
    std::uint64_t time_us = 0;  ///< Since 1970, when the host read the bytes.
    std::vector<std::byte> bytes;
    friend bool operator==(const RankOutput&, const RankOutput&) = default;
};

/// Head → daemon: so much of that rank's output has left the head.
struct OutputWritten {
    std::uint32_t rank = 0;
    std::uint64_t size_bytes = 0;
    friend bool operator==(const OutputWritten&, const OutputWritten&) = default;
};

/// What a rank's process has used of the host. It and those of its children that it waited for.
struct RankUsage {
    std::uint64_t started_at_unix_ns = 0;
    std::uint64_t max_rss_kib = 0;
    std::uint64_t user_us = 0;
    std::uint64_t system_us = 0;
    friend bool operator==(const RankUsage&, const RankUsage&) = default;
};

/// Daemon → head: a rank's process has ended.
struct RankEnded {
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
    std::int32_t wait_status = 0;  ///< As waitpid() reports it.
    std::uint64_t lifetime_ns = 0;
    bool is_unfinalized = false;  ///< It had initialised dlrt and never finalized.
    RankUsage usage = {};
    bool was_told_to_end = false;  ///< Before it ended, all of this host were.
    std::string remark = {};       ///< What is known about its end beside the status; may be empty.
    std::vector<std::string> last_calls = {};  ///< Of dlrt, oldest first, of a rank that crashed.
    friend bool operator==(const RankEnded&, const RankEnded&) = default;
};

/// Daemon → head: an operation of a rank needed one that had ended without finalizing. At most once
/// for each waiting rank, before its own end or abort is reported.
struct RankMissed {
    std::uint32_t rank = 0;  ///< The one that had ended.
    std::uint32_t waiting_rank = 0;
    friend bool operator==(const RankMissed&, const RankMissed&) = default;
};

/// Daemon → head: somebody sent a signal that means the end to a process of the launcher.
struct HostSignalled {
    std::int32_t signal = 0;
    std::string process;  ///< "daemon" or "keeper".
    friend bool operator==(const HostSignalled&, const HostSignalled&) = default;
};

/// Daemon → head: a rank asks for the end of the job.
struct RankAborted {
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
    std::int32_t code = 1;
    std::string text;
    friend bool operator==(const RankAborted&, const RankAborted&) = default;
};

/// Head → daemon: CONT and this signal to every rank, KILL to everybody after the grace.
struct Terminate {
    std::int32_t signal = 15;
    std::uint64_t grace_ms = 0;
    friend bool operator==(const Terminate&, const Terminate&) = default;
};

/// Head → daemon: only pass this signal on.
struct SignalRanks {
    std::int32_t signal = 0;
    friend bool operator==(const SignalRanks&, const SignalRanks&) = default;
};

/// Head → daemon: stop the ranks and say so with RanksSuspended.
struct SuspendRanks {
    friend bool operator==(const SuspendRanks&, const SuspendRanks&) = default;
};
struct RanksSuspended {
    friend bool operator==(const RanksSuspended&, const RanksSuspended&) = default;
};

/// Head → daemon: input for those that read it; empty at its end.
struct StdinBytes {
    std::vector<std::byte> bytes;
    friend bool operator==(const StdinBytes&, const StdinBytes&) = default;
};
/// Daemon → head: so much input has been taken, by the slowest of several ranks; `is_closed` when
/// nobody will take more.
struct StdinTaken {
    std::uint64_t size_bytes = 0;
    bool is_closed = false;
    friend bool operator==(const StdinTaken&, const StdinTaken&) = default;
};

/// Daemon → head: something that the user should read, once.
struct Notice {
    std::string text;
    friend bool operator==(const Notice&, const Notice&) = default;
};

/// Head → daemon, before StartJob: look closer, and say HostFacts again.
struct DescribeHost {
    TopologyDetail detail = TopologyDetail::full;
    std::uint32_t wanted_cpus = 0;  ///< Not held by others; their jobs are asked to lend some.
    friend bool operator==(const DescribeHost&, const DescribeHost&) = default;
};

/// Both ways: nothing but a sign of life.
struct Heartbeat {
    friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

/// Daemon → head, last: every process of the job on this host is gone and all output has been sent.
struct JobEnded {
    friend bool operator==(const JobEnded&, const JobEnded&) = default;
};

/// Daemon → head: nothing speaks against starting the ranks of this host.
struct JobPrepared {
    friend bool operator==(const JobPrepared&, const JobPrepared&) = default;
};

/// Head → daemon: all hosts of the job are prepared.
struct BeginRanks {
    friend bool operator==(const BeginRanks&, const BeginRanks&) = default;
};

/// Daemon → head: one of its ranks can be reached there. Head → daemon: the answer to
/// AddressWanted.
struct RankAddress {
    std::uint32_t rank = 0;
    std::string transport;
    std::vector<std::byte> address;
    friend bool operator==(const RankAddress&, const RankAddress&) = default;
};

/// Daemon → head, once for each rank of another host and transport. Answered by RankAddress as soon
/// as the address is known.
struct AddressWanted {
    std::uint32_t rank = 0;
    std::string transport;
    friend bool operator==(const AddressWanted&, const AddressWanted&) = default;
};

/// Daemon → head → all other daemons: this rank has left the job without finalizing; who waits for
/// it waits in vain.
struct RankDeparted {
    std::uint32_t rank = 0;
    friend bool operator==(const RankDeparted&, const RankDeparted&) = default;
};

/// Daemon → head → daemon of rank `to`: what a ConnectBack of rank `from` says.
struct RankConnectBack {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::string transport;
    std::string failure;
    friend bool operator==(const RankConnectBack&, const RankConnectBack&) = default;
};

/// Head → relay, first: its place in a tree of daemons. The tree is that of a TreeShape.
struct JoinTree {
    std::uint32_t member = 0;
    std::uint32_t member_count = 0;
    std::uint32_t width = 0;
    std::string job_id;
    std::string host_name;  ///< As the head calls it.
    std::vector<std::byte> secret;
    std::uint64_t heartbeat_ms = 0;
    std::uint64_t connect_limit_ms = 0;
    std::uint32_t port_first = 0;  ///< To listen on for children; 0: any.
    std::uint32_t port_last = 0;
    std::string parent_name;                  ///< Empty: the head, over this very stream.
    std::vector<std::byte> parent_addresses;  ///< encode_addresses().
    friend bool operator==(const JoinTree&, const JoinTree&) = default;
};

/// Relay → head: children may connect there.
struct RelayReady {
    std::vector<std::byte> addresses;
    friend bool operator==(const RelayReady&, const RelayReady&) = default;
};

/// Up: what that member said. Down: what it is to be told. A frame that isn't relayed is of, or
/// for, the member at the lower end of the link.
struct Relayed {
    std::uint32_t member = 0;
    std::vector<std::byte> frame;  ///< encode_frame().
    friend bool operator==(const Relayed&, const Relayed&) = default;
};

/// Head → all members below, but one.
struct ToAll {
    std::uint32_t except = UINT32_MAX;
    std::vector<std::byte> frame;  ///< Of a StartJob each relay fills in the host's number.
    friend bool operator==(const ToAll&, const ToAll&) = default;
};

/// Head → all members below: which host of the job each is. The others' daemons aren't needed.
struct AssignHosts {
    std::vector<std::uint32_t> host_of_member;  ///< UINT32_MAX: none.
    friend bool operator==(const AssignHosts&, const AssignHosts&) = default;
};

/// Relay → head: its host's daemon has gone without a word. The relay stays for those below.
struct DaemonLost {
    std::string reason;
    friend bool operator==(const DaemonLost&, const DaemonLost&) = default;
};

/// Relay → head: that child is gone, and with it all below.
struct LinkLost {
    std::uint32_t member = 0;
    std::string reason;
    friend bool operator==(const LinkLost&, const LinkLost&) = default;
};

/// Relay → head, over the stream that it was started with: its parent is gone, so it ends.
struct ParentLost {
    std::string reason;
    friend bool operator==(const ParentLost&, const ParentLost&) = default;
};

/// Relay → parent, and → head over the stream that it was started with; last: its daemon and all
/// below have ended.
struct RelayEnded {
    friend bool operator==(const RelayEnded&, const RelayEnded&) = default;
};

using Frame = std::variant<
    HostFacts, StartJob, HostFailed, RanksStarted, RankOutput, OutputWritten, RankEnded,
    RankAborted, Terminate, SignalRanks, SuspendRanks, RanksSuspended, StdinBytes, StdinTaken,
    Notice, JobEnded, DescribeHost, Heartbeat, HostSignalled, RankMissed, JobPrepared, BeginRanks,
    RankAddress, AddressWanted, RankDeparted, JoinTree, RelayReady, Relayed, ToAll, AssignHosts,
    DaemonLost, LinkLost, ParentLost, RelayEnded, RankConnectBack>;

/// Whether encoded bytes are that frame, or none at all.
template<typename T>
[[nodiscard]] bool is_encoded(Bytes frame) {
    return frame.size() > frame_header_bytes &&
           static_cast<std::size_t>(frame[frame_header_bytes]) == Frame(T{}).index() + 1;
}

/// The whole frame with its length.
[[nodiscard]] std::vector<std::byte> encode_frame(const Frame& frame);

/// Length of the body that follows a header. Errors: Errc::wireup when it is beyond
/// frame_bytes_max.
[[nodiscard]] Result<std::size_t> decode_frame_size(Bytes header);

/// `body` is what follows the length. Errors: Errc::wireup for any bytes that encode_frame can't
/// make.
[[nodiscard]] Result<Frame> decode_frame(Bytes body);
/// Of one that stands within another. Errors: as decode_frame().
[[nodiscard]] Result<Frame> decode_whole_frame(Bytes frame);

/// For the time before an event loop runs: blocks until the whole frame went out or came in.
/// Errors: Errc::system; Errc::peer_lost at the end of the stream.
Status send_frame(int descriptor, const Frame& frame);
[[nodiscard]] Result<Frame> receive_frame(int descriptor);

}  // namespace dlrt::launcher
