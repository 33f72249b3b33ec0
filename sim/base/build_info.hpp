// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Facts about the build of this program, for version lines and the provenance of result files.
struct BuildInfo {
  std::string version;       ///< "0.1.0"
  std::string revision;      ///< `git describe` when the build was configured; empty outside a git checkout
  std::string compiler;      ///< "gcc 12.2.0"
  std::string build_type;    ///< "Release", and the sanitizers
  std::string architecture;  ///< "x86-64-v3"; empty for the compiler's default
  std::string libraries;     ///< "Eigen 3.4.0, HDF5 1.10.8, Boost 1.74.0"
  bool contracts;            ///< true if internal contracts (NUDGE_EXPECT) are checked
};

const BuildInfo& build_info();

/// Version and, where known, revision: "0.1.0 (a1b2c3d)".
std::string version_and_revision();

/// Compiler, build type and flags: "gcc 12.2.0, Release, -march=x86-64-v3".
std::string compiler_and_flags();

}  // namespace nudge
