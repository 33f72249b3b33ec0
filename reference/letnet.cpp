// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "mixers/tape.hpp"
#include "reference/case_kind.hpp"
#include "reference/held_network.hpp"
#include "reference/letnet_problem.hpp"
#include "sim/steady/monitor.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {
namespace {

// Tolerances of LETNET.md, section 6.
constexpr double kNarrow = 1e-5;                   // of float32, but where a nudge divides
constexpr CaseTolerance kPoint{1e-13, kNarrow};    // one evaluation at a given point
constexpr CaseTolerance kState{1e-12, kNarrow};    // settled and nudged states, and what is taken at the settled one
constexpr CaseTolerance kAdjoint{1e-11, kNarrow};  // exact, or through time
constexpr CaseTolerance kReadout{1e-12, kNarrow};  // every gradient of Wh: nothing is divided by β

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

/// Weights in the order of the plan's parameters.
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
        w_(problem.float32) {}

  std::vector<CaseDataset> compute() {
    at_test_point();
    const States fixed = at_fixed_point();
    const States last = euler(fixed);
    nudged("transposed", "aep_transposed", last, p_.beta, {1e-11, 2e-6 / p_.beta + kNarrow});
    nudged("frozen", "aep_transposed", last, p_.beta_frozen, {1e-11, 2e-6 / p_.beta_frozen + kNarrow});
    nudged("aep", "aep", last, p_.beta_aep, {1e-10, 5e-6 / p_.beta_aep});
    nudged("anchored", "aep_anchored", last, p_.beta_aep, {1e-10, 5e-6 / p_.beta_aep});
    const auto through = net_.estimate("bptt", case_phases(p_.step, p_.free_steps, 0), net_.starts());
    parameters("grad_bptt", through.gradient, kAdjoint);
    return w_.take();
  }

 private:
  /// Orders a gradient under the names of the file.
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

  /// Mean cost over all tokens.
  double cost(const States& z) {
    const std::vector<double> costs = net_.costs(z);
    return net_.weight() * std::accumulate(costs.begin(), costs.end(), 0.0);
  }
  /// Gradient dcost/dz_n of the mean cost.
  States cost_gradient(const States& z) {
    States all = net_.cost_gradient(z);
    for (Matrix<double>& one : all) one = (net_.weight() * one.rightCols(p_.sizes.channels)).eval();
    return all;
  }
  Matrix<double> node(const Matrix<double>& z, Index j) const {  // node −1: what is clamped
    return j < 0 ? net_.input() : Matrix<double>(z.middleCols(j * p_.sizes.channels, p_.sizes.channels));
  }

  /// Attention probabilities P of every attention node at the states that drive them, (L·K·H·T, T).
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

  /// Updates G_j(z_{j−1}) of all nodes: the force without leak and coupling.
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

  void nodes(const std::string& name, const States& z, CaseTolerance tolerance) {
    const std::vector<double> values = nodes_from_samples(z, p_.sizes);
    w_.add(name, {p_.sizes.batch, p_.sizes.nodes, p_.sizes.tokens, p_.sizes.channels},
           Eigen::Map<const Matrix<double>>(values.data(), 1, static_cast<Index>(values.size())), tolerance);
  }
  void tokens(const std::string& name, const States& x, CaseTolerance tolerance) {
    w_.add(name, {p_.sizes.batch, p_.sizes.tokens, x[0].cols()}, stacked(x), tolerance);
  }
  /// Writes a group with a dataset per parameter; Wh belongs to gradients of the cost.
  void parameters(const std::string& name, const Gradient<double>& gradient, CaseTolerance tolerance,
                  bool readout = true) {
    const LetnetParameters all = by_name(gradient);
    for (const LetnetParameterShape& each : letnet_parameters(p_.sizes, p_.rope)) {
      const bool outside = each.name == "Wh";
      if (outside && !readout) continue;
      // The softmax of a single token is 1 whatever the scores: these gradients are zero and have no scale of their own.
      const bool zero = p_.sizes.tokens == 1 && (each.name == "Wq" || each.name == "Wk");
      w_.add(name + "/" + each.name, each.shape, stacked(all.at(each.name)), outside ? kReadout : tolerance,
             zero ? CaseError::absolute : CaseError::relative);
    }
  }

