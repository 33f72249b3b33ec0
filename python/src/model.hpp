// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "python/src/lent.hpp"
#include "training/batch/equilibrium_layer.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_parts.hpp"
#include "training/data/task.hpp"
#include "training/models/network.hpp"

namespace nudge::python {

using Texts = std::vector<std::string>;

/// Network of a config with the task that it is made for: the contents of nudge.Network. Parameters are known by the
/// names of their groups, as /parameters of a run file has them.
template <class S>
class Model {
 public:
  /// Makes the network of a config. UserError for a network that is no circuit.
  Model(const Config& config, std::shared_ptr<const OwnParts> own);

  const Config& config() const { return config_; }
  /// Parts of it that are Python's, with this estimator: to be lent while its options are read. With the GIL.
  OwnParts own(const nb::object& estimator = nb::none()) const {
    OwnParts all = *own_;
    all.estimator = estimator;
    return all;
  }
  const Task& task() const { return *task_; }
  Network<S>& network() { return *network_; }

  /// Finds the group of that name. UserError naming the nearest.
  const ParameterGroup& group(const std::string& name) const;
  const std::vector<ParameterGroup>& groups() const { return groups_; }

  /// Programs W ← the given groups, as well as the hardware that holds them can, each array once. UserError for another
  /// shape.
  void program(const std::map<std::string, Matrix<S>>& values);
  /// Updates W ← W + the given changes, as a training step asks for them (arrays that update by coincidences write the
  /// sum at once).
  void update(const std::map<std::string, Matrix<S>>& changes);
  void advance_time(double seconds, double reading_s);

  /// Options of a phase: the config after `settings` (key=value), and the estimator ("": the config's). Without growth
  /// penalty: gradients are those of the cost.
  BatchGradientOptions options(const std::string& estimator, const Texts& settings) const;

  /// Makes examples of symbols (B, T) and their targets, or of samples (n, features) with labels or values. Empty
  /// arguments are unknown and do not count. UserError for what does not fit the network.
  Batch symbols(const Matrix<int>& x, const Matrix<int>& y) const;
  Batch samples(const Matrix<float>& x, const std::vector<int>& labels, const Matrix<float>& values) const;

 private:
  Model(const Config& config, std::shared_ptr<const OwnParts> own, RunParts parts);
  std::vector<Matrix<S>> changed(const std::map<std::string, Matrix<S>>& values, bool from_zero) const;

  Config config_;
  std::shared_ptr<const OwnParts> own_;
  std::shared_ptr<const Task> task_;
  std::shared_ptr<const NetworkPlan> plan_;
  std::unique_ptr<Network<S>> network_;
  std::vector<ParameterGroup> groups_;
  std::uint64_t times_ = 0;
};

}  // namespace nudge::python
