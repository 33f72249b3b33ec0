// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/config/section.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// The section [own]: what a run file says of parts that the program which ran it lent (from Python: nudge.train(system, ...)).
struct OwnOptions {
  std::string system, estimator, cost, device;  ///< their names there
  std::string system_code, estimator_code, cost_code,
      device_code;        ///< what their code is: kept, and compared by that program
  double leak = {};       ///< NodeLeak, and the leak of its nodes
  bool contrastive = {};  ///< NetworkKind::contrastive
};
const Section<OwnOptions>& own_section();

/// own: the network of a LentNetwork. Its rows are independent samples.
NetworkKind own_network();

/// Why network.kind = own cannot be made, if no network is lent; or nothing.
std::string own_network_missing(const Config& config);

/// The plan of network.kind = own for as long as this lives. One at a time: std::logic_error for a second.
class LentNetwork {
 public:
  using Plan = std::function<std::shared_ptr<const NetworkPlan>(const Config& config, const TaskSizes& task)>;
  explicit LentNetwork(Plan plan);
  ~LentNetwork();
  LentNetwork(const LentNetwork&) = delete;
  LentNetwork& operator=(const LentNetwork&) = delete;
};

}  // namespace nudge
