// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "sim/io/run_record.hpp"
#include "training/compare/compare.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {

/// The table /entrants; `metric`, `holds`: of the Comparison.
void write_entrants(H5Document& document, const std::vector<ComparedEntrant>& entrants, const std::string& metric,
                    const std::string& holds);

/// The HDF5 file of a comparison, rewritten as a whole: /tuning and /test with a row per finished run, /entrants with the
/// result, /text. docs/file_format.md lists them.
class CompareFile {
 public:
  CompareFile(const SweepFiles& files, const Config& base);

  /// UserError unless the file is a comparison of the same config; only values of the grid, seeds, threads and output keys may
  /// differ.
  void expect_same_config(const Config& base, const std::vector<std::string>& keys);

  void restore(const std::string& group, Sweep& sweep, Stored stored) const;

  void write(const Comparison& comparison);

  /// The size that write() would give the file.
  std::size_t bytes(const Comparison& comparison) const;

 private:
  H5Document document(const Comparison& comparison) const;

  SweepFiles files_;
  RunRecord record_;
  Overwrite overwrite_;
  double earlier_ = 0;  ///< seconds of the comparison that is resumed
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace nudge
