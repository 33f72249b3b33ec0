// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/section.hpp"
#include "sim/io/run_record.hpp"

namespace nudge {

/// Keys outside sections, and of [product] and [output].
struct RunOptions {
  std::string preset;
  std::uint64_t seed = {};
  int threads = {};  ///< 0: all
  std::string precision;
  std::string estimator;
  std::string product_kernel;
  std::string output_file;
  std::uint64_t print_every = {};
  std::size_t log_rows = {};  ///< largest number of rows in the log of a training

  bool double_precision() const { return precision == "double"; }
};
const Section<RunOptions>& run_section();
inline RunOptions run_options(const Config& config) { return run_section().read(config); }

/// Record in every file of the run that wrote it: its config, seed, precision and threads. It starts now.
RunRecord record_of(const std::string& kind, const Config& config);

/// Section [gradcheck].
struct GradcheckOptions {
  std::vector<std::string> estimators;
  std::int64_t batches = {};
  std::int64_t finite_difference_entries = {};
  double settle_tolerance = {}, adjoint_tolerance = {};
  int adjoint_iterations = {};
  std::uint64_t train_steps = {};
  std::int64_t starts = {};  ///< 0: none
  std::vector<std::int64_t> record;
  std::string weights;    ///< configured, programmed
  double age = {};        ///< s
  std::string reference;  ///< circuit, device, nominal
};
const Section<GradcheckOptions>& gradcheck_section();

}  // namespace nudge
