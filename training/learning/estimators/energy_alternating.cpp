// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_estimators.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
SequenceReport EnergyAlternatingEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  free_.settle(example, options_.free, report);
  LayerEnergies<S>* energies = example.dynamics->capabilities().layer_energies;
  if (energies == nullptr || !energies->accumulate_layer_energies(*example.state, example.weight, *example.sink)) {
    throw UserError(
        "energy_alternating: a layer has weights outside its own energy. Use aep_transposed, or a mixer with such "
        "an energy: gd_inner, gd_elastic");
  }
  example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
  report.cost_in_forces += 3;  // the energies and their derivative
  this->adjoint_.setZero(example.state->rows(), example.state->cols());
  this->point_ = *example.state;
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(EnergyAlternatingEstimator)

}  // namespace nudge
