// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/energy_alternating.hpp"

#include "sim/base/errors.hpp"
#include "sim/layer_energies.hpp"

namespace nudge {

template <class S>
SequenceReport EnergyAlternatingEstimator<S>::estimate(SequenceTask<S>& task) {
  SequenceReport report;
  free_.settle(task, options_.free, report);
  auto* energies = dynamic_cast<LayerEnergies<S>*>(task.dynamics);
  if (energies == nullptr || !energies->accumulate_layer_energies(*task.state, task.weight, *task.sink)) {
    throw UserError(
        "energy_alternating: a layer has weights that are in no energy of its own (take aep_transposed, or a mixer "
        "with "
        "such an energy: gd_inner, gd_elastic)");
  }
  task.cost->accumulate_parameter_gradient(*task.state, task.weight, *task.sink);
  report.cost_in_forces += 3;  // the energies and their derivative
  this->adjoint_.setZero(task.state->rows(), task.state->cols());
  this->point_ = *task.state;
  return report;
}

template class EnergyAlternatingEstimator<float>;
template class EnergyAlternatingEstimator<double>;

}  // namespace nudge
