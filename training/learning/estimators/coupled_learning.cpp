// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_estimators.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
SequenceReport CoupledLearningEstimator<S>::estimate(Example<S>& example) {
  Direct<S>* direct = example.dynamics->direct();
  if (direct == nullptr) {  // which has no read-out: the cost is of the held nodes
    throw UserError(
        "coupled_learning: outputs are held at voltages, which takes a circuit that solves itself (network.kind = "
        "netlist)");
  }
  SequenceReport report;
  free_.settle(example, options_.free, report);
  const Matrix<S>& z = *example.state;
  const Columns outputs = example.cost->columns(z.cols());
  const auto eta = static_cast<S>(options_.beta);
  cost_gradient_.setZero(z.rows(), z.cols());
  example.cost->own_gradient(z, cost_gradient_);
  states_.resize(2 * z.rows(), z.cols());
  states_.topRows(z.rows()) = z;
  DirectLoad<S> load{DirectLoad<S>::Kind::held, outputs, {}, S(0)};
  load.value = (z - eta * cost_gradient_).middleCols(outputs.begin, outputs.count);
  clamped_ = z;
  begin_nudged_reads(example, options_);
  example.dynamics->set_read_timing({options_.step, 0});  // no circuit's way: it takes no time
  const DirectResult solved = direct->solve(clamped_, load);
  report.nudged = solved.status;
  report.nudged_time = solved.time;
  states_.bottomRows(z.rows()) = clamped_;
  this->nudged_states_ = &clamped_;
  this->adjoint_ = (z - clamped_) / eta;
  this->point_ = z;
  const auto size = static_cast<double>(z.norm());
  report.nudge_ratio = size > 0 ? static_cast<double>((clamped_ - z).norm()) / size : 0;
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()), report)) return report;
  const std::array<S, 2> scales = {example.weight / eta, -example.weight / eta};
  if (!example.dynamics->accumulate_energy_gradient(states_, scales, *example.sink)) {
    throw UserError("coupled_learning: the force is not the gradient of an energy (take ep or adjoint)");
  }
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(CoupledLearningEstimator)

}  // namespace nudge
