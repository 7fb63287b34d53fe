// SPDX-License-Identifier: Apache-2.0
/// The command line of dlrun as a value.
///
///   dlrun [option]... program [argument]... [: [option]... program [argument]...]...
///
/// Long names take one dash or two; a value follows as the next word or after "=". The first word
/// that is no option, or "--", ends the options of a block. Whatever is unknown, of the wrong kind,
/// out of range or contradictory is refused with one line that names it and says what is valid.
#pragma once

#include "launcher/memory_binding.hpp"
#include "launcher/rank_set.hpp"
#include "launcher/topology.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

/// One change of the environment that a block's ranks get.
struct EnvironmentEdit {
    enum class Kind : std::uint8_t {
        assign,   ///< NAME=value.
        forward,  ///< The caller's values of all names that match, even of variables that aren't
                  ///< passed on otherwise.
        unset,    ///< None of the names that match.
    };
    Kind kind = Kind::assign;
    std::string name;  ///< To assign: a name. Else a glob, "OMP_*".
    std::string value;
    friend bool operator==(const EnvironmentEdit&, const EnvironmentEdit&) = default;
};

/// What of the caller's environment ranks start with, before the edits.
enum class EnvironmentBase : std::uint8_t {
    usual,  ///< All but the identity of a surrounding job and session.
    all,
    none,
};

/// A command that some ranks' programs are arguments of: a profiler, a debugger.
struct Wrap {
    RankSet ranks;  ///< Empty: all of the block.
    std::vector<std::string> command;
};

/// What stands between two `:` of the command line, or in one line of an app file.
struct Block {
    std::optional<std::uint32_t> rank_count;
    EnvironmentBase environment_base = EnvironmentBase::usual;
    std::vector<EnvironmentEdit> environment_edits;
    std::string working_directory;  ///< As given; empty: the caller's.
    std::string prefix;  ///< Empty, or a folder whose bin and lib lead PATH and LD_LIBRARY_PATH.
    std::vector<Wrap> wraps;  ///< Outermost first.
    std::vector<std::string> arguments;
};

struct StdinChoice {
    enum class Kind : std::uint8_t { rank, all, none, file };
    Kind kind = Kind::rank;
    std::uint32_t rank = 0;  ///< Who reads dlrun's input, or the file.
    std::string file;
};

struct OutputChoice {
    /// Before every line; empty: nothing. %r rank, %R local rank, %h host, %p pid, %s stream
    /// (out, err), %b block, %j job, %% a percent sign; a number after the sign pads with zeros.
    std::string tag_format;
    bool has_timestamps = false;         ///< When the line was read on the rank's host.
    std::string file_pattern;            ///< The same signs; empty: no files.
    bool is_teed = false;                ///< To files and to dlrun's streams.
    std::optional<RankSet> shown_ranks;  ///< Only these reach dlrun's streams.
    bool merges_stderr = false;          ///< Standard error joins standard output.
};

struct MappingChoice {
    enum class Kind : std::uint8_t {
        slot,        ///< Fill a host's slots, then the next host's.
        host,        ///< Round robin over hosts.
        object,      ///< Round robin over a host's objects of `level`, host by host.
        ppr,         ///< `per_object` ranks on each object of `level` (or on each host).
        sequential,  ///< Rank i on line i of the host list.
    };
    Kind kind = Kind::slot;
    std::optional<TopologyLevel> level;  ///< Of object and ppr; ppr without one: per host.
    std::uint32_t per_object = 0;
    std::optional<std::uint32_t> cpus_per_rank;
};

enum class Ranking : std::uint8_t { by_slot, by_host };

struct BindingChoice {
    enum class Kind : std::uint8_t {
        share,  ///< An even share of the host's usable cpus, within NUMA nodes where possible.
        none,
        object,  ///< All usable cpus of the object of `level` that the rank was mapped to.
    };
    Kind kind = Kind::share;
    TopologyLevel level = TopologyLevel::core;
    bool is_explicit = false;  ///< Asked for: what can't be done is an error, not a note.
};

enum class Oversubscription : std::uint8_t { by_rule, allowed, refused };

/// How daemons of other hosts are talked with.
enum class ControlWay : std::uint8_t {
    by_size,  ///< By pipe on few hosts, in a tree on many.
    pipe,     ///< Each over the stream of the command that started it.
    tree,     ///< Through other daemons.
};

/// What the failure of a rank does to the others.
enum class OnFailure : std::uint8_t {
    kill,    ///< All are ended.
    wait,    ///< The others go on to their end; the status is that of the first failure.
    ignore,  ///< As wait, but the status counts only what is no rank's failure.
};

struct WarningSignal {
    int signal = 0;
    std::uint64_t before_ms = 0;  ///< So long before the timeout.
};

struct Display {
    bool map = false;
    bool allocation = false;
    bool topology = false;
    bool binding = false;
    enum class Format : std::uint8_t { text, json, svg };
    Format format = Format::text;
    [[nodiscard]] bool is_empty() const { return !map && !allocation && !topology && !binding; }
};

/// A list of hosts as given: --host's words in order, or names of hostfiles. Never both.
struct HostChoice {
    std::vector<std::string> host_lists;
    std::vector<std::string> files;
};

struct Options {
    enum class Action : std::uint8_t {
        run,
        show_status,
        show_help,
        show_settings,
        show_version,
    };
    Action action = Action::run;
    std::vector<std::string> words;  ///< All of the command line but the program's name, as given.
    std::vector<Block> blocks;

    HostChoice hosts;
    std::optional<std::uint32_t> ranks_per_host;
    MappingChoice mapping;
    std::optional<Ranking> ranking;  ///< Nothing: in the order of the mapping.
    BindingChoice binding;
    MemoryBinding memory_binding = MemoryBinding::first_touch;
    Oversubscription oversubscription = Oversubscription::by_rule;

    StdinChoice stdin_choice;
    OutputChoice output;

    std::vector<std::string> launcher_words;  ///< See LauncherTemplate; empty: the usual command.
    std::uint32_t launch_width = 16;          ///< How many daemons are started at a time.
    ControlWay control = ControlWay::by_size;
    std::uint32_t control_width = 32;  ///< Children of each member of a tree.
    std::uint32_t port_first = 0;      ///< That are listened on; 0: any.
    std::uint32_t port_last = 0;
    std::uint32_t simulated_hosts = 0;  ///< Daemons on this host that play hosts; 0: none.
    std::uint32_t simulated_slots = 1;  ///< Of each of them.

    std::optional<std::uint64_t> timeout_ms;
    std::uint64_t start_timeout_ms = 60'000;
    std::uint64_t grace_ms = 5000;
    std::optional<WarningSignal> warning_signal;
    OnFailure on_failure = OnFailure::kill;

    bool is_dry_run = false;
    Display display;
    bool reports_bindings = false;
    std::string report_file;  ///< JSON; empty: none.
    bool shows_progress = false;
    bool is_verbose = false;
    std::string status_job;  ///< Empty: the user's only job.

    /// Of all blocks; nothing when the number of cpus or slots decides.
    [[nodiscard]] std::optional<std::uint32_t> rank_count() const;
};

/// `words` are those after the program's name; the file of --app is read. Errors: Errc::argument
/// with the whole line to print.
[[nodiscard]] Result<Options> parse_options(std::span<const std::string> words);

}  // namespace dlrt::launcher
