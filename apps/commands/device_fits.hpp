// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"

namespace CLI {
class App;
}

namespace nudge {

/// Options of `nudge devices fit` for measured pulses.
struct PulseFitOptions {
  std::vector<std::string> files;
  CsvScale scale = {};
  std::string columns = {};  ///< value of --columns; empty: not given
  std::string model, out;    ///< model to fit ("auto": the one with the least Akaike criterion), and output file
  int points = 9;
  double seconds = 0;  ///< time for fit and intervals; 0: no bound
  bool json = false;
};

/// Fits pulses, writes the result and prints it. NumericalFailure for a record that the model describes no better than
/// a horizontal line.
ExitCode fit_pulse_files(const PulseFitOptions& options);

/// Options of `nudge devices fit` for a long table.
struct TableFitOptions {
  std::vector<std::string> files = {};
  std::string out = {};         ///< TOML file to write; empty: none
  std::string rate = {};        ///< value of --rate; empty: not given
  std::string activation = {};  ///< value of --activation; empty: not given
  std::string columns = {};     ///< value of --columns; empty: not given
  bool json = false;
  std::string model = "auto";       ///< law of --iv
  std::string read_time = {};       ///< value of --read-time; empty: not given
  double g_min_S = 0, g_max_S = 0;  ///< window of --disturb; 0, 0: not given
  double read_voltage_V = 0;        ///< at which currents were read; 0: not given
};

/// Fits a long table, writes TOML where a file is named for it, and prints measured beside model.
ExitCode fit_relaxation_table(const TableFitOptions& options);
ExitCode fit_noise_table(const TableFitOptions& options);
ExitCode fit_bake_table(const TableFitOptions& options);
ExitCode fit_iv_table(const TableFitOptions& options);
ExitCode fit_endurance_table(const TableFitOptions& options);
ExitCode fit_disturb_table(const TableFitOptions& options);

/// Text of a model or preset for a terminal: of a preset what differs from the defaults, else all.
std::string device_page(const std::string& name, bool all);

/// Options of `nudge devices import`.
struct ImportOptions {
  std::string file, module, state, out;
  std::string volts = "-1.5 V,1.5 V", states = "0,1", read = "0.1 V", step = "1 ps", width = "10 ns",
              temperature = "300 K", python = "python3";
  std::vector<std::string> parameters;
  int points = 61, levels = 65;
  double wait_s = 120;
  bool json = false;
};

/// Adds `nudge devices import` with its options.
CLI::App* add_import(CLI::App& app, const std::shared_ptr<ImportOptions>& options);

/// Imports a device of a Verilog-A model (tabulated_device()) as a config.
ExitCode import_model(const ImportOptions& options);

/// Text of the Python program that evaluates Verilog-A models, as it is in the source.
std::string_view evaluate_model_script();

}  // namespace nudge
