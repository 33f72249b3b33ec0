// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "circuits/digital_matrix.hpp"
#include "circuits/terms/causal_attention.hpp"
#include "reference/case_kind.hpp"
#include "reference/eqblock_problem.hpp"
#include "sim/steady/monitor.hpp"

namespace nudge {
namespace {

ModelShape read_shape(const H5Reader& file) {
  ModelShape shape;
  shape.tokens = positive_size(file, "T");
  shape.channels = positive_size(file, "C");
  shape.memories = positive_size(file, "M");
  shape.heads = positive_size(file, "H");
  shape.vocabulary = positive_size(file, "V");
  if (shape.channels % shape.heads != 0) {
    file.fail("attribute H", fmt::format("{} (must divide C = {})", shape.heads, shape.channels));
  }
  return shape;
}

std::vector<Matrix<double>> read_weights(const H5Reader& file, const ModelShape& s) {
  const auto read = [&file](const std::string& name, Index rows, Index cols) {
    return file.matrix<double>("params/" + name, H5Shape{rows, cols}, NonFinite::rejected);
  };
  Matrix<double> input(s.channels, 3 * s.channels + s.memories);
  Index next = 0;
  for (const auto& [name, columns] :
       {std::pair{"Wq", s.channels}, {"Wk", s.channels}, {"Wv", s.channels}, {"Wm", s.memories}}) {
    input.middleCols(next, columns) = read(name, s.channels, columns);
    next += columns;
  }
  return {read("tok", s.vocabulary, s.channels), read("pos", s.tokens, s.channels), input,
          read("Wo", s.channels, s.channels), read("Wh", s.channels, s.vocabulary)};
}

}  // namespace

EqblockProblem::EqblockProblem(const H5Reader& file)
    : shape(read_shape(file)),
      free_steps(static_cast<int>(positive_size(file, "T1"))),
      nudged_steps(static_cast<int>(positive_size(file, "T2"))),
      gain(finite_real(file, "s")),
      damping(finite_real(file, "c")),
      step(positive_real(file, "eps")),
      beta(positive_real(file, "beta")),
      clip(positive_real(file, "clip")) {
  if (const std::string start = file.text_attribute("z_init"); start != "x_in") {
    file.fail("attribute z_init", fmt::format("\"{}\" (must be \"x_in\")", start));
  }
  batch.sequences = positive_size(file, "B");
  batch.tokens = shape.tokens;
  const H5Shape tokens{batch.sequences, batch.tokens};
  batch.indices = bounded_integers(file, "inputs/idx", tokens, shape.vocabulary);
  batch.targets = bounded_integers(file, "inputs/targets", tokens, shape.vocabulary);
  const auto state = [&](const std::string& name) {
    const H5Shape all{batch.sequences, shape.tokens, shape.channels};
    return per_example(file.matrix<double>("inputs/" + name, all, NonFinite::rejected), shape.tokens);
  };
  z0 = state("z0");
  v = state("v");
  w = state("w");
  weights = read_weights(file, shape);
}

HeldNetwork EqblockProblem::network(double s) const {
  return {std::make_shared<BlockPlan>(shape, InitialScales{}, Damping{s, damping}), weights, {batch, {}, {}}};
}

EstimatorOptions EqblockProblem::options() const {
  EstimatorOptions options = case_phases(step, free_steps, nudged_steps);
  options.beta = beta / static_cast<double>(batch.sequences * batch.tokens);
  return options;
}

namespace {

// Tolerances of the cases' README.
constexpr CaseTolerance kPoint{1e-13, 1e-13};    // one evaluation at a given point
constexpr CaseTolerance kState{1e-12, 1e-12};    // settled and nudged states
constexpr CaseTolerance kNudged{1e-10, 1e-10};   // adjoints and gradients divided by 2 beta
constexpr CaseTolerance kAdjoint{1e-11, 1e-11};  // adjoints and gradients without that division, every Wh

/// Runs the parts of a case one after the other and collects their datasets.
class Eqblock {
 public:
  explicit Eqblock(const H5Reader& file) : p_(file), net_(p_.network(p_.gain)) {}

