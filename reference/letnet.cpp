// SPDX-License-Identifier: Apache-2.0
#include "reference/letnet.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/digital_matrix.hpp"
#include "reference/letnet_outputs.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/cross_entropy.hpp"
#include "training/learning/estimators/backprop.hpp"
#include "training/learning/estimators/implicit.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/models/network.hpp"
#include "training/models/transformer/sub_layers.hpp"

namespace nudge {
namespace {

using Samples = std::vector<Matrix<double>>;

constexpr int kMostSweeps = 20000;        // a decay of 1e-3 per sweep is followed to rounding
constexpr double kLetnetSettled = 1e-13;  // ‖F‖/‖z‖ that counts as settled
constexpr double kRounding = 2.5e-16;     // where settling stops: below it the residual cannot be told from 0

/// The network of a case, and the machinery to run one phase after the other over its samples.
class Letnet {
 public:
  explicit Letnet(const LetnetProblem& p)
      : problem(p),
        plan(std::make_shared<TransformerPlan>(
            TransformerShape{p.sizes.vocabulary,
                             p.sizes.tokens,
                             p.sizes.channels,
                             p.sizes.hidden,
                             p.sizes.heads,
                             p.sizes.layers,
                             p.sizes.loops,
                             p.activation == LetnetActivation::gelu ? Activation::gelu : Activation::relu2,
                             p.rope,
                             {},
                             p.kappa},
            TransformerScales{})),
        network(plan, maps(p)),
        dynamics(network.circuit(), p.sizes.tokens, 2),
        cost(network.map(network.readout()), plan->readout(), last_node(), p.sizes.tokens, 2),
        gradient(network.parameter_shapes()) {}

  Columns last_node() const { return plan->nodes().back().columns; }
  double weight() const { return 1.0 / static_cast<double>(problem.sizes.batch * problem.sizes.tokens); }

  void bind(Index b) {
    x.resize(problem.sizes.tokens, problem.sizes.channels);
    network.embed(problem.sample(problem.idx, b), x);
    dynamics.bind(x, ReadContext{});
    cost.bind(problem.sample(problem.targets, b), ReadContext{});
  }

  Matrix<double> start() const {
    Matrix<double> z(network.rows(), network.cols());
    network.start(x, z);
    return z;
  }

  /// Adds what the input's gradient makes of the embedding.
  void embed_back(Index b, Matrix<double> input_gradient) {
    network.accumulate_embedding(problem.sample(problem.idx, b), input_gradient, gradient);
  }

  /// The gradient since the last call, under the names of the file.
  LetnetParameters take_gradient() {
    LetnetParameters all;
    all["tok"] = {gradient[0]};
    if (!problem.rope) all["pos"] = {gradient[1]};
    const Index c = problem.sizes.channels;
    for (Index l = 0; l < problem.sizes.layers; ++l) {
      const TransformerPlan::Layer at = plan->layer(l);
      all["Wq"].emplace_back(gradient[at.qkv()].leftCols(c));
      all["Wk"].emplace_back(gradient[at.qkv()].middleCols(c, c));
      all["Wv"].emplace_back(gradient[at.qkv()].rightCols(c));
      all["Wo"].push_back(gradient[at.o()]);
      all["W1"].push_back(gradient[at.first]);
      all["W2"].push_back(gradient[at.second]);
    }
    all["Wh"] = {gradient[network.readout()]};
    gradient.set_zero();
    return all;
  }

  struct Estimate {
    Samples state, adjoint, plus, minus;
    LetnetParameters gradient;
  };

  /// Runs an estimator over all samples, each from the start of a free phase.
  Estimate run(GradientEstimator<double>& estimator) {
    Estimate out;
    for (Index b = 0; b < problem.sizes.batch; ++b) {
      bind(b);
      Matrix<double> z = start();
      Matrix<double> initial = Matrix<double>::Zero(z.rows(), z.cols());
      SequenceTask<double> task{&dynamics, &cost, &z, &initial, weight(), &gradient};
      estimator.estimate(task);
      Matrix<double> input = dynamics.input_gradient();
      network.accumulate_start(initial, input);
      embed_back(b, input);
      out.adjoint.emplace_back(weight() * estimator.adjoint());
      if (const auto* nudged = dynamic_cast<const NudgedEstimator<double>*>(&estimator)) {
        out.plus.emplace_back(nudged->states().topRows(z.rows()));
        out.minus.emplace_back(nudged->states().bottomRows(z.rows()));
      }
      out.state.push_back(std::move(z));
    }
    out.gradient = take_gradient();
    return out;
  }

  EstimatorOptions options() const {
    EstimatorOptions options;
    options.free.step = options.step = problem.step;
    options.free.max_steps = problem.free_steps;
    options.free.divergence_ratio = 1e300;  // a case defines its states whatever they are
    options.nudged_steps = problem.nudged_steps;
    options.adjoint_tolerance = 1e-15;
    return options;
  }

