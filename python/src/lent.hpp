// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <optional>

#include "devices/own_device.hpp"
#include "python/src/computing.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/own/own_network.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// System, cost, estimator and device of a run that are Python's, each an object or None.
struct OwnParts {
  nb::object system = nb::none(), cost = nb::none(), estimator = nb::none(), device = nb::none();

  OwnParts() = default;
  /// Of a tuple of the four.
  explicit OwnParts(const nb::tuple& own) : system(own[0]), cost(own[1]), estimator(own[2]), device(own[3]) {}
  static OwnParts of_device(const nb::object& device) {
    OwnParts all;
    all.device = device;
    return all;
  }
};

/// Parts of a run that are Python's, for as long as this object lives. One run at a time has such parts: another waits for
/// it; one within it (from a callback) is a UserError. Made and destroyed without the GIL, and before the config is read,
/// whose rules ask for the estimator. The objects must live longer.
class Lent {
 public:
  explicit Lent(const OwnParts& parts);
  ~Lent();
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  std::unique_lock<std::mutex> only_;
  std::optional<LentNetwork> network_;
  std::optional<LentCost> cost_;
  std::optional<LentEstimator> estimator_;
  std::optional<LentDevice> device_;
};

/// compute() with these parts lent.
template <class Work>
auto compute(const OwnParts& parts, const Work& work) {
  return compute([&] {
    const Lent lent(parts);
    return work();
  });
}

}  // namespace nudge::python
