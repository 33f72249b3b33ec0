// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "circuits/resistive/resistive_network.hpp"
#include "reference/case_kind.hpp"
#include "reference/drn_problem.hpp"
#include "reference/held_network.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "training/models/resistive/resistive_plan.hpp"

namespace nudge {
namespace {

// Tolerances of NETWORKS.md, section 2.5, and of section 1.6 for float32.
constexpr CaseTolerance kPoint{1e-12, 1e-5};    // one evaluation, or a given number of sweeps
constexpr CaseTolerance kState{1e-11, 1e-4};    // steady states
constexpr CaseTolerance kAtState{1e-12, 1e-4};  // one evaluation there
constexpr CaseTolerance kAdjoint{1e-10, 1e-3};  // a linear solve there
constexpr CaseTolerance kNudged{1e-9, 1e-3};    // divided by β

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

/// Weights in the order of the plan's parameters; its current sources of layer l are A_l ⋯ A_{L−1} times those of the
/// case.
std::vector<Matrix<double>> weights_of(const DrnProblem& p, const ResistivePlan& plan) {
  const ResistiveNetwork& net = *p.network;
  std::vector<Matrix<double>> all;
  for (Index l = 1; l <= net.depth(); ++l) all.push_back(net.layer(l).conductance);
  for (int l = 1; l <= plan.shape().layers() && net.bias() != ResistiveBias::none; ++l) {
    all.push_back((net.bias() == ResistiveBias::current ? plan.amplification(l) : 1.0) * net.layer(l).bias);
  }
  return all;
}

/// Runs the parts of a case one after the other. The plan's states are u_l = A_l ⋯ A_{L−1} v_l, below P v. Its energy
/// is that of the case over c_L: c_l I_l = −∂E/∂v_l makes I = F/P.
class Drn {
 public:
  explicit Drn(const DrnProblem& problem)
      : p_(problem),
        plan_(plan_of(problem)),
        net_(plan_, weights_of(problem, *plan_), {{p_.batch(), 1, {}, {}}, p_.x, p_.target}),
        w_(problem.float32),
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
      gradient(name, net_.estimate_at_rest("ep_contrastive", how, star, name).gradient, kNudged);
    }
    const HeldNetwork::Estimate exact = net_.estimate("implicit_dense", phases(0), star);
    w_.matrix("a_exact", volts(exact.adjoint) / last_factor_, kAdjoint);
    gradient("grad_exact", exact.gradient, kAdjoint);
    return w_.take();
  }

 private:
  States states(const Matrix<double>& v) const {
    return per_example((v.array().rowwise() * scale_.row(0).array()).matrix(), 1);
  }
  /// Converts states to v, and forces to currents: both are divided by P.
  Matrix<double> volts(const States& u) const {
    return (stacked(u).array().rowwise() / scale_.row(0).array()).matrix();
  }
  EstimatorOptions phases(int free_sweeps) const {
    EstimatorOptions options = case_phases(1.0, free_sweeps, p_.nudged_sweeps);
    options.free.solver = SettleSolver::coordinate;
    options.beta = p_.beta;
    return options;
  }
  /// Writes a group with a dataset per parameter.
  void gradient(const std::string& name, const Gradient<double>& found, CaseTolerance tolerance) {
    const ResistiveBias bias = p_.network->bias();
    for (int l = 1; l <= plan_->shape().layers(); ++l) {
      w_.matrix(fmt::format("{}/g{}", name, l), found[plan_->link(l)], tolerance);
      if (bias == ResistiveBias::none) continue;
      const Matrix<double>& b = found[plan_->bias(l)];
      const bool rails = bias == ResistiveBias::rails;
      w_.add(name + "/" + drn_bias_name(bias, l), rails ? H5Shape{2, b.cols()} : H5Shape{b.cols()},
             (rails ? 1.0 : plan_->amplification(l)) * b, tolerance);
    }
  }
  void per_sample(const std::string& name, std::vector<double> values, double factor, CaseTolerance tolerance) {
    for (double& value : values) value *= factor;
    w_.list(name, values, tolerance);
  }

  void at_test_point() {
    const States u = states(p_.z0);
    w_.matrix("kcl_z0", volts(net_.force(u)), kPoint);
    per_sample("energy_z0", net_.energies(u), last_factor_, kPoint);
    w_.add("conductance", {p_.network->cols()}, *net_.dynamics().layered()->loads(), kPoint);
    w_.matrix("jvp_z0_v", volts(net_.jvp(States(u.size(), inside()), states(p_.v))), kPoint);
  }

  /// Makes a state in which no diode holds: there J is that of the resistors.
  Matrix<double> inside() const {
    Matrix<double> u = Matrix<double>::Ones(1, p_.network->cols());
    for (Index l = 1; l < p_.network->depth(); ++l) {
      const Index above = p_.network->nodes_above_zero(l);
      u.middleCols(p_.network->columns(l).begin + above, p_.network->width(l) - above).setConstant(-1.0);
    }
    return u;
  }

  /// Checks that the energy minus β C is convex: below β_max, where 1/β_max is the largest eigenvalue of the outputs'
  /// part of (−J)⁻¹.
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
    w_.matrix("v_" + name, volts(u), kState);
    w_.matrix("diode_current_" + name, volts(net_.moving_force(u)) - volts(net_.force(u)), kState);
  }

  void powers(const States& star) {
    const Columns out = p_.network->columns(p_.network->depth());
    const Matrix<double> v = volts(star);
    w_.matrix("logits", v.middleCols(out.begin, out.count), kState);
    per_sample("energy_star", net_.energies(star), last_factor_, kAtState);
    per_sample("cost_star", net_.costs(star), 1.0, kState);
    const ResistivePower power = resistive_power(*p_.network, doubled_input(p_.x), v);
    w_.add("power_resistors", {p_.batch()}, power.resistors, kAtState);
    w_.add("power_inputs", {p_.batch()}, power.inputs, kAtState);
    w_.add("power_amplifiers", {p_.batch()}, power.amplifiers, kAtState);
    w_.add("power_bias", {p_.batch()}, power.bias, kAtState);
  }

  void descend() {
    States u = states(p_.v_init);
    for (const char* name : {"cd_1", "cd_2", "cd_3"}) {
      u = net_.settle(u, phases(1).free);
      w_.matrix(name, volts(u), kPoint);
    }
    const HeldNetwork::Estimate both = net_.estimate("ep_contrastive", phases(0), u);
    w_.matrix("cd_plus", volts(both.nudged[0]), kPoint);
    w_.matrix("cd_minus", volts(both.nudged[1]), kPoint);
    gradient("grad_cd_centered", both.gradient, kNudged);
  }

  const DrnProblem& p_;
  std::shared_ptr<const ResistivePlan> plan_;
  HeldNetwork net_;
  CaseWriter w_;
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
