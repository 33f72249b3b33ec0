// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_run.hpp"

#include <algorithm>

#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/data/data_options.hpp"

namespace nudge {

ReferenceRequest reference_request(const Config& config, Index weights,
                                   const std::function<bool(const std::string& doing)>& progress) {
  constexpr double kAlways = 2e10;
  const TrainOptions options = train_options(config);
  const double samples = static_cast<double>(options.rate.steps) * static_cast<double>(options.batch);
  return {data_options(config).references, std::max(kAlways, 5 * samples * static_cast<double>(weights)),
          run_options(config).threads, progress};
}

}  // namespace nudge
