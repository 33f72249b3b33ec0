// SPDX-License-Identifier: Apache-2.0
#include "reference/drn.hpp"

#include <fmt/format.h>

#include "circuits/resistive/coordinate_descent.hpp"
#include "circuits/resistive/resistive_currents.hpp"
#include "reference/drn_outputs.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void at_test_point(const DrnProblem& p, DrnWriter& w) {
  w.values("kcl_z0", resistive_currents<double>(*p.network, p.sources, p.z0));
  w.values("energy_z0", resistive_energy<double>(*p.network, p.sources, p.z0));
  w.values("conductance", p.network->node_conductance());
  w.values("jvp_z0_v", resistive_jvp<double>(*p.network, p.v));
}

void at_steady_state(const DrnProblem& p, const ResistiveState& star, DrnWriter& w) {
  const Columns out = p.network->columns(p.network->depth());
  const Matrix<double> logits = star.voltages.middleCols(out.begin, out.count);
  w.values("logits", logits);
  w.values("energy_star", resistive_energy<double>(*p.network, p.sources, star.voltages));
  w.values("cost_star", 0.5 * (logits - p.target).rowwise().squaredNorm());
  const ResistivePower<double> power = resistive_power<double>(*p.network, p.sources, star.voltages);
  w.values("power_resistors", power.resistors);
  w.values("power_inputs", power.inputs);
  w.values("power_amplifiers", power.amplifiers);
  w.values("power_bias", power.bias);
}

/// (S(plus) − S(minus)) · scale/B of section 2.4.
ResistiveGradient<double> contrast(const DrnProblem& p, const Matrix<double>& plus, const Matrix<double>& minus,
                                   double scale) {
  ResistiveGradient<double> gradient = zero_gradient(*p.network);
  accumulate_half_squares<double>(*p.network, p.sources, plus, minus, scale / static_cast<double>(p.batch()), gradient);
  return gradient;
}

void descend(const DrnProblem& p, DrnWriter& w) {
  CoordinateDescent<double> descent(*p.network);
  descent.bind(p.sources);
  Matrix<double> v = p.v_init;
  for (const char* name : {"cd_1", "cd_2", "cd_3"}) {
    descent.sweep(v);
    w.values(name, v);
  }
  Matrix<double> plus = v, minus = v;
  descent.nudge(p.beta, p.target);
  descent.sweep(plus, p.nudged_sweeps);
  descent.nudge(-p.beta, p.target);
  descent.sweep(minus, p.nudged_sweeps);
  w.values("cd_plus", plus);
  w.values("cd_minus", minus);
  w.gradient("grad_cd_centered", contrast(p, plus, minus, 0.5 / p.beta));
}

}  // namespace

std::vector<CaseDataset> compute_drn(const H5Reader& file) try {
  const DrnProblem p(file);
  DrnWriter w(p);
  at_test_point(p, w);
  const ResistiveSolver solver(*p.network);
  const ResistiveNudge<double> push{p.beta, p.target}, pull{-p.beta, p.target};
  const ResistiveState star = solver.solve(p.sources, {}, p.v_init);
  const ResistiveState plus = solver.solve(p.sources, push, star.voltages);
  const ResistiveState minus = solver.solve(p.sources, pull, star.voltages);
  w.values("v_star", star.voltages);
  w.values("v_plus", plus.voltages);
  w.values("v_minus", minus.voltages);
  w.values("diode_current_star", diode_currents(*p.network, p.sources, star));
  w.values("diode_current_plus", diode_currents(*p.network, p.sources, plus, push));
  w.values("diode_current_minus", diode_currents(*p.network, p.sources, minus, pull));
  at_steady_state(p, star, w);
  descend(p, w);
  w.gradient("grad_ep_plus", contrast(p, plus.voltages, star.voltages, 1 / p.beta));
  w.gradient("grad_ep_minus", contrast(p, star.voltages, minus.voltages, 1 / p.beta));
  w.gradient("grad_ep_centered", contrast(p, plus.voltages, minus.voltages, 0.5 / p.beta));
  const Matrix<double> adjoint = resistive_adjoint(*p.network, star, p.target);
  w.values("a_exact", adjoint);
  ResistiveGradient<double> exact = zero_gradient(*p.network);
  accumulate_mixed<double>(*p.network, p.sources, star.voltages, adjoint, 1.0 / static_cast<double>(p.batch()), exact);
  w.gradient("grad_exact", exact);
  return w.take();
} catch (const NumericalFailure& failure) {
  throw NumericalFailure(fmt::format("{}: {}", file.name(), failure.what()));
}

}  // namespace nudge