  std::vector<CaseDataset> compute() {
    at_test_point();
    const States x = net_.starts();
    const States z = relax(x, p_.free_steps);
    at_equilibrium(x, z);
    for (const auto& [suffix, estimator] : {std::pair{"", "aep"},
                                            {"plain", "ep"},
                                            {"anchor", "aep_anchored"},
                                            {"clip", "aep"},
                                            {"transposed", "aep_transposed"},
                                            {"tracked", "aep_tracked"}}) {
      nudged(suffix, estimator, z);
    }
    const HeldNetwork::Estimate moved = run("dyadic", z);
    states("z_mid_dyadic", moved.point, kState);
    adjoint("a_dyadic", moved, kAdjoint);
    gradient("dyadic", moved.gradient, kAdjoint);
    const HeldNetwork::Estimate iterated = run("linear_adjoint", z);
    adjoint("a_linadj", iterated, kAdjoint);
    gradient("linadj", iterated.gradient, kAdjoint);
    at_fixed_point(net_.settle_to_rest(z, p_.options().free, ""));
    gradient("bptt", net_.estimate("bptt", p_.options(), x).gradient, kAdjoint);
    return w_.take();
  }

 private:
  States relax(const States& z, int steps) {
    SettleOptions options = p_.options().free;
    options.max_steps = steps;
    return net_.settle(z, options);
  }
  /// Runs an estimator whose free phase ends where it starts.
  HeldNetwork::Estimate run(const std::string& estimator, const States& z, double clip = 0) {
    EstimatorOptions options = p_.options();
    options.free.max_steps = 0;
    options.clip = clip;
    return net_.estimate(estimator, options, z);
  }
  double loss(const States& z) {
    const std::vector<double> costs = net_.costs(z);
    return net_.weight() * std::accumulate(costs.begin(), costs.end(), 0.0);
  }
  /// Energy E of the clamp and the memory, without the damping's ½ s c ‖z‖² (the cases' definition).
  double energy(const States& z) {
    const std::vector<double> energies = net_.energies(z);
    return std::accumulate(energies.begin(), energies.end(), 0.0) -
           0.5 * p_.gain * p_.damping * stacked(z).squaredNorm();
  }
  Matrix<double> cost_gradient(const States& z) { return net_.weight() * stacked(net_.cost_gradient(z)); }

  void at_test_point() {
    // Attn and its Jacobian J are defined without the gain s; J_F contains everything.
    constexpr Part attention = Part::nonconservative;
    HeldNetwork unit_gain = p_.network(1.0);
    const States x = net_.inputs();
    states("x_in", x, kPoint);
    states("attn_z0", unit_gain.force(p_.z0, attention), kPoint);
    const Index tokens = p_.shape.tokens, heads = p_.shape.heads;
    const States probabilities = net_.each(p_.z0, [&](std::size_t, const Matrix<double>& z) {
      net_.dynamics().linearize(z);
      Matrix<double> all(heads * tokens, tokens);
      for (Index h = 0; h < heads; ++h) {
        all.middleRows(h * tokens, tokens) =
            CausalAttention<double>::probabilities(SharedArray<double>::system(net_.dynamics().system(0), 0), h);
      }
      return all;
    });
    w_.add("attn_prob_z0", {p_.batch.sequences, heads, tokens, tokens}, stacked(probabilities), kPoint);
    states("jvp_z0_v", unit_gain.jvp(p_.z0, p_.v, attention), kPoint);
    states("vjp_z0_w", unit_gain.vjp(p_.z0, p_.w, attention), kPoint);
    states("vjp_z0_v", unit_gain.vjp(p_.z0, p_.v, attention), kPoint);
    const Matrix<double> clamped = stacked(x) - (1 + p_.gain * p_.damping) * stacked(p_.z0);
    rows("ffn_z0", stacked(net_.force(p_.z0, Part::conservative)) - clamped, kPoint);
    states("F_z0", net_.force(p_.z0), kPoint);
    w_.scalar("energy_z0", energy(p_.z0), kPoint);
    states("JFt_z0_w", net_.vjp(p_.z0, p_.w), kPoint);
    rows("dCdz_z0", cost_gradient(p_.z0), kPoint);
    w_.scalar("loss_z0", loss(p_.z0), kPoint);
    states("logits_z0", net_.outputs(p_.z0), kPoint);
  }

