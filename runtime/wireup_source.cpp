// SPDX-License-Identifier: Apache-2.0
/// Which source: decided by what the environment says.
#include "runtime/wireup_source.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/source_alone.hpp"
#include "runtime/source_daemon.hpp"
#include "runtime/source_pmi1.hpp"
#include "runtime/wireup/message.hpp"

#include <cstdlib>

namespace dlrt {

Result<std::unique_ptr<WireupSource>> choose_source(int timeout_ms) {
    if (std::getenv(environment::job_id) != nullptr) return make_daemon_source(timeout_ms);
    if (const char* variable = find_daemon_variable(); variable != nullptr) {
        return fail(
            Errc::wireup,
            "{} is set but {} is not: a left-over of a job of dlrun; unset the DLRT_ "
            "variables of that job to run alone",
            variable, environment::job_id
        );
    }
    if (has_pmi1_launcher()) return make_pmi1_source(timeout_ms);
    return make_alone_source();
}

Status WireupSource::put_address(const std::string& transport, Bytes) {
    return fail(
        Errc::unsupported, "{} tells other hosts nothing of a rank's {} address", name(), transport
    );
}

std::optional<std::vector<std::byte>> WireupSource::address_of(std::uint32_t, const std::string&) {
    return std::nullopt;
}

bool WireupSource::connect_back(std::uint32_t, const std::string&, const std::string&) {
    return false;
}

}  // namespace dlrt
