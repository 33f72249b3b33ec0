// SPDX-License-Identifier: Apache-2.0
#include "python/src/lent.hpp"

#include <atomic>
#include <thread>

#include "python/src/own_cost.hpp"
#include "python/src/own_estimator.hpp"
#include "python/src/own_system.hpp"
#include "sim/base/errors.hpp"

namespace nudge::python {
namespace {

std::mutex& one_run() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<std::thread::id> holder;

}  // namespace

Lent::Lent(const nb::object& system, const nb::object& cost, const nb::object& estimator) {
  if (system.is_none() && cost.is_none() && estimator.is_none()) return;
  if (holder == std::this_thread::get_id()) {
    throw UserError("a run with a system, a cost or an estimator of one's own within another (call it after that has ended)");
  }
  only_ = std::unique_lock(one_run());
  if (!system.is_none()) {
    network_.emplace([&system](const Config& /*config*/, const TaskSizes& task) {
      return own_plan(system, task.rows, task.features, task.classes + task.values);
    });
  }
  if (!cost.is_none()) cost_.emplace(std::make_shared<const OwnCost>(cost));
  if (!estimator.is_none()) estimator_.emplace(own_estimator_kind(estimator));
  holder = std::this_thread::get_id();  // last: what throws above leaves nobody behind
}

Lent::~Lent() {
  if (only_) holder = std::thread::id();
}

}  // namespace nudge::python
