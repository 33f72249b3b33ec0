// SPDX-License-Identifier: Apache-2.0
#include "python/src/lent.hpp"

#include <atomic>
#include <thread>

#include "python/src/own_device.hpp"
#include "python/src/own_estimator.hpp"
#include "python/src/own_system.hpp"
#include "python/src/python_calls.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/cost.hpp"

namespace nudge::python {

/// Cost that is a Python object (nudge.Cost): its methods are called with the GIL, which they take.
class OwnCost final : public NodeCost {
 public:
  explicit OwnCost(const nb::object& object);
  ~OwnCost() override;

  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override;
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override;

 private:
  nb::object told(ConstMatrixRef<double> target) const;

  nb::object value_, gradient_;
  // The target that was handed over last: the calls of a phase share it. With the GIL.
  mutable Matrix<double> target_;
  mutable nb::object told_;
  mutable InTurn y_;
};

namespace {

std::mutex& one_run() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<std::thread::id> holder;

}  // namespace

Lent::Lent(const OwnParts& parts) {
  const auto& [system, cost, estimator, device] = parts;
  if (system.is_none() && cost.is_none() && estimator.is_none() && device.is_none()) return;
  if (holder == std::this_thread::get_id()) {
    throw UserError("a run with a system, a cost, an estimator or a device of one's own within another (call it after that has ended)");
  }
  only_ = std::unique_lock(one_run());
  if (!system.is_none()) {
    network_.emplace([&system = parts.system](const Config& /*config*/, const TaskSizes& task) {
      return own_plan(system, task.rows, task.features, task.classes + task.values);
    });
  }
  if (!cost.is_none()) cost_.emplace(std::make_shared<const OwnCost>(cost));
  if (!estimator.is_none()) estimator_.emplace(own_estimator_kind(estimator));
  if (!device.is_none()) device_.emplace(own_device_law(device));
  holder = std::this_thread::get_id();  // last: what throws above leaves nobody behind
}

Lent::~Lent() {
  if (only_) holder = std::thread::id();
}

OwnCost::OwnCost(const nb::object& object) {
  const nb::gil_scoped_acquire held;
  value_ = object.attr("value");
  gradient_ = object.attr("gradient");
}

OwnCost::~OwnCost() {
  release(value_);
  release(gradient_);
  release(told_);
}

/// Makes the target an array that can only be read.
nb::object OwnCost::told(ConstMatrixRef<double> target) const {
  const bool same = told_.is_valid() && target_.rows() == target.rows() && target_.cols() == target.cols();
  if (!same || target_ != target) {
    nb::object array = handed<double>(target);
    array.attr("flags").attr("writeable") = false;
    target_ = target;
    told_ = std::move(array);
  }
  return told_;
}

double OwnCost::value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const {
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(nb::float_(value_(y_.of<double>(y), told(target))));
}

Matrix<double> OwnCost::gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const {
  const nb::gil_scoped_acquire held;
  const nb::object found = gradient_(y_.of<double>(y), told(target));
  return taken(found, "gradient of the cost", y.rows(), y.cols());
}

}  // namespace nudge::python