  void at_test_point() {
    const LetnetSizes& s = p_.sizes;
    const States& z = p_.z0;
    tokens("x", net_.inputs(), kPoint);
    nodes("G_z0", net_.each(z, [&](std::size_t, const Matrix<double>& one) { return updates(one); }), kPoint);
    const States p = net_.each(z, [&](std::size_t, const Matrix<double>& one) { return probabilities(one); });
    w_.add("prob_z0", {s.batch, s.layers * s.loops, s.heads, s.tokens, s.tokens}, stacked(p), kPoint);
    nodes("force_z0", net_.force(z), kPoint);
    nodes("jvp_z0_v", net_.jvp(z, p_.v), kPoint);
    nodes("vjp_z0_u", net_.vjp(z, p_.u), kPoint);
    tokens("logits_z0", net_.outputs(z), kPoint);
    w_.scalar("cost_z0", cost(z), kPoint);
    tokens("dcost_z0", cost_gradient(z), kPoint);
    Gradient<double> correlation = net_.correlate(z, p_.u);
    correlation.scale(1 / net_.weight());  // a sum, no mean
    parameters("vf_z0_u", correlation, kPoint, false);
  }

  States at_fixed_point() {
    EstimatorOptions options = case_phases(1 / (1 + p_.kappa), 0, 0);
    SettleOptions sweeps = options.free;
    sweeps.schedule = RelaxationSchedule::sweep;
    const States z = net_.settle_to_rest(net_.starts(), sweeps, name_ + ": the network");
    nodes("z_fp", z, kState);
    tokens("logits_fp", net_.outputs(z), kState);
    w_.scalar("cost_fp", cost(z), kState);
    tokens("dcost_fp", cost_gradient(z), kState);
    const HeldNetwork::Estimate exact = net_.estimate("implicit_dense", options, z);
    adjoint("a_exact", exact, kAdjoint);
    parameters("grad_exact", exact.gradient, kAdjoint);
    return z;
  }

  /// Writes the adjoint of the mean cost.
  void adjoint(const std::string& name, const HeldNetwork::Estimate& found, CaseTolerance tolerance) {
    States a = found.adjoint;
    for (Matrix<double>& one : a) one *= net_.weight();
    nodes(name, a, tolerance);
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
    nodes("euler_z_1", free.first, kPoint);
    nodes("euler_z_T1", free.last, kState);
    w_.list("euler_residual", free.residual, kPoint, CaseError::absolute);
    w_.list("euler_cost", free.cost, kState);
    w_.list("euler_distance", free.distance, kPoint, CaseError::absolute);
    if (p_.kappa == 0) {
      w_.list("unit_residual", trajectory(1.0, static_cast<int>(p_.sizes.nodes), fixed).residual, kPoint,
              CaseError::absolute);
    }
    return std::move(free.last);
  }

  /// Writes nudged states, adjoint and gradient of an estimator from the states z, under names that end with `name`.
  /// tolerance: of the gradient.
  void nudged(const std::string& name, const std::string& estimator, const States& z, double beta,
              CaseTolerance tolerance) {
    EstimatorOptions options = case_phases(p_.step, 0, p_.nudged_steps);
    options.beta = beta;
    options.frozen_cost = name == "frozen";
    const HeldNetwork::Estimate found = net_.estimate(estimator, options, z);
    nodes("z_plus_" + name, found.nudged[0], kState);
    nodes("z_minus_" + name, found.nudged[1], kState);
    adjoint("a_" + name, found, tolerance);
    parameters("grad_" + name, found.gradient, tolerance);
  }

  const LetnetProblem& p_;
  std::string name_;
  std::shared_ptr<const TransformerPlan> plan_;
  HeldNetwork net_;
  CaseWriter w_;
};

}  // namespace

std::vector<CaseDataset> compute_letnet(const H5Reader& file) {
  const LetnetProblem problem(file);
  return Letnet(problem, file).compute();
}

}  // namespace nudge
