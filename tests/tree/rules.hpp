// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge::tree {

/// A file of the repository: path relative to the root, with forward slashes.
struct SourceFile {
  std::string path;
  std::string text;
};

/// A rule returns one line per violation, "path:line: what is wrong (what to do)".
using Violations = std::vector<std::string>;

/// Includes point only leftwards: sim <- devices <- circuits <- training <- apps, sim <- netlist <- circuits and sim <- mixers <- training; inside sim,
/// base includes base only; config and io base and themselves; steady, then ode, also the interfaces in sim/*.hpp, which
/// themselves include base and each other. bench, examples and tests may include everything.
Violations check_include_direction(const SourceFile& file);

/// A library is used in one place only: odeint in sim/ode, toml++ in sim/config, hdf5.h and zlib.h in sim/io, CLI11 in apps.
Violations check_library_isolation(const SourceFile& file);

/// Random numbers come from sim/base/rng.hpp and threads from sim/base/parallel.hpp (tests may differ).
Violations check_randomness_and_threads(const SourceFile& file);

/// Dense matrices are decomposed by sim/base/decompositions alone.
Violations check_decompositions(const SourceFile& file);

/// Files are written by sim/io/atomic_file.hpp (tests may differ).
Violations check_output_files(const SourceFile& file);

/// Names of tests hold no semicolon: CMake ends a list's entry there, and ctest would run two tests that match none.
Violations check_test_names(const SourceFile& file);

/// "SPDX-License-Identifier: Apache-2.0" in the first three lines of every source, script and CMake file.
Violations check_licence_line(const SourceFile& file);

/// Headers up to 200 lines, sources 400, tests 500.
Violations check_length(const SourceFile& file);

/// No path of one machine (/home, /root, /tmp, ...) in anything but tests.
Violations check_machine_paths(const SourceFile& file);

}  // namespace nudge::tree
