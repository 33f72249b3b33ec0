// SPDX-License-Identifier: Apache-2.0
#include "reference/case_kind.hpp"
#include "reference/held_network.hpp"
#include "reference/hopnet_problem.hpp"
#include "sim/steady/monitor.hpp"

namespace nudge {
namespace {

// Tolerances of NETWORKS.md, section 1.6.
constexpr CaseTolerance kPoint{1e-13, 1e-5};  // one evaluation at a given point
constexpr CaseTolerance kEuler{1e-12, 1e-5};  // Euler states and what is taken there
constexpr CaseTolerance kFixed{1e-11, 1e-4};  // exact fixed points and what is taken there
constexpr CaseTolerance kExact{1e-10, 1e-4};  // a linear solve there, or backprop through the steps; every Wo and bo
constexpr CaseTolerance kNudged{1e-9, 1e-3};  // divided by 2β at exact fixed points
constexpr CaseTolerance kEulerGradient{1e-10, 1e-3};  // divided by 2β at Euler states

HeldNetwork hold(const HopnetProblem& p, const HopfieldShape& shape) {
  return {std::make_shared<HopfieldPlan>(shape), p.weights, {{p.batch, 1, {}, p.targets}, p.x, p.y}};
}

/// Shape with the same links without activations or boxes: its force is the drive minus the states.
HopfieldShape linear_shape(HopfieldShape shape) {
  shape.form = HopfieldForm::energy;
  shape.activation = shape.output = NodeActivation::identity;
  return shape;
}

/// Runs the parts of a case one after the other, each over all samples.
class Hopnet {
 public:
  Hopnet(const HopnetProblem& problem, const H5Reader& file)
      : p_(problem), name_(file.name()), net_(hold(problem, problem.shape)), w_(problem.float32) {}

  std::vector<CaseDataset> compute() {
    at_test_point(per_example(p_.z0, 1));
    const States start = per_example(p_.start, 1);
    const States fixed = net_.settle_to_rest(start, options(0).free, name_ + ": z_fp");
    at_fixed_point(fixed);
    const States last = euler(start);
    const auto rested = [&](const std::string& estimator, const EstimatorOptions& how) {
      return net_.estimate_at_rest(estimator, how, fixed, name_ + ": nudged by " + estimator);
    };
    const auto stepped = [&](const std::string& estimator, const EstimatorOptions& how) {
      return net_.estimate(estimator, how, last);
    };
    if (p_.shape.asymmetric) {
      for (const auto& [law, estimator] :
           {std::pair{"plain", "ep"}, {"aep", "aep"}, {"transposed", "aep_transposed"}, {"anchored", "aep_anchored"}}) {
        const std::string name = law;
        euler_nudged("_" + name, "grad_euler_" + name, stepped(estimator, options(0)));
        if (name != "anchored") nudged("_" + name, "a_" + name, "grad_" + name, rested(estimator, options(0)));
      }
    } else {
      nudged("", "a_ep", "grad_vf_centered", rested("ep", options(0)));
      contrasts("grad_ep_", rested, kNudged);
      euler_nudged("", "grad_euler_vf_centered", stepped("ep", options(0)));
      contrasts("grad_euler_ep_", stepped, kEulerGradient);
    }
    parameters("grad_bptt", net_.estimate("bptt", options(p_.free_steps), start).gradient, kExact);
    return w_.take();
  }

 private:
  EstimatorOptions options(int free_steps) const {
    EstimatorOptions options = case_phases(p_.step, free_steps, p_.nudged_steps);
    options.beta = p_.beta;
    return options;
  }
  void states(const std::string& name, const States& z, CaseTolerance error) { w_.matrix(name, stacked(z), error); }

  /// Writes a group with a dataset per parameter, but for Wo and bo where `readout` is false.
  void parameters(const std::string& name, const Gradient<double>& gradient, CaseTolerance tolerance,
                  bool readout = true) {
    for (std::size_t i = 0; i < p_.parameters.size(); ++i) {
      const HopnetParameter& parameter = p_.parameters[i];
      const bool outside = parameter.name == "Wo" || parameter.name == "bo";
      if (outside && !readout) continue;
      const Matrix<double>& g = gradient[static_cast<int>(i)];
      w_.add(name + "/" + parameter.name, parameter.shape, parameter.kernels ? Matrix<double>(g.transpose()) : g,
             outside ? kExact : tolerance);
    }
  }
  /// Writes numbers after 0 … T1 steps.
  void series(const std::string& name, const H5Shape& shape, const std::vector<double>& values) {
    w_.add(name, shape, Eigen::Map<const Matrix<double>>(values.data(), 1, static_cast<Index>(values.size())), kEuler);
  }

