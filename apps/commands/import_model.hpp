// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {

/// nudge devices import.
struct ImportOptions {
  std::string file, module, state, out;
  std::string volts = "-1.5 V,1.5 V", states = "0,1", read = "0.1 V", step = "1 ps", width = "10 ns",
              python = "python3";
  std::vector<std::string> parameters;
  int points = 61, levels = 65;
  double wait_s = 120;
  bool json = false;
};

/// A device of a Verilog-A model (model_table(), tabulated_device()), as a config.
ExitCode import_model(const ImportOptions& options);

}  // namespace nudge
