// SPDX-License-Identifier: Apache-2.0
#include "reference/eqblock.hpp"

#include <limits>

#include "circuits/terms/causal_attention.hpp"
#include "reference/eqblock_problem.hpp"
#include "training/learning/estimators/backprop.hpp"
#include "training/learning/estimators/implicit.hpp"
#include "training/learning/estimators/linear_adjoint.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/learning/estimators/tracked.hpp"

namespace nudge {
namespace {

using Problem = EqblockProblem;
using States = EqblockProblem::States;

// Tolerances of the cases' README for float64.
constexpr double kPoint = 1e-13;    // one evaluation at a given point
constexpr double kState = 1e-12;    // settled and nudged states
constexpr double kNudged = 1e-10;   // adjoints and gradients divided by 2 beta
constexpr double kAdjoint = 1e-11;  // adjoints and gradients without that division, every Wh

class Writer {
 public:
  explicit Writer(const Problem& problem) : problem_(&problem) {}

  void states(const std::string& name, const States& values, double tolerance, CaseError error = CaseError::relative,
              const std::string& scale = {}) {
    add(name, {problem_->batch, problem_->shape.tokens, values.cols()}, values, tolerance, error, scale);
  }
  void scalar(const std::string& name, double value, double tolerance, CaseError error = CaseError::relative) {
    add(name, {}, Matrix<double>::Constant(1, 1, value), tolerance, error, {});
  }
  void gradient(const std::string& name, const Gradient<double>& gradient, double tolerance) {
    for (const auto& group : problem_->model->groups()) {
      const Matrix<double> part = gradient[group.parameter].middleCols(group.columns.begin, group.columns.count);
      add("grad_" + name + "/" + group.name, {part.rows(), part.cols()}, part,
          group.name == "Wh" ? kAdjoint : tolerance, CaseError::relative, {});
    }
  }
  void add(const std::string& name, H5Shape shape, const Matrix<double>& values, double tolerance, CaseError error,
           const std::string& scale) {
    datasets_.push_back({"out/" + name, std::move(shape),
                         std::vector<double>(values.data(), values.data() + values.size()), tolerance, error,
                         scale.empty() ? scale : "out/" + scale});
  }
  std::vector<CaseDataset> take() { return std::move(datasets_); }