  void at_test_point(const States& z) {
    const States v = per_example(p_.v, 1), u = per_example(p_.u, 1);
    HeldNetwork linear = hold(p_, linear_shape(p_.shape));
    const HopfieldPlan plan(p_.shape);
    States r = z;
    for (Matrix<double>& one : r) {
      for (int l = 1; l <= p_.shape.layers(); ++l) {
        const auto [begin, count] = plan.columns(l);
        const Matrix<double> s = one.middleCols(begin, count);
        activate<double>(plan.activation(l), s, one.middleCols(begin, count));
      }
    }
    w_.matrix("drive_z0", stacked(linear.force(r)) + stacked(r), kPoint);
    states("force_z0", net_.moving_force(z), kPoint);
    states("jvp_z0_v", net_.jvp(z, v), kPoint);
    states("vjp_z0_u", net_.vjp(z, u), kPoint);
    w_.list("cost_z0", net_.costs(z), kPoint);
    states("dcost_z0", net_.cost_gradient(z), kPoint);
    if (!p_.shape.asymmetric) w_.list("energy_z0", net_.energies(z), kPoint);
    parameters("vf_z0_u", net_.correlate(z, u), kPoint, false);
  }

  void at_fixed_point(const States& z) {
    states("z_fp", z, kFixed);
    w_.list("cost_fp", net_.costs(z), kFixed);
    if (!p_.shape.asymmetric) w_.list("energy_fp", net_.energies(z), kFixed);
    if (p_.cross_entropy()) states("logits_fp", net_.outputs(z), kFixed);
    const HeldNetwork::Estimate exact = net_.estimate("implicit_dense", options(0), z);
    states("a_exact", exact.adjoint, kExact);
    parameters("grad_exact", exact.gradient, kExact);
  }

  /// Writes nudged phases from exact fixed points of both signs.
  void nudged(const std::string& suffix, const std::string& adjoint, const std::string& gradient,
              const HeldNetwork::Estimate& found) {
    states("z_plus" + suffix, found.nudged[0], kFixed);
    states("z_minus" + suffix, found.nudged[1], kFixed);
    states(adjoint, found.adjoint, kNudged);
    parameters(gradient, found.gradient, kNudged);
  }

  /// Writes the gradients of the rule that compares the energy's slopes of two phases.
  template <class Run>
  void contrasts(const std::string& name, Run run, CaseTolerance error) {
    EstimatorOptions how = options(0);
    for (const auto& [side, sides] : {std::pair{"plus", NudgeSides::positive},
                                      {"minus", NudgeSides::negative},
                                      {"centered", NudgeSides::centered}}) {
      how.sides = sides;
      parameters(name + side, run("ep_contrastive", how).gradient, error);
    }
  }

  void euler_nudged(const std::string& suffix, const std::string& gradient, const HeldNetwork::Estimate& found) {
    states("euler_z_plus" + suffix, found.nudged[0], kEuler);
    states("euler_z_minus" + suffix, found.nudged[1], kEuler);
    parameters(gradient, found.gradient, kEulerGradient);
  }

  /// Runs Euler steps one by one; returns the last states.
  States euler(States z) {
    const Index last = p_.shape.widths.back();
    std::vector<double> outputs, energy;
    for (int n = 0; n <= p_.free_steps; ++n) {
      if (n > 0) z = net_.settle(z, options(1).free);
      for (const Matrix<double>& one : z)
        outputs.insert(outputs.end(), one.data() + p_.units - last, one.data() + p_.units);
      if (!p_.shape.asymmetric) {
        for (const double e : net_.energies(z)) energy.push_back(e);
      }
      if (n == 1) states("euler_z_1", z, kPoint);
    }
    states("euler_z_T1", z, kEuler);
    const Index steps = Index{p_.free_steps} + 1;
    series("euler_output", {steps, p_.batch, last}, outputs);
    if (!p_.shape.asymmetric) series("euler_energy", {steps, p_.batch}, energy);
    w_.list("euler_cost_T1", net_.costs(z), kEuler);
    w_.scalar("euler_residual_T1", relative_residual(stacked(net_.moving_force(z)).norm(), stacked(z).norm()), kEuler);
    return z;
  }

  const HopnetProblem& p_;
  std::string name_;
  HeldNetwork net_;
  CaseWriter w_;
};

}  // namespace

std::vector<CaseDataset> compute_hopnet(const H5Reader& file) {
  const HopnetProblem problem(file);
  return Hopnet(problem, file).compute();
}

}  // namespace nudge
