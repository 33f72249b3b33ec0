// SPDX-License-Identifier: Apache-2.0
#include "reference/drn.hpp"

#include <fmt/format.h>

#include "circuits/resistive/resistive_currents.hpp"
#include "reference/drn_outputs.hpp"
#include "reference/held_network.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "training/models/resistive/resistive_plan.hpp"

namespace nudge {
namespace {

std::shared_ptr<const ResistivePlan> plan_of(const DrnProblem& p) {
  const ResistiveNetwork& net = *p.network;
  ResistiveShape shape;
  shape.features = p.x.cols();
  for (Index l = 1; l <= net.depth(); ++l) {
    shape.widths.push_back(net.width(l));
    shape.gains.push_back(net.gain(l - 1));
  }
  shape.bias = net.bias();
  shape.rail = net.rail_V();
  return std::make_shared<ResistivePlan>(shape);
}

/// As the plan's parameters; its current sources of layer l are A_l ⋯ A_{L−1} times those of the case.
std::vector<Matrix<double>> weights_of(const DrnProblem& p, const ResistivePlan& plan) {
  const ResistiveNetwork& net = *p.network;
  std::vector<Matrix<double>> all;
  for (Index l = 1; l <= net.depth(); ++l) all.push_back(net.layer(l).conductance);
  for (int l = 1; l <= plan.shape().layers() && net.bias() != ResistiveBias::none; ++l) {
    all.push_back((net.bias() == ResistiveBias::current ? plan.amplification(l) : 1.0) * net.layer(l).bias);
  }
  return all;
}

/// Runs the parts of a case one after the other. The plan's states are u_l = A_l ⋯ A_{L−1} v_l, P v below, its energy is that of the
/// case over c_L: c_l I_l = −∂E/∂v_l makes I = F/P.
class Drn {
 public:
  explicit Drn(const DrnProblem& problem)
      : p_(problem),
        plan_(plan_of(problem)),
        net_(plan_, weights_of(problem, *plan_), {{p_.batch(), 1, {}, {}}, p_.x, p_.target}),
        w_(problem),
        scale_(1, p_.network->cols()),
        last_factor_(p_.network->factor(p_.network->depth())) {
    for (int l = 1; l <= plan_->shape().layers(); ++l) {
      scale_.middleCols(plan_->columns(l).begin, plan_->columns(l).count).setConstant(plan_->amplification(l));
    }
  }

  std::vector<CaseDataset> compute() {
    at_test_point();
    check_convex();
    descend();
    const States star = net_.settle_to_rest(states(p_.v_init), phases(0).free, "v_star");
    at_steady_state("star", star);
    const HeldNetwork::Estimate both = net_.estimate_at_rest("ep", phases(0), star, "v_plus, v_minus");
    at_steady_state("plus", both.nudged[0]);
    at_steady_state("minus", both.nudged[1]);
    powers(star);
    EstimatorOptions how = phases(0);
    for (const auto& [side, sides] : {std::pair{"plus", NudgeSides::positive},
                                      {"minus", NudgeSides::negative},
                                      {"centered", NudgeSides::centered}}) {
      how.sides = sides;
      const std::string name = std::string("grad_ep_") + side;
      gradient(name, net_.estimate_at_rest("ep_contrastive", how, star, name).gradient);
    }
    const HeldNetwork::Estimate exact = net_.estimate("implicit_dense", phases(0), star);
    w_.values("a_exact", volts(exact.adjoint) / last_factor_);
    gradient("grad_exact", exact.gradient);
    return w_.take();
  }

 private:
  States states(const Matrix<double>& v) const {
    return per_example((v.array().rowwise() * scale_.row(0).array()).matrix(), 1);
  }
  /// v of states, and currents of forces: both are divided by P.
  Matrix<double> volts(const States& u) const {
    return (stacked(u).array().rowwise() / scale_.row(0).array()).matrix();
  }
  EstimatorOptions phases(int free_sweeps) const {
    EstimatorOptions options = case_phases(1.0, free_sweeps, p_.nudged_sweeps);
    options.free.solver = "coordinate";
    options.beta = p_.beta;
    return options;
  }
  void gradient(const std::string& name, const Gradient<double>& found) {
    std::vector<Matrix<double>> all = found.matrices();
    for (int l = 1; l <= plan_->shape().layers() && p_.network->bias() == ResistiveBias::current; ++l) {
      all[static_cast<std::size_t>(plan_->bias(l))] *= plan_->amplification(l);
    }
    w_.gradient(name, all);
  }
  void per_sample(const std::string& name, const std::vector<double>& values, double factor) {
    w_.values(name, factor * Eigen::Map<const Matrix<double>>(values.data(), 1, static_cast<Index>(values.size())));
  }