  const LetnetProblem& problem;
  std::shared_ptr<const TransformerPlan> plan;
  Network<double> network;
  CircuitDynamics<double> dynamics;
  CrossEntropyReadout<double> cost;
  Gradient<double> gradient;
  Matrix<double> x;

 private:
  static Maps<double> maps(const LetnetProblem& p) {
    Maps<double> all;
    const auto add = [&all](const Matrix<double>& w) { all.push_back(std::make_unique<DigitalMatrix<double>>(w)); };
    const auto layer = [&p](const char* name, Index l) { return p.weights.at(name)[static_cast<std::size_t>(l)]; };
    add(layer("tok", 0));
    if (!p.rope) add(layer("pos", 0));
    const Index c = p.sizes.channels;
    for (Index l = 0; l < p.sizes.layers; ++l) {
      Matrix<double> qkv(c, 3 * c);
      qkv << layer("Wq", l), layer("Wk", l), layer("Wv", l);
      add(qkv);
      for (const char* name : {"Wo", "W1", "W2"}) add(layer(name, l));
    }
    add(layer("Wh", 0));
    return all;
  }
};

/// P of every attention node at the states that drive them, (L·K·H·T, T).
Matrix<double> probabilities(const Letnet& net, const Matrix<double>& z) {
  const LetnetSizes& s = net.problem.sizes;
  Matrix<double> all(s.layers * s.loops * s.heads * s.tokens, s.tokens);
  Index row = 0;
  for (Index j = 0; j < s.nodes; j += 2) {
    const TransformerPlan::Layer at = net.plan->layer(net.problem.layer_of(j));
    Tape<double> tape;
    std::vector<Matrix<double>> p;
    const Matrix<double> source = j == 0 ? net.x : Matrix<double>(z.middleCols((j - 1) * s.channels, s.channels));
    attention_update(tape.input(source), tape.parameter(net.network.map(at.qkv()).weights()),
                     tape.parameter(net.network.map(at.o()).weights()), s.heads, net.problem.rope, &p);
    for (const Matrix<double>& head : p) {
      all.middleRows(row, s.tokens) = head;
      row += s.tokens;
    }
  }
  return all;
}

void at_test_point(Letnet& net, LetnetWriter& w) {
  const LetnetProblem& p = net.problem;
  const Index c = p.sizes.channels;
  Samples x, g, prob, force, jvp, vjp, logits, dcost;
  double cost = 0;
  for (Index b = 0; b < p.sizes.batch; ++b) {
    const Matrix<double>& z = p.z0[static_cast<std::size_t>(b)];
    net.bind(b);
    Matrix<double> f(z), jv(z), ju(z), dc(z), update(z);
    net.dynamics.force(z, f);
    for (Index j = 0; j < p.sizes.nodes; ++j) {
      const auto node = [c](const Matrix<double>& m, Index at) { return m.middleCols(at * c, c); };
      Matrix<double> rest = (j == 0 ? net.x : Matrix<double>(node(z, j - 1))) - node(z, j);
      if (j + 1 < p.sizes.nodes) rest += p.kappa * (node(z, j + 1) - node(z, j));
      update.middleCols(j * c, c) = node(f, j) - rest;
    }
    Linearization<double>& at = net.dynamics.linearize(z);
    at.jvp(p.v[static_cast<std::size_t>(b)], jv);
    at.vjp(p.u[static_cast<std::size_t>(b)], ju);
    at.accumulate_parameter_gradient(p.u[static_cast<std::size_t>(b)], 1.0, net.gradient);
    net.embed_back(b, net.dynamics.input_gradient());
    cost += net.weight() * net.cost.value(z);
    logits.emplace_back(net.cost.logits().topRows(z.rows()));
    net.cost.gradient(z, dc);
    dcost.emplace_back(net.weight() * dc.rightCols(c));
    x.push_back(net.x);
    g.push_back(update);
    prob.push_back(probabilities(net, z));
    force.push_back(f);
    jvp.push_back(jv);
    vjp.push_back(ju);
  }
  w.samples("x", x);
  w.samples("G_z0", g);
  w.samples("prob_z0", prob);
  w.samples("force_z0", force);
  w.samples("jvp_z0_v", jvp);
  w.samples("vjp_z0_u", vjp);
  w.samples("logits_z0", logits);
  w.scalar("cost_z0", cost);
  w.samples("dcost_z0", dcost);
  w.parameters("vf_z0_u", net.take_gradient());
}

Samples at_fixed_point(Letnet& net, const H5Reader& file, LetnetWriter& w) {
  const LetnetProblem& p = net.problem;
  EstimatorOptions options = net.options();
  options.free.schedule = RelaxationSchedule::sweep;
  options.free.step = 1.0 / (1.0 + p.kappa);
  options.free.max_steps = kMostSweeps;
  options.free.tolerance = kRounding;
  options.free.window = kMostSweeps;
  ImplicitEstimator<double> implicit(AdjointSolver::dense, options);
  const Letnet::Estimate exact = net.run(implicit);
  Samples logits, dcost;
  double cost = 0;
  for (Index b = 0; b < p.sizes.batch; ++b) {
    const Matrix<double>& z = exact.state[static_cast<std::size_t>(b)];
    net.bind(b);
    Matrix<double> f(z), dc(z);
    net.dynamics.force(z, f);
    if (!(f.norm() <= kLetnetSettled * z.norm())) {
      throw NumericalFailure(
          fmt::format("{}: the network does not settle: ‖F‖/‖z‖ = {:.3g} of sample {} after {} sweeps", file.name(),
                      f.norm() / z.norm(), b, kMostSweeps));
    }
    cost += net.weight() * net.cost.value(z);
    logits.emplace_back(net.cost.logits().topRows(z.rows()));
    net.cost.gradient(z, dc);
    dcost.emplace_back(net.weight() * dc.rightCols(p.sizes.channels));
  }
  w.samples("z_fp", exact.state);
  w.samples("logits_fp", logits);
  w.scalar("cost_fp", cost);
  w.samples("dcost_fp", dcost);
  w.samples("a_exact", exact.adjoint);
  w.parameters("grad_exact", exact.gradient);
  return exact.state;
}

/// Norm over the whole batch.
double norm(const Samples& samples) {
  double sum = 0;
  for (const Matrix<double>& one : samples) sum += one.squaredNorm();
  return std::sqrt(sum);
}

/// All samples by Euler steps side by side; `residual`, and where asked for cost and distance, after 0 … steps of them.
struct Trajectory {
  Samples first, last;
  std::vector<double> residual, cost, distance;
};

Trajectory euler(Letnet& net, double step, int steps, const Samples& fixed) {
  Trajectory out;
  Samples z, f;
  for (Index b = 0; b < net.problem.sizes.batch; ++b) {
    net.bind(b);
    z.push_back(net.start());
  }
  f = z;
  for (int n = 0; n <= steps; ++n) {
    double cost = 0;
    for (Index b = 0; b < net.problem.sizes.batch; ++b) {
      const auto at = static_cast<std::size_t>(b);
      net.bind(b);
      net.dynamics.force(z[at], f[at]);
      cost += net.weight() * net.cost.value(z[at]);
    }
    out.residual.push_back(norm(f) / norm(z));
    out.cost.push_back(cost);
    Samples away = z;
    for (std::size_t b = 0; b < away.size(); ++b) away[b] -= fixed[b];
    out.distance.push_back(norm(away) / norm(fixed));
    if (n == 1) out.first = z;
    if (n == steps) break;
    for (std::size_t b = 0; b < z.size(); ++b) z[b] += step * f[b];
  }
  out.last = std::move(z);
  return out;
}

void nudged(Letnet& net, const std::string& name, NudgeLaw law, bool anchored, bool frozen, double beta,
            LetnetWriter& w) {
  EstimatorOptions options = net.options();
  options.beta = beta;
  options.frozen_cost = frozen;
  NudgedEstimator<double> estimator(law, anchored, sided_nodes<double>(NudgeSides::centered, beta), options);
  const Letnet::Estimate found = net.run(estimator);
  w.samples("z_plus_" + name, found.plus);
  w.samples("z_minus_" + name, found.minus);
  w.samples("a_" + name, found.adjoint);
  w.parameters("grad_" + name, found.gradient);
}

}  // namespace

std::vector<CaseDataset> compute_letnet(const H5Reader& file) {
  const LetnetProblem problem(file);
  Letnet net(problem);
  LetnetWriter w(problem);
  at_test_point(net, w);
  const Samples fixed = at_fixed_point(net, file, w);
  const Trajectory free = euler(net, problem.step, problem.free_steps, fixed);
  w.samples("euler_z_1", free.first);
  w.samples("euler_z_T1", free.last);
  w.steps("euler_residual", free.residual);
  w.steps("euler_cost", free.cost);
  w.steps("euler_distance", free.distance);
  if (problem.kappa == 0) {
    w.steps("unit_residual", euler(net, 1.0, static_cast<int>(problem.sizes.nodes), fixed).residual);
  }
  nudged(net, "transposed", NudgeLaw::transposed, true, false, problem.beta, w);
  nudged(net, "frozen", NudgeLaw::transposed, true, true, problem.beta_frozen, w);
  nudged(net, "aep", NudgeLaw::corrected, false, false, problem.beta_aep, w);
  nudged(net, "anchored", NudgeLaw::corrected, true, false, problem.beta_aep, w);
  BackpropThroughTime<double> bptt(net.options());
  w.parameters("grad_bptt", net.run(bptt).gradient);
  return w.take();
}

}  // namespace nudge
