// SPDX-License-Identifier: Apache-2.0
#include "reference/hopnet.hpp"

#include "reference/held_network.hpp"
#include "reference/hopnet_outputs.hpp"
#include "sim/steady/monitor.hpp"

namespace nudge {
namespace {

using Error = HopnetError;

HeldNetwork hold(const HopnetProblem& p, const HopfieldShape& shape) {
  return {std::make_shared<HopfieldPlan>(shape), p.weights, {{p.batch, 1, {}, p.targets}, p.x, p.y}};
}

/// The same links without activations or boxes: its force is the drive less the states.
HopfieldShape linear_shape(HopfieldShape shape) {
  shape.form = HopfieldForm::energy;
  shape.activation = shape.output = NodeActivation::identity;
  return shape;
}

/// Runs the parts of a case one after the other, each over all samples.
class Hopnet {
 public:
  Hopnet(const HopnetProblem& problem, const H5Reader& file)
      : p_(problem), name_(file.name()), net_(hold(problem, problem.shape)), writer_(problem) {}

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
      contrasts("grad_ep_", rested, Error::nudged);
      euler_nudged("", "grad_euler_vf_centered", stepped("ep", options(0)));
      contrasts("grad_euler_ep_", stepped, Error::euler_gradient);
    }
    writer_.parameters("grad_bptt", net_.estimate("bptt", options(p_.free_steps), start).gradient, Error::exact);
    return writer_.take();
  }

 private:
  EstimatorOptions options(int free_steps) const {
    EstimatorOptions options = case_phases(p_.step, free_steps, p_.nudged_steps);
    options.beta = p_.beta;
    return options;
  }
  void states(const std::string& name, const States& z, Error error) { writer_.rows(name, stacked(z), error); }

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
    writer_.rows("drive_z0", stacked(linear.force(r)) + stacked(r), Error::point);
    states("force_z0", net_.moving_force(z), Error::point);
    states("jvp_z0_v", net_.jvp(z, v), Error::point);
    states("vjp_z0_u", net_.vjp(z, u), Error::point);
    writer_.values("cost_z0", {p_.batch}, net_.costs(z), Error::point);
    states("dcost_z0", net_.cost_gradient(z), Error::point);
    if (!p_.shape.asymmetric) writer_.values("energy_z0", {p_.batch}, net_.energies(z), Error::point);
    writer_.parameters("vf_z0_u", net_.correlate(z, u), Error::point, false);
  }

  void at_fixed_point(const States& z) {
    states("z_fp", z, Error::fixed_point);
    writer_.values("cost_fp", {p_.batch}, net_.costs(z), Error::fixed_point);
    if (!p_.shape.asymmetric) writer_.values("energy_fp", {p_.batch}, net_.energies(z), Error::fixed_point);
    if (p_.cross_entropy()) states("logits_fp", net_.outputs(z), Error::fixed_point);
    const HeldNetwork::Estimate exact = net_.estimate("implicit_dense", options(0), z);
    states("a_exact", exact.adjoint, Error::exact);
    writer_.parameters("grad_exact", exact.gradient, Error::exact);
  }

  /// From exact fixed points of both signs.
  void nudged(const std::string& suffix, const std::string& adjoint, const std::string& gradient,
              const HeldNetwork::Estimate& found) {
    states("z_plus" + suffix, found.nudged[0], Error::fixed_point);
    states("z_minus" + suffix, found.nudged[1], Error::fixed_point);
    states(adjoint, found.adjoint, Error::nudged);
    writer_.parameters(gradient, found.gradient, Error::nudged);
  }

  /// The rule that compares the energy's slopes of two phases.
  template <class Run>
  void contrasts(const std::string& name, Run run, Error error) {
    EstimatorOptions how = options(0);
    for (const auto& [side, sides] : {std::pair{"plus", NudgeSides::positive},
                                      {"minus", NudgeSides::negative},
                                      {"centered", NudgeSides::centered}}) {
      how.sides = sides;
      writer_.parameters(name + side, run("ep_contrastive", how).gradient, error);
    }
  }

  void euler_nudged(const std::string& suffix, const std::string& gradient, const HeldNetwork::Estimate& found) {
    states("euler_z_plus" + suffix, found.nudged[0], Error::euler);
    states("euler_z_minus" + suffix, found.nudged[1], Error::euler);
    writer_.parameters(gradient, found.gradient, Error::euler_gradient);
  }

  /// Step by step; returns the last states.
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
      if (n == 1) states("euler_z_1", z, Error::point);
    }
    states("euler_z_T1", z, Error::euler);
    const Index steps = Index{p_.free_steps} + 1;
    writer_.values("euler_output", {steps, p_.batch, last}, outputs, Error::euler);
    if (!p_.shape.asymmetric) writer_.values("euler_energy", {steps, p_.batch}, energy, Error::euler);
    writer_.values("euler_cost_T1", {p_.batch}, net_.costs(z), Error::euler);
    writer_.values("euler_residual_T1", {},
                   {relative_residual(stacked(net_.moving_force(z)).norm(), stacked(z).norm())}, Error::euler);
    return z;
  }

  const HopnetProblem& p_;
  std::string name_;
  HeldNetwork net_;
  HopnetWriter writer_;
};

}  // namespace

std::vector<CaseDataset> compute_hopnet(const H5Reader& file) {
  const HopnetProblem problem(file);
  return Hopnet(problem, file).compute();
}

}  // namespace nudge
