// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/section.hpp"
#include "sim/io/run_record.hpp"

namespace nudge {

/// The keys outside sections, and [product] and [output].
struct RunOptions {
  std::string preset;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all
  std::string precision;
  std::string estimator;
  double beta = 0;  ///< 0: default_beta
  std::string product_kernel;
  std::string output_file;
  std::uint64_t print_every = 50;
  std::size_t log_rows = 10000;  ///< of a training

  bool twofold() const { return precision == "double"; }
};
const Section<RunOptions>& run_section();
inline RunOptions run_options(const Config& config) { return run_section().read(config); }

/// What every file says of the run that wrote it: its config, seed, precision and threads. Started now.
RunRecord record_of(const std::string& kind, const Config& config);

/// The section [gradcheck].
struct GradcheckOptions {
  std::vector<std::string> estimators;
  std::int64_t batches = 1;
  std::int64_t finite_difference_entries = 8;
  double settle_tolerance = 1e-12, adjoint_tolerance = 1e-12;
  int adjoint_iterations = 400;
  std::uint64_t train_steps = 0;
  std::string weights;    ///< configured, programmed
  double age = 0;         ///< s
  std::string reference;  ///< circuit, device, nominal
};
const Section<GradcheckOptions>& gradcheck_section();

}  // namespace nudge
