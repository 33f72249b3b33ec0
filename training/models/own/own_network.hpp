// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/config/section.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// Options of the section [own]: record in a run file of the parts that the calling program lent (from Python:
/// nudge.train(system, ...)).
struct OwnOptions {
  std::string system, estimator, cost, device;  ///< names of the lent parts in that program
  std::string system_code, estimator_code, cost_code,
      device_code;        ///< code of the lent parts: kept, and compared by that program
  double leak = {};       ///< leak of the network (NodeLeak) and of its nodes
  bool contrastive = {};  ///< NetworkKind::contrastive
  bool solves = {};       ///< StateFacts::direct
};
const Section<OwnOptions>& own_section();

/// Network kind own: the network of a LentNetwork. Its rows are independent samples.
NetworkKind own_network();

/// Reason why network.kind = own cannot be made: no network is lent; empty: one is.
std::string own_network_missing(const Config& config);

/// Plan of network.kind = own for as long as this object lives. One at a time: std::logic_error for a second.
class LentNetwork {
 public:
  using Plan = std::function<std::shared_ptr<const NetworkPlan>(const Config& config, const TaskSizes& task)>;
  explicit LentNetwork(Plan plan);
  ~LentNetwork();
  LentNetwork(const LentNetwork&) = delete;
  LentNetwork& operator=(const LentNetwork&) = delete;
};

}  // namespace nudge