 private:
  const Problem* problem_;
  std::vector<CaseDataset> datasets_;
};

/// out(sequence rows) = visit(dynamics and cost bound to the sequence, its rows of z).
template <class Visit>
States per_sequence(Problem& p, const States& z, Index cols, Visit visit) {
  States out(z.rows(), cols);
  const Index tokens = p.shape.tokens;
  for (Index b = 0; b < p.batch; ++b) {
    p.bind(b);
    auto rows = out.middleRows(b * tokens, tokens);
    visit(Matrix<double>(z.middleRows(b * tokens, tokens)), MatrixRef<double>(rows), b);
  }
  return out;
}

template <class Value>
double sum_over_sequences(Problem& p, const States& z, Value value) {
  double sum = 0;
  for (Index b = 0; b < p.batch; ++b) {
    p.bind(b);
    sum += value(Matrix<double>(z.middleRows(b * p.shape.tokens, p.shape.tokens)));
  }
  return sum;
}

States force(Problem& p, const States& z, Part part = Part::all) {
  return per_sequence(p, z, z.cols(), [&](const auto& one, auto out, Index) { p.dynamics->force(one, out, part); });
}

double loss(Problem& p, const States& z) {
  return sum_over_sequences(p, z, [&](const auto& one) { return p.cost->value(one); }) / static_cast<double>(p.rows());
}

/// E of the clamp and the memory, without the damping's ½ s c ‖z‖² (the cases' definition).
double energy(Problem& p, const States& z) {
  const double damping = 0.5 * p.gain * p.damping;
  return sum_over_sequences(p, z,
                            [&](const auto& one) { return *p.dynamics->energy(one) - damping * one.squaredNorm(); });
}

States cost_gradient(Problem& p, const States& z) {
  return per_sequence(p, z, z.cols(), [&](const auto& one, auto out, Index) {
    p.cost->gradient(one, out);
    out /= static_cast<double>(p.rows());
  });
}

States logits(Problem& p, const States& z) {
  return per_sequence(p, z, p.shape.vocabulary, [&](const auto& one, auto out, Index) {
    p.cost->value(one);
    out = p.cost->logits().topRows(p.shape.tokens);
  });
}

States relax(Problem& p, States z, int steps) {
  for (int n = 0; n < steps; ++n) z += p.step * force(p, z);
  return z;
}

enum class Route { jvp, vjp };
States derivative(Problem& p, const States& at, const States& direction, Route route, Part part) {
  const Index tokens = p.shape.tokens;
  return per_sequence(p, at, at.cols(), [&](const auto& one, auto out, Index b) {
    auto& linearization = p.dynamics->linearize(one);
    const Matrix<double> d = direction.middleRows(b * tokens, tokens);
    if (route == Route::jvp) {
      linearization.jvp(d, out, part);
    } else {
      linearization.vjp(d, out, part);
    }
  });
}

void at_test_point(Problem& p, Problem& unit_gain, Writer& w) {
  const Index tokens = p.shape.tokens;
  Matrix<double> probabilities(p.batch * p.shape.heads * tokens, tokens);
  per_sequence(p, p.z0, p.z0.cols(), [&](const auto& one, auto out, Index b) {
    p.dynamics->linearize(one).force(out);
    const SharedArray<double>& array = *p.model->circuit().find<SharedArray<double>>();
    const auto& attention = dynamic_cast<const CausalAttention<double>&>(*array.terms()[0].term);
    for (Index h = 0; h < p.shape.heads; ++h) {
      probabilities.middleRows((b * p.shape.heads + h) * tokens, tokens) =
          attention.probabilities(SharedArray<double>::point(p.dynamics->system(0), 0), h);
    }
  });
  // Attn and its Jacobian J are defined without the gain s; J_F contains everything.
  constexpr Part attention_part = Part::nonconservative;
  w.states("x_in", p.x_in, kPoint);
  w.states("attn_z0", force(unit_gain, p.z0, attention_part), kPoint);
  w.add("attn_prob_z0", {p.batch, p.shape.heads, tokens, tokens}, probabilities, kPoint, CaseError::relative, {});
  w.states("jvp_z0_v", derivative(unit_gain, p.z0, p.v, Route::jvp, attention_part), kPoint);
  w.states("vjp_z0_w", derivative(unit_gain, p.z0, p.w, Route::vjp, attention_part), kPoint);
  w.states("vjp_z0_v", derivative(unit_gain, p.z0, p.v, Route::vjp, attention_part), kPoint);
  w.states("ffn_z0", force(p, p.z0, Part::conservative) - p.x_in + (1 + p.gain * p.damping) * p.z0, kPoint);
  w.states("F_z0", force(p, p.z0), kPoint);
  w.scalar("energy_z0", energy(p, p.z0), kPoint);
  w.states("JFt_z0_w", derivative(p, p.z0, p.w, Route::vjp, Part::all), kPoint);
  w.states("dCdz_z0", cost_gradient(p, p.z0), kPoint);
  w.scalar("loss_z0", loss(p, p.z0), kPoint);
  w.states("logits_z0", logits(p, p.z0), kPoint);
}

void at_equilibrium(Problem& p, Writer& w, const States& z) {
  w.states("z_step1_from_xin", relax(p, p.x_in, 1), kPoint);
  w.states("z_star", z, kState);
  w.states("logits", logits(p, z), kPoint);
  w.states("dCdz_zstar", cost_gradient(p, z), kPoint);
  w.scalar("loss", loss(p, z), kPoint);
  w.scalar("energy_zstar", energy(p, z), kPoint);
  w.states("F_zstar", force(p, z), kPoint, CaseError::relative_to, "z_star");
  w.scalar("res_zstar", (relax(p, z, 1) - z).norm() / z.norm(), kPoint, CaseError::absolute);
  w.states("corr_v_zstar",
           derivative(p, z, p.v, Route::jvp, Part::nonconservative) -
               derivative(p, z, p.v, Route::vjp, Part::nonconservative),
           kPoint);
}

const Matrix<double>& nudged_states(const GradientEstimator<double>& estimator) {
  return dynamic_cast<const NudgedEstimator<double>&>(estimator).states();
}
const Matrix<double>& tracked_states(const GradientEstimator<double>& estimator) {
  return dynamic_cast<const TrackedEstimator<double>&>(estimator).states();
}

void nudged_variants(Problem& p, Writer& w, const States& z) {
  EstimatorOptions options = p.options();
  options.free.max_steps = 0;
  const auto run = [&](const std::string& suffix, const std::string& gradient, NudgeLaw law, bool anchored) {
    options.clip = law == NudgeLaw::clipped ? p.clip : 0;
    NudgedEstimator<double> estimator(law, anchored, sided_nodes<double>(NudgeSides::centered, options.beta), options);
    const auto result = p.run(estimator, z, nudged_states);
    w.states("z_plus" + suffix, result.nudged[0], kState);
    w.states("z_minus" + suffix, result.nudged[1], kState);
    w.states("a" + suffix, result.adjoint, kNudged);
    w.gradient(gradient, result.gradient, kNudged);
  };
  run("", "aep", NudgeLaw::corrected, false);
  run("_plain", "plain", NudgeLaw::plain, false);
  run("_anchor", "anchor", NudgeLaw::corrected, true);
  run("_clip", "clip", NudgeLaw::clipped, false);
  run("_transposed", "transposed", NudgeLaw::transposed, true);
  TrackedEstimator<double> tracked(options);
  const auto result = p.run(tracked, z, tracked_states);
  w.states("z_plus_tracked", result.nudged[0], kState);
  w.states("z_minus_tracked", result.nudged[1], kState);
  w.states("z_mid_tracked", result.point, kState);
  w.states("a_tracked", result.adjoint, kNudged);
  w.gradient("tracked", result.gradient, kNudged);
}

/// Relaxes on until the state stops changing: the smallest change that Euler steps still make is rounding.
States fixed_point(Problem& p, States z) {
  constexpr int kLongest = 200000;
  constexpr int kPatience = 50;
  double best = std::numeric_limits<double>::infinity();
  int since = 0;
  for (int n = 0; n < kLongest && since < kPatience; ++n) {
    const States change = p.step * force(p, z);
    z += change;
    const double size = change.norm() / z.norm();
    since = size < best ? 0 : since + 1;
    best = std::min(best, size);
  }
  return z;
}

void linear_references(Problem& p, Writer& w, const States& z) {
  EstimatorOptions options = p.options();
  options.free.max_steps = 0;
  DyadicEstimator<double> dyadic(options);
  const auto moved = p.run(dyadic, z);
  w.states("z_mid_dyadic", moved.point, kState);
  w.states("a_dyadic", moved.adjoint, kAdjoint);
  w.gradient("dyadic", moved.gradient, kAdjoint);
  LinearAdjointEstimator<double> linear(options);
  const auto iterated = p.run(linear, z);
  w.states("a_linadj", iterated.adjoint, kAdjoint);
  w.gradient("linadj", iterated.gradient, kAdjoint);
  const States settled = fixed_point(p, z);
  ImplicitEstimator<double> exact(AdjointSolver::dense, options);
  const auto solved = p.run(exact, settled);
  w.states("z_fp", settled, kState);
  w.scalar("loss_fp", loss(p, settled), kState);
  w.states("a_exact", solved.adjoint, kAdjoint);
  w.gradient("exact", solved.gradient, kAdjoint);
  BackpropThroughTime<double> unrolled(p.options());
  w.gradient("bptt", p.run(unrolled, p.x_in).gradient, kAdjoint);
}

}  // namespace

std::vector<CaseDataset> compute_eqblock(const H5Reader& file) {
  Problem problem(file);
  Writer writer(problem);
  Problem unit_gain(file);
  unit_gain.set_gain(1.0);
  at_test_point(problem, unit_gain, writer);
  const States z = relax(problem, problem.x_in, problem.free_steps);
  at_equilibrium(problem, writer, z);
  nudged_variants(problem, writer, z);
  linear_references(problem, writer, z);
  return writer.take();
}

}  // namespace nudge