  void at_test_point() {
    const States u = states(p_.z0);
    w_.values("kcl_z0", volts(net_.force(u)));
    per_sample("energy_z0", net_.energies(u), last_factor_);
    w_.values("conductance", *net_.dynamics().layered()->loads());
    w_.values("jvp_z0_v", volts(net_.jvp(States(u.size(), inside()), states(p_.v))));
  }

  /// A state in which no diode holds: there J is that of the resistors.
  Matrix<double> inside() const {
    Matrix<double> u = Matrix<double>::Ones(1, p_.network->cols());
    for (Index l = 1; l < p_.network->depth(); ++l) {
      const Index above = p_.network->nodes_above_zero(l);
      u.middleCols(p_.network->columns(l).begin + above, p_.network->width(l) - above).setConstant(-1.0);
    }
    return u;
  }

  /// The energy less β C is convex below β_max, 1/β_max the largest eigenvalue of the outputs' part of (−J)⁻¹.
  void check_convex() {
    const Columns out = plan_->columns(plan_->shape().layers());
    const Index n = out.end();
    net_.bind(0);
    Linearization<double>& at = net_.dynamics().linearize(inside());
    Matrix<double> curvature(n, n), unit = Matrix<double>::Zero(1, n), row(1, n);
    for (Index i = 0; i < n; ++i) {
      unit(0, i) = 1;
      at.jvp(unit, row);
      unit(0, i) = 0;
      curvature.row(i) = -row;
    }
    const Matrix<double> answers =
        LuFactors<double>(curvature).solve(Eigen::MatrixXd::Identity(n, n).rightCols(out.count)).bottomRows(out.count);
    const double limit = 1 / symmetric_eigenvalues(answers).maxCoeff();
    if (p_.beta < limit) return;
    throw NumericalFailure(
        fmt::format("the phase nudged by -beta has no minimum to settle in: beta = {:.6g} >= {:.6g}, the smallest "
                    "eigenvalue of the conductance that the outputs see (the energy is convex below it)",
                    p_.beta, limit));
  }

  void at_steady_state(const std::string& name, const States& u) {
    w_.values("v_" + name, volts(u));
    w_.values("diode_current_" + name, volts(net_.moving_force(u)) - volts(net_.force(u)));
  }

  void powers(const States& star) {
    const Columns out = p_.network->columns(p_.network->depth());
    const Matrix<double> v = volts(star);
    w_.values("logits", v.middleCols(out.begin, out.count));
    per_sample("energy_star", net_.energies(star), last_factor_);
    per_sample("cost_star", net_.costs(star), 1.0);
    const ResistivePower power = resistive_power(*p_.network, doubled_input(p_.x), v);
    w_.values("power_resistors", power.resistors);
    w_.values("power_inputs", power.inputs);
    w_.values("power_amplifiers", power.amplifiers);
    w_.values("power_bias", power.bias);
  }

  void descend() {
    States u = states(p_.v_init);
    for (const char* name : {"cd_1", "cd_2", "cd_3"}) {
      u = net_.settle(u, phases(1).free);
      w_.values(name, volts(u));
    }
    const HeldNetwork::Estimate both = net_.estimate("ep_contrastive", phases(0), u);
    w_.values("cd_plus", volts(both.nudged[0]));
    w_.values("cd_minus", volts(both.nudged[1]));
    gradient("grad_cd_centered", both.gradient);
  }

  const DrnProblem& p_;
  std::shared_ptr<const ResistivePlan> plan_;
  HeldNetwork net_;
  DrnWriter w_;
  Matrix<double> scale_;  ///< P (1, N)
  double last_factor_;    ///< c_L
};

}  // namespace

std::vector<CaseDataset> compute_drn(const H5Reader& file) try {
  const DrnProblem problem(file);
  return Drn(problem).compute();
} catch (const NumericalFailure& failure) {
  throw NumericalFailure(fmt::format("{}: {}", file.name(), failure.what()));
}

}  // namespace nudge
