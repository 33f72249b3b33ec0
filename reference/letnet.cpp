// SPDX-License-Identifier: Apache-2.0
#include "reference/letnet.hpp"

#include <numeric>

#include "mixers/tape.hpp"
#include "reference/held_network.hpp"
#include "reference/letnet_outputs.hpp"
#include "sim/steady/monitor.hpp"
#include "training/models/transformer/sub_layers.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {
namespace {

std::shared_ptr<const TransformerPlan> transformer(const LetnetProblem& p) {
  TransformerShape shape;
  shape.vocabulary = p.sizes.vocabulary;
  shape.tokens = p.sizes.tokens;
  shape.channels = p.sizes.channels;
  shape.hidden = p.sizes.hidden;
  shape.heads = p.sizes.heads;
  shape.layers = p.sizes.layers;
  shape.loops = p.sizes.loops;
  shape.activation = p.activation == LetnetActivation::gelu ? Activation::gelu : Activation::relu2;
  shape.rotary = p.rope;
  shape.feedback = p.kappa;
  return std::make_shared<TransformerPlan>(shape, TransformerScales{});
}

/// As the plan's parameters.
std::vector<Matrix<double>> weights_of(const LetnetProblem& p) {
  std::vector<Matrix<double>> all{p.weights.at("tok")[0]};
  if (!p.rope) all.push_back(p.weights.at("pos")[0]);
  const Index c = p.sizes.channels;
  for (std::size_t l = 0; l < static_cast<std::size_t>(p.sizes.layers); ++l) {
    Matrix<double> qkv(c, 3 * c);
    qkv << p.weights.at("Wq")[l], p.weights.at("Wk")[l], p.weights.at("Wv")[l];
    all.push_back(std::move(qkv));
    for (const char* name : {"Wo", "W1", "W2"}) all.push_back(p.weights.at(name)[l]);
  }
  all.push_back(p.weights.at("Wh")[0]);
  return all;
}

double norm(const States& z) { return stacked(z).norm(); }

/// Runs the parts of a case one after the other, each over all samples.
class Letnet {
 public:
  Letnet(const LetnetProblem& problem, const H5Reader& file)
      : p_(problem),
        name_(file.name()),
        plan_(transformer(problem)),
        net_(plan_, weights_of(problem), {{p_.sizes.batch, p_.sizes.tokens, p_.idx, p_.targets}, {}, {}}),
        w_(problem) {}

  std::vector<CaseDataset> compute() {
    at_test_point();
    const States fixed = at_fixed_point();
    const States last = euler(fixed);
    nudged("transposed", "aep_transposed", last, p_.beta, false);
    nudged("frozen", "aep_transposed", last, p_.beta_frozen, true);
    nudged("aep", "aep", last, p_.beta_aep, false);
    nudged("anchored", "aep_anchored", last, p_.beta_aep, false);
    const auto through = net_.estimate("bptt", case_phases(p_.step, p_.free_steps, 0), net_.starts());
    w_.parameters("grad_bptt", by_name(through.gradient));
    return w_.take();
  }

 private:
  /// A gradient under the names of the file.
  LetnetParameters by_name(const Gradient<double>& gradient) const {
    LetnetParameters all;
    all["tok"] = {gradient[0]};
    if (!p_.rope) all["pos"] = {gradient[1]};
    const Index c = p_.sizes.channels;
    for (Index l = 0; l < p_.sizes.layers; ++l) {
      const TransformerPlan::Layer at = plan_->layer(l);
      all["Wq"].emplace_back(gradient[at.qkv()].leftCols(c));
      all["Wk"].emplace_back(gradient[at.qkv()].middleCols(c, c));
      all["Wv"].emplace_back(gradient[at.qkv()].rightCols(c));
      all["Wo"].push_back(gradient[at.o()]);
      all["W1"].push_back(gradient[at.first]);
      all["W2"].push_back(gradient[at.second]);
    }
    all["Wh"] = {gradient[plan_->readout().parameter]};
    return all;
  }

  /// The mean over all tokens.
  double cost(const States& z) {
    const std::vector<double> costs = net_.costs(z);
    return net_.weight() * std::accumulate(costs.begin(), costs.end(), 0.0);
  }
  /// dcost/dz_n.
  States cost_gradient(const States& z) {
    States all = net_.cost_gradient(z);
    for (Matrix<double>& one : all) one = (net_.weight() * one.rightCols(p_.sizes.channels)).eval();
    return all;
  }
  Matrix<double> node(const Matrix<double>& z, Index j) const {  // node −1: what is clamped
    return j < 0 ? net_.input() : Matrix<double>(z.middleCols(j * p_.sizes.channels, p_.sizes.channels));
  }

  /// P of every attention node at the states that drive them, (L·K·H·T, T).
  Matrix<double> probabilities(const Matrix<double>& z) {
    const LetnetSizes& s = p_.sizes;
    Matrix<double> all(s.layers * s.loops * s.heads * s.tokens, s.tokens);
    Index row = 0;
    for (Index j = 0; j < s.nodes; j += 2) {
      const TransformerPlan::Layer at = plan_->layer(p_.layer_of(j));
      Tape<double> tape;
      std::vector<Matrix<double>> p;
      attention_update(tape.input(node(z, j - 1)), tape.parameter(net_.network().map(at.qkv()).weights()),
                       tape.parameter(net_.network().map(at.o()).weights()), s.heads, p_.rope, &p);
      for (const Matrix<double>& head : p) {
        all.middleRows(row, s.tokens) = head;
        row += s.tokens;
      }
    }
    return all;
  }

