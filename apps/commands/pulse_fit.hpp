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

}  // namespace nudge
