// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/errors.hpp"

namespace nudge {

/// Exit code of results that could not be written to standard output.
inline constexpr ExitCode kUnwritten{4};

/// Runs the whole program: reads the command line, runs the subcommand, turns exceptions into messages on stderr and an
/// exit code: ExitCode, or kUnwritten.
ExitCode run_program(int argc, char** argv);

}  // namespace nudge
