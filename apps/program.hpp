// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/errors.hpp"

namespace nudge {

/// The whole program: reads the command line, runs the subcommand, turns exceptions into messages on stderr and an exit
/// code: 0 ok, 1 our bug, 2 the user's input, 3 numerical failure.
ExitCode run_program(int argc, char** argv);

}  // namespace nudge
