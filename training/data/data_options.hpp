// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// The sections [task], but for the kind, and [data].
struct DataOptions {
  Index examples = {};    ///< of a task that is drawn
  Index vocabulary = {};  ///< of a MAD task; 0: the published one
  std::vector<std::string> references;
  std::string text;                                   ///< empty: the text that ships
  std::string file, features, labels;                 ///< empty: the digits that ship, and what stands first
  std::string test_file, test_features, test_labels;  ///< empty: split off, and the names above
  std::vector<Index> shape;
  Index classes = {};  ///< 0: the largest label + 1
  std::string scaling, value_scaling;
  double validation_fraction = {}, test_fraction = {};
  std::int64_t split_seed = {};  ///< by_seed: that of the run
  static constexpr std::int64_t by_seed = -1;
  Index side_by_side = {};        ///< 0: chosen
  Index validation_samples = {};  ///< 0: all
};
const Section<DataOptions>& data_section();
/// task.kind.
ParamTable task_rows();
inline DataOptions data_options(const Config& config) { return data_section().read(config); }

/// The key seed, of tasks and networks, which know no options of a run.
inline std::uint64_t run_seed(const Config& config) { return static_cast<std::uint64_t>(config.integer("seed")); }

}  // namespace nudge
