// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// What nudge devices fit does with measured pulses.
struct PulseFitOptions {
  std::vector<std::string> files;
  CsvScale scale = {};
  std::string model, out;  ///< "auto": the least of Akaike's criterion
  int points = 9;
  bool json = false;
};

/// Fits, writes and answers. NumericalFailure for a record that the model describes no better than a horizontal line.
ExitCode fit_pulse_files(const PulseFitOptions& options);

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
