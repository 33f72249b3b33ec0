// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {

/// What `nudge devices fit` was asked about a long table.
struct TableFitOptions {
  std::vector<std::string> files = {};
  std::string out = {};         ///< TOML to write; empty: none
  std::string rate = {};        ///< --rate; empty: not given
  std::string activation = {};  ///< --activation; empty: not given
  bool json = false;
};

/// Fits a long table, writes TOML where a file is named for it, and prints measured beside model.
ExitCode fit_relaxation_table(const TableFitOptions& options);
ExitCode fit_noise_table(const TableFitOptions& options);
ExitCode fit_bake_table(const TableFitOptions& options);

}  // namespace nudge