  void at_equilibrium(const States& x, const States& z) {
    states("z_step1_from_xin", relax(x, 1), kPoint);
    states("z_star", z, kState);
    states("logits", net_.outputs(z), kPoint);
    rows("dCdz_zstar", cost_gradient(z), kPoint);
    w_.scalar("loss", loss(z), kPoint);
    w_.scalar("energy_zstar", energy(z), kPoint);
    rows("F_zstar", stacked(net_.force(z)), kPoint, CaseError::relative_to, "out/z_star");
    w_.scalar("res_zstar", relative_residual((stacked(relax(z, 1)) - stacked(z)).norm(), stacked(z).norm()), kPoint,
              CaseError::absolute);
    constexpr Part attention = Part::nonconservative;
    rows("corr_v_zstar", stacked(net_.jvp(z, p_.v, attention)) - stacked(net_.vjp(z, p_.v, attention)), kPoint);
  }

  void nudged(const std::string& name, const std::string& estimator, const States& z) {
    const std::string suffix = name.empty() ? "" : "_" + name;
    const HeldNetwork::Estimate found = run(estimator, z, name == "clip" ? p_.clip : 0);
    states("z_plus" + suffix, found.nudged[0], kState);
    states("z_minus" + suffix, found.nudged[1], kState);
    if (name == "tracked") states("z_mid_tracked", found.point, kState);
    adjoint("a" + suffix, found, kNudged);
    gradient(name.empty() ? "aep" : name, found.gradient, kNudged);
  }

  void at_fixed_point(const States& z) {
    const HeldNetwork::Estimate exact = run("implicit_dense", z);
    states("z_fp", z, kState);
    w_.scalar("loss_fp", loss(z), kState);
    adjoint("a_exact", exact, kAdjoint);
    gradient("exact", exact.gradient, kAdjoint);
  }

  void states(const std::string& name, const States& values, CaseTolerance tolerance) {
    rows(name, stacked(values), tolerance);
  }
  /// Writes the adjoint of the mean cost.
  void adjoint(const std::string& name, const HeldNetwork::Estimate& found, CaseTolerance tolerance) {
    rows(name, net_.weight() * stacked(found.adjoint), tolerance);
  }
  /// Writes values as a dataset (batch, tokens, cols). scale: dataset for CaseError::relative_to.
  void rows(const std::string& name, const Matrix<double>& values, CaseTolerance tolerance,
            CaseError error = CaseError::relative, const std::string& scale = {}) {
    w_.add(name, {p_.batch.sequences, p_.shape.tokens, values.cols()}, values, tolerance, error, scale);
  }
  void gradient(const std::string& name, const Gradient<double>& gradient, CaseTolerance tolerance) {
    for (const ParameterGroup& group : net_.network().groups()) {
      const Matrix<double> part = gradient[group.parameter].middleCols(group.columns.begin, group.columns.count);
      w_.matrix("grad_" + name + "/" + group.name, part, group.readout ? kAdjoint : tolerance);
    }
  }
  EqblockProblem p_;
  HeldNetwork net_;
  CaseWriter w_;
};

}  // namespace

std::vector<CaseDataset> compute_eqblock(const H5Reader& file) { return Eqblock(file).compute(); }

}  // namespace nudge
