// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Histogram of the stored conductances of the devices of one kind, in bins of equal width; the outermost bins also
/// count what lies beyond.
struct ConductanceHistogram {
  std::string devices;          ///< kind of devices: "positive", "negative"; of two arrays "slow_positive", ...
  std::vector<double> edges_S;  ///< edges, rising, one more than bins
  std::vector<double> before;   ///< devices per bin when the run started
};

/// Number of devices per bin; values below the first edge or above the last one are in the outermost bins. A value on
/// an edge is in the upper bin.
template <class S>
std::vector<double> bin_counts(const std::vector<double>& edges_S, const std::vector<const Matrix<S>*>& conductances);

/// Histograms of one map at the start of a run, kept through resumption, and when they are written. Replicas are
/// counted together; a map without devices has none.
template <class S>
class ConductanceRecord {
 public:
  /// Chooses the bins, 50 between the outermost bounds of the devices as they are sampled, and counts.
  void begin(LinearMap<S>& map);

  /// Writes GROUP/<devices>/{level, edges, before, after}; docs/reference/files.md.
  void write(H5Document& document, const std::string& group, LinearMap<S>& map) const;

  /// Restores bins and start from the file; none where it has no such group (of an older version).
  void restore(const H5Reader& file, const std::string& group);

  const std::vector<ConductanceHistogram>& histograms() const { return histograms_; }

 private:
  std::vector<ConductanceHistogram> histograms_;
};

}  // namespace nudge
