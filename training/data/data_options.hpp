// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Options of the sections [task] (without kind) and [data].
struct DataOptions {
  Index examples = {};    ///< training examples of a generated task
  Index vocabulary = {};  ///< vocabulary of a MAD task; 0: the published one
  std::vector<std::string> references;
  std::string text;  ///< text file; empty: the text that ships
  /// Sample file, and names in it; empty: the digits that ship, and the first column or "features" and "labels".
  std::string file, folder, features, labels;
  /// Test file, and names in it; empty: split off, and the names above.
  std::string test_file, test_features, test_labels;
  std::vector<Index> shape;
  Index classes = {};  ///< number of classes; 0: the largest label + 1
  std::string scaling, value_scaling;
  std::vector<std::string> augment;  ///< changes of pictures while they are learnt (Augmentation)
  double validation_fraction = {}, test_fraction = {};
  std::int64_t test_seed = {};   ///< seed of the test split
  std::int64_t split_seed = {};  ///< seed of the split of the rest; by_seed: the seed of the run
  static constexpr std::int64_t by_seed = -1;
  Index frames = {};              ///< that the features of a sample are, shown one after the other
  Index side_by_side = {};        ///< samples in one state; 0: chosen
  Index validation_samples = {};  ///< samples used for validation; 0: all
};
const Section<DataOptions>& data_section();
/// Refuses a key with a value that only means something beside another one (`other`, its value `there`), which is empty.
void expect_beside(const std::string& key, const std::string& value, const std::string& other,
                   const std::string& there);
/// Table of the key task.kind.
ParamTable task_rows();
inline DataOptions data_options(const Config& config) { return data_section().read(config); }

/// True if the inputs of the network change in time.
inline bool moves_input(const Config& config) { return data_options(config).frames > 1; }

/// Value of the key seed, for tasks and networks, which know no options of a run.
inline std::uint64_t run_seed(const Config& config) { return static_cast<std::uint64_t>(config.integer("seed")); }

}  // namespace nudge
