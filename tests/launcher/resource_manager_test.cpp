// SPDX-License-Identifier: Apache-2.0
#include "launcher/resource_manager.hpp"

#include "runtime/base/error_text.hpp"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

/// "name:slots …", as found.
std::string found(const Words& environment) {
    const Result<ManagedHosts> hosts = find_managed_hosts(environment);
    if (!hosts) return std::string(last_error_text());
    std::string text;
    for (const HostMention& mention : hosts->mentions) {
        text += mention.name;
        if (mention.slots) text += ":" + std::to_string(*mention.slots);
        text += ' ';
    }
    return text;
}

class TextFile {
  public:
    explicit TextFile(const std::string& text) {
        const int descriptor = ::mkstemp(name_.data());
        std::ofstream(name_) << text;
        ::close(descriptor);
    }
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;
    ~TextFile() { ::unlink(name_.c_str()); }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    std::string name_ = "/tmp/dlrt_test_XXXXXX";
};

}  // namespace

TEST_CASE("resource manager: without one there are no hosts", "[launcher]") {
    CHECK(found({"PATH=/bin"}).empty());
}

TEST_CASE("resource manager: Slurm's list and its counts", "[launcher]") {
    CHECK(
        found({"SLURM_JOB_NODELIST=n[01-03],login", "SLURM_TASKS_PER_NODE=4(x2),1,2"}) ==
        "n01:4 n02:4 n03:1 login:2 "
    );
    CHECK_THAT(
        found({"SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=4"}), Contains("for 1 hosts")
    );
    for (const char* wrong : {"", "x", "2(x", "2(x)", "2(x3", "(x3)", "2(x99999999)"}) {
        CHECK_THAT(
            found({"SLURM_JOB_NODELIST=a", std::string("SLURM_TASKS_PER_NODE=") + wrong}),
            Contains("SLURM_TASKS_PER_NODE")
        );
    }
}

TEST_CASE("resource manager: PBS and LSF name a host for each slot", "[launcher]") {
    const TextFile file("a\na\nb\n");
    CHECK(found({"PBS_NODEFILE=" + file.name()}) == "a a b ");
    CHECK(found({"LSB_DJOB_HOSTFILE=" + file.name()}) == "a a b ");
    CHECK(found({"LSB_MCPU_HOSTS=a 2 b 1"}) == "a:2 b:1 ");
    CHECK_THAT(found({"LSB_MCPU_HOSTS=a 2 b"}), Contains("LSB_MCPU_HOSTS: 'b '"));
}

TEST_CASE("resource manager: lines of Grid Engine begin with host and slots", "[launcher]") {
    const TextFile file("a.lan 2 all.q@a.lan UNDEFINED\nb.lan 4 all.q@b.lan <NULL>\n");
    CHECK(found({"PE_HOSTFILE=" + file.name()}) == "a.lan:2 b.lan:4 ");
    CHECK_THAT(found({"PE_HOSTFILE=/no/such"}), Contains("cannot open '/no/such'"));
}

TEST_CASE("resource manager: what an MPI operator sets up for other launchers", "[launcher]") {
    const Words environment = {
        "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile", "OMPI_MCA_plm_rsh_agent=/etc/kube.sh"};
    CHECK(foreign_hostfile(environment) == "/etc/mpi/hostfile");
    CHECK(foreign_agent(environment) == "/etc/kube.sh {host}");
    CHECK(foreign_agent({}).empty());
}

}  // namespace dlrt::launcher
