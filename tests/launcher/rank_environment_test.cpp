// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_environment.hpp"

#include "launcher/setting_check.hpp"
#include "runtime/base/error_text.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;
using Kind = EnvironmentEdit::Kind;

Words usual(const Words& caller, const std::vector<EnvironmentEdit>& edits = {}) {
    return program_environment(caller, EnvironmentBase::usual, edits);
}

}  // namespace

TEST_CASE("rank environment: the identity of other jobs is not passed on", "[launcher]") {
    const Words caller = {
        "A=1",
        "DLRT_RANK=3",
        "DLRT_ALGO=ring",
        "DLRT_HOSTFILE=f",
        "PMI_FD=3",
        "PMIX_RANK=1",
        "OMPI_COMM_WORLD_RANK=1",
        "MPI_LOCALRANKID=0",
        "TORCHELASTIC_RUN_ID=x",
        "SSH_CLIENT=x",
        "RANK=1",
        "GROUP_RANK=1",
        "MASTER_PORT=5",
        "EMPTY="};
    CHECK(usual(caller) == Words{"A=1", "DLRT_ALGO=ring", "MASTER_PORT=5", "EMPTY="});
}

TEST_CASE("rank environment: what belongs to the caller's session and host stays", "[launcher]") {
    const Words caller = {
        "DISPLAY=:0",         "HOSTNAME=h", "PWD=/x",     "TMPDIR=/t", "XDG_RUNTIME_DIR=/r",
        "XDG_CONFIG_HOME=/c", "DBUS_X=1",   "HOME=/root", "LANG=C",    "DISPLAY_NAME=1"};
    CHECK(usual(caller) == Words{"XDG_CONFIG_HOME=/c", "HOME=/root", "LANG=C", "DISPLAY_NAME=1"});
    CHECK(usual(caller, {{Kind::forward, "TMPDIR", ""}}).back() == "TMPDIR=/t");
}

TEST_CASE("rank environment: all is all but what dlrun sets, none is none", "[launcher]") {
    const Words caller = {"A=1", "SSH_X=1", "DLRT_RANK=1", "WORLD_SIZE=2", "PMI_FD=3"};
    CHECK(
        program_environment(caller, EnvironmentBase::all, {}) == Words{"A=1", "SSH_X=1", "PMI_FD=3"}
    );
    CHECK(program_environment(caller, EnvironmentBase::none, {}).empty());
    const std::vector<EnvironmentEdit> edits = {{Kind::forward, "A", ""}, {Kind::assign, "B", "2"}};
    CHECK(program_environment(caller, EnvironmentBase::none, edits) == Words{"A=1", "B=2"});
}

TEST_CASE("rank environment: within a job torch's meeting point is the inner one", "[launcher]") {
    const Words caller = {"DLRT_JOBID=x", "MASTER_PORT=5", "MASTER_ADDR=h", "A=1"};
    CHECK(usual(caller) == Words{"A=1"});
}

TEST_CASE("rank environment: edits win over everything, in order", "[launcher]") {
    const Words caller = {"A=1", "B=2", "SSH_CLIENT=x"};
    const std::vector<EnvironmentEdit> edits = {
        {Kind::assign, "A", "9"},
        {Kind::unset, "B", ""},
        {Kind::forward, "SSH_CLIENT", ""},
        {Kind::forward, "C", ""},
        {Kind::assign, "D", "a=b"}};
    CHECK(usual(caller, edits) == Words{"A=9", "SSH_CLIENT=x", "D=a=b"});
}

TEST_CASE("rank environment: globs stand for all names that match", "[launcher]") {
    const Words caller = {"SSH_A=1", "OMP_B=2", "SSH_C=3", "DLRT_RANK=4", "OMPX=5", "RANK=6"};
    CHECK(
        usual(caller, {{Kind::forward, "SSH_*", ""}}) ==
        Words{"OMP_B=2", "OMPX=5", "SSH_A=1", "SSH_C=3"}
    );
    CHECK(usual(caller, {{Kind::unset, "OMP?*", ""}}).empty());
    CHECK(usual(caller, {{Kind::unset, "OMP[X]", ""}}) == Words{"OMP_B=2"});
    CHECK(
        usual(caller, {{Kind::unset, "*", ""}, {Kind::forward, "*", ""}}) ==
        Words{"SSH_A=1", "OMP_B=2", "SSH_C=3", "OMPX=5"}
    );
    CHECK(has_match(caller, "OMP_*"));
    CHECK(!has_match(caller, "OMP"));
}

TEST_CASE("rank environment: a prefix leads the paths", "[launcher]") {
    Words environment = {"PATH=/bin", "LD_LIBRARY_PATH=/l", "A=1"};
    add_prefix(environment, "/p");
    CHECK(environment == Words{"A=1", "PATH=/p/bin:/bin", "LD_LIBRARY_PATH=/p/lib:/l"});
    Words bare = {};
    add_prefix(bare, "/p");
    CHECK(bare == Words{"PATH=/p/bin:/usr/local/bin:/usr/bin:/bin", "LD_LIBRARY_PATH=/p/lib"});
}

TEST_CASE("rank environment: ranks know themselves by both styles of names", "[launcher]") {
    RankIdentity identity;
    identity.job_id = "j";
    identity.token = "t";
    identity.daemon_socket = "s";
    identity.rank = 5;
    identity.size = 8;
    identity.local_rank = 1;
    identity.local_size = 4;
    identity.host_index = 1;
    identity.host_count = 2;
    identity.descriptors = {100, 101, 102, 103};
    CHECK(
        identity_environment(identity) ==
        Words{
            "DLRT_JOBID=j", "DLRT_RANK=5", "DLRT_SIZE=8", "DLRT_LOCAL_RANK=1", "DLRT_LOCAL_SIZE=4",
            "DLRT_NODE_RANK=1", "DLRT_NUM_NODES=2", "DLRT_FDS=100,101,102,103", "DLRT_TOKEN=t",
            "DLRT_DAEMON=s", "RANK=5", "LOCAL_RANK=1", "GROUP_RANK=1", "WORLD_SIZE=8",
            "LOCAL_WORLD_SIZE=4", "GROUP_WORLD_SIZE=2"}
    );
    identity.is_oversubscribed = true;
    CHECK(identity_environment(identity).back() == "DLRT_OVERSUBSCRIBED=1");
    for (const std::string& entry : identity_environment(identity)) {
        CHECK(is_reserved_variable(entry.substr(0, entry.find('='))));
    }
}

TEST_CASE("setting check: wrong values are refused, unknown names warned of", "[launcher]") {
    std::vector<std::string> warnings;
    CHECK(check_settings(Words{"DLRT_LOG=debug", "DLRT_HOSTFILE=f", "A=1"}, warnings).ok());
    CHECK(warnings.empty());
    CHECK(!check_settings(Words{"DLRT_LOGS=1", "DLRT_EAGER_BYTES=-1"}, warnings).ok());
    CHECK(
        last_error_text() ==
        "DLRT_EAGER_BYTES=-1: not a number; valid is 0 to 1m (k, m: powers of 1024)"
    );
    CHECK(check_settings(Words{"DLRT_LOGS=1", "DLRT_NOTHING_LIKE_IT="}, warnings).ok());
    CHECK(
        warnings ==
        Words{
            "DLRT_LOGS: dlrt has no such setting; did you mean DLRT_LOG?",
            "DLRT_NOTHING_LIKE_IT: dlrt has no such setting; 'dlrun --help-env' lists "
            "them"}
    );
}

}  // namespace dlrt::launcher