  /// G_j(z_{j−1}) of all nodes: the force without what leaks and couples.
  Matrix<double> updates(const Matrix<double>& z) {
    Matrix<double> g(z);
    net_.dynamics().force(z, g);
    for (Index j = 0; j < p_.sizes.nodes; ++j) {
      Matrix<double> rest = node(z, j - 1) - node(z, j);
      if (j + 1 < p_.sizes.nodes) rest += p_.kappa * (node(z, j + 1) - node(z, j));
      g.middleCols(j * p_.sizes.channels, p_.sizes.channels) -= rest;
    }
    return g;
  }

  void at_test_point() {
    w_.samples("x", net_.inputs());
    w_.samples("G_z0", net_.each(p_.z0, [&](std::size_t, const Matrix<double>& z) { return updates(z); }));
    w_.samples("prob_z0", net_.each(p_.z0, [&](std::size_t, const Matrix<double>& z) { return probabilities(z); }));
    w_.samples("force_z0", net_.force(p_.z0));
    w_.samples("jvp_z0_v", net_.jvp(p_.z0, p_.v));
    w_.samples("vjp_z0_u", net_.vjp(p_.z0, p_.u));
    w_.samples("logits_z0", net_.outputs(p_.z0));
    w_.scalar("cost_z0", cost(p_.z0));
    w_.samples("dcost_z0", cost_gradient(p_.z0));
    Gradient<double> correlation = net_.correlate(p_.z0, p_.u);
    correlation.scale(1 / net_.weight());  // a sum, no mean
    w_.parameters("vf_z0_u", by_name(correlation));
  }

  States at_fixed_point() {
    EstimatorOptions options = case_phases(1 / (1 + p_.kappa), 0, 0);
    SettleOptions sweeps = options.free;
    sweeps.schedule = RelaxationSchedule::sweep;
    const States z = net_.settle_to_rest(net_.starts(), sweeps, name_ + ": the network");
    w_.samples("z_fp", z);
    w_.samples("logits_fp", net_.outputs(z));
    w_.scalar("cost_fp", cost(z));
    w_.samples("dcost_fp", cost_gradient(z));
    const HeldNetwork::Estimate exact = net_.estimate("implicit_dense", options, z);
    adjoint("a_exact", exact);
    w_.parameters("grad_exact", by_name(exact.gradient));
    return z;
  }

  /// Of the mean cost.
  void adjoint(const std::string& name, const HeldNetwork::Estimate& found) {
    States a = found.adjoint;
    for (Matrix<double>& one : a) one *= net_.weight();
    w_.samples(name, a);
  }

  /// Residual, cost and distance to the fixed point after 0 … steps of Euler, all samples side by side.
  struct Trajectory {
    States first, last;
    std::vector<double> residual, cost, distance;
  };

  Trajectory trajectory(double step, int steps, const States& fixed) {
    Trajectory out;
    States z = net_.starts();
    for (int n = 0; n <= steps; ++n) {
      if (n > 0) z = net_.settle(z, case_phases(step, 1, 0).free);
      if (n == 1) out.first = z;
      out.residual.push_back(relative_residual(norm(net_.force(z)), norm(z)));
      out.cost.push_back(cost(z));
      out.distance.push_back(relative_residual((stacked(z) - stacked(fixed)).norm(), norm(fixed)));
    }
    out.last = std::move(z);
    return out;
  }

  States euler(const States& fixed) {
    Trajectory free = trajectory(p_.step, p_.free_steps, fixed);
    w_.samples("euler_z_1", free.first);
    w_.samples("euler_z_T1", free.last);
    w_.steps("euler_residual", free.residual);
    w_.steps("euler_cost", free.cost);
    w_.steps("euler_distance", free.distance);
    if (p_.kappa == 0) {
      w_.steps("unit_residual", trajectory(1.0, static_cast<int>(p_.sizes.nodes), fixed).residual);
    }
    return std::move(free.last);
  }

  void nudged(const std::string& name, const std::string& estimator, const States& z, double beta, bool frozen) {
    EstimatorOptions options = case_phases(p_.step, 0, p_.nudged_steps);
    options.beta = beta;
    options.frozen_cost = frozen;
    const HeldNetwork::Estimate found = net_.estimate(estimator, options, z);
    w_.samples("z_plus_" + name, found.nudged[0]);
    w_.samples("z_minus_" + name, found.nudged[1]);
    adjoint("a_" + name, found);
    w_.parameters("grad_" + name, by_name(found.gradient));
  }

  const LetnetProblem& p_;
  std::string name_;
  std::shared_ptr<const TransformerPlan> plan_;
  HeldNetwork net_;
  LetnetWriter w_;
};

}  // namespace

std::vector<CaseDataset> compute_letnet(const H5Reader& file) {
  const LetnetProblem problem(file);
  return Letnet(problem, file).compute();
}

}  // namespace nudge
