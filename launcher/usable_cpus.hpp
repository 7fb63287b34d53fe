// SPDX-License-Identifier: Apache-2.0
/// The launcher counts cpus as ranks without a daemon do: see runtime/wireup/usable_cpus.hpp.
#pragma once

#include "runtime/wireup/usable_cpus.hpp"
