// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/learning/estimators/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Free steps after which z* is a fixed point to rounding: the slowest mode decays by ρ < 0.9 per step (asserted in
/// Transient), and 0.9^400 = 5e-19.
constexpr int kSettled = 400;

/// What the transient of the adjoint iteration a ← a + ε (Jᵀ a + g) leaves after T2 steps, from the dense Jacobian at z*:
/// ‖a_T2 − a‖ = ‖(1 + ε Jᵀ)^T2 a‖ ≤ κ ρ^T2 ‖a‖ with ρ the spectral radius and κ the condition of the eigenvectors.
struct Transient {
  double rho = 0;
  double condition = 0;

  Transient(const Network<double>& model, const Batch& batch, const Matrix<double>& z, double step) {
    CircuitDynamics<double> dynamics(model.circuit(), z.rows(), 1);
    Matrix<double> drive(z.rows(), z.cols());
    model.embed(batch.indices_of(0), drive);
    dynamics.bind(drive, ReadContext{});
    auto& at = dynamics.linearize(z);
    const Index n = z.size();
    Eigen::MatrixXd m(n, n);
    Matrix<double> unit = Matrix<double>::Zero(z.rows(), z.cols()), column(z);
    for (Index i = 0; i < n; ++i) {
      unit.data()[i] = 1;
      at.vjp(unit, column);
      unit.data()[i] = 0;
      m.col(i) = step * Eigen::Map<const Eigen::VectorXd>(column.data(), n);
    }
    m.diagonal().array() += 1;
    rho = eigenvalues(m).cwiseAbs().maxCoeff();
    condition = eigenvector_condition(m);
  }
  double left(int steps) const { return condition * std::pow(rho, steps); }
};

Learned<double> exact_at(const Network<double>& model, const Batch& batch, int free_steps = kSettled) {
  return learn(model, batch, tiny_options("implicit_dense", free_steps, 0));
}

double cosine(const Gradient<double>& a, const Gradient<double>& b) {
  return flat(a).dot(flat(b)) / (flat(a).norm() * flat(b).norm());
}

/// The tiny model with a coupling of the channels of antisymmetric gain A; gain 0 leaves nothing else non-reciprocal.
std::unique_ptr<Network<double>> coupled_model(double attention_gain, double antisymmetric) {
  ModelShape shape = kTinyShape;
  shape.coupling = true;
  InitialScales scales = kTinyScales;
  scales.coupling = 0.5;
  scales.antisymmetric = antisymmetric;
  return tiny_model<double>(1, shape, scales, {attention_gain, 1.0});
}

}  // namespace

TEST_CASE("the exact adjoint gives the derivative of the settled loss by every parameter", "[estimators]") {
  const bool coupled = GENERATE(false, true);
  CAPTURE(coupled);
  const auto model = coupled ? coupled_model(1, 1) : tiny_model<double>();
  const Batch batch = tiny_batch(1);
  const BatchGradientOptions options = tiny_options("implicit_dense", kSettled, 0);
  const auto learned = learn(*model, batch, options);
  CHECK(learned.report.residual < 1e-14);
  BatchGradient<double> settler(*model, options);
  const auto loss = [&] { return settler.evaluate(batch, 0).loss; };
  CHECK(loss() == Approx(learned.report.loss).epsilon(1e-14));
  const auto quotients = model_difference_quotients(*model, 1e-5, loss);
  for (const auto& group : model->groups()) {
    CAPTURE(group.name);
    const auto part = [&](const Matrix<double>& m) { return m.middleCols(group.columns.begin, group.columns.count); };
    // h = 1e-5: truncation h² · loss''' ~ 1e-10, rounding ε loss/h ~ 4e-11 per entry. The groups' gradients have norms
    // 0.03 … 1 over up to 60 entries: 1e-8 relative.
    CHECK(relative_error(part(learned.gradient[group.parameter]),
                         part(quotients[static_cast<std::size_t>(group.parameter)])) < 1e-7);
  }
}

TEST_CASE("plain EP is right for a reciprocal coupling and AEP for any", "[estimators]") {
  const Batch batch = tiny_batch(2);
  for (const double antisymmetric : {0.0, 1.0}) {
    CAPTURE(antisymmetric);
    const auto model = coupled_model(0, antisymmetric);
    const auto exact = exact_at(*model, batch);
    const auto error = [&](const char* name) {
      return gradient_error(learn(*model, batch, tiny_options(name, kSettled, kSettled)).gradient, exact.gradient);
    };
    // Centered, β = 1e-5: β² and rounding 1e-16/β leave 1e-10 relative; no gate of the memory flips within 1e-5.
    CHECK(error("aep_anchored") < 1e-8);
    CHECK(error("aep_transposed") < 1e-8);
    // The antisymmetric part of W_c has the spectral norm of about 0.5 beside a leak of 1: errors of that order.
    if (antisymmetric == 0) {
      CHECK(error("ep_anchored") < 1e-8);
    } else {
      CHECK(error("ep_anchored") > 0.05);
    }
  }
}

TEST_CASE("GMRES solves the same adjoint as the dense factorisation", "[estimators]") {
  const auto model = tiny_model<double>(2);
  const Batch batch = tiny_batch(2, 2);
  const auto dense = exact_at(*model, batch);
  const auto iterative = learn(*model, batch, tiny_options("implicit", kSettled, 0));
  // Relative residual 1e-13 times the condition of J_F, which is below 1e2 here (|λ| between 0.3 and 3).
  CHECK(gradient_error(iterative.gradient, dense.gradient) < 1e-11);
  for (const auto& one : iterative.report.sequences) CHECK(one.nudged == Status::converged);
}

TEST_CASE("bptt gives the derivative of the loss after T1 steps by every parameter", "[estimators]") {
  const auto model = tiny_model<double>(3);
  const Batch batch = tiny_batch(1, 3);
  const int steps = GENERATE(1, 4);
  CAPTURE(steps);
  const BatchGradientOptions options = tiny_options("bptt", steps, 0);
  const auto learned = learn(*model, batch, options);
  BatchGradient<double> settler(*model, options);
  const auto loss = [&] { return settler.evaluate(batch, 0).loss; };
  const auto quotients = model_difference_quotients(*model, 1e-5, loss);
  for (int p = 0; p < model->parameters(); ++p) {
    CAPTURE(p);
    // As above. tok and pos (p = 0, 1) include the path through z_0 = x_in: without it they would be off by (1 − 0.6)^T1.
    CHECK(relative_error(learned.gradient[p], quotients[static_cast<std::size_t>(p)]) < 1e-7);
  }
}

TEST_CASE("bptt through a settled phase is the exact adjoint", "[estimators]") {
  const auto model = tiny_model<double>(4);
  const Batch batch = tiny_batch(1, 4);
  const auto exact = exact_at(*model, batch);
  const Transient transient(*model, batch, exact.states[0], 0.3);
  REQUIRE(transient.rho < 0.9);
  for (const int steps : {40, 200}) {
    const auto unrolled = learn(*model, batch, tiny_options("bptt", steps, 0));
    // State, adjoint and correlation each carry what is left of the transient: a sum of `steps` such terms at most.
    CHECK(gradient_error(unrolled.gradient, exact.gradient) < steps * transient.left(steps) + 1e-12);
  }
}

TEST_CASE("anderson and a Krylov solve give the gradient of the relaxation in fewer evaluations", "[estimators]") {
  const auto model = tiny_model<double>(6);
  const Batch batch = tiny_batch(2, 6);
  constexpr double kResidual = 1e-7;  // of both phases, on both sides
  auto relaxed = tiny_options("linear_adjoint", kSettled, 0);
  relaxed.phases.free.tolerance = kResidual;
  auto settled = learn(*model, batch, relaxed);
  for (int n = 5; n <= kSettled; n += 5) {
    relaxed.phases.nudged_steps = n;
    settled = learn(*model, batch, relaxed);
    if (settled.report.nudged_residual <= kResidual) break;
  }
  REQUIRE(settled.report.nudged_residual <= kResidual);
  auto solved = tiny_options("implicit", kSettled, 0);
  solved.phases.free.solver = SettleSolver::anderson;
  solved.phases.free.tolerance = solved.phases.adjoint_tolerance = kResidual;
  const auto fast = learn(*model, batch, solved);
  CHECK(settled.report.residual_max <= kResidual);
  CHECK(fast.report.residual_max <= kResidual);
  // Either is off by its residuals times the condition of J, below 1e2: 1e-5 each.
  CHECK(gradient_error(fast.gradient, settled.gradient) < 1e-4);
  CHECK(gradient_error(fast.gradient, exact_at(*model, batch).gradient) < 1e-4);
  CHECK(fast.report.cost_in_forces < 0.7 * settled.report.cost_in_forces);
}

TEST_CASE("every form of AEP converges to the exact adjoint as its phase gets longer", "[estimators]") {
  const auto model = tiny_model<double>(5);
  const Batch batch = tiny_batch(1, 5);
  const auto exact = exact_at(*model, batch);
  const Transient transient(*model, batch, exact.states[0], 0.3);
  REQUIRE(transient.rho < 0.9);
  const auto error = [&](const std::string& name, int steps) {
    const auto learned = learn(*model, batch, tiny_options(name, kSettled, steps));
    return (learned.adjoints[0] - exact.adjoints[0]).norm() / exact.adjoints[0].norm();
  };
  for (const int steps : {10, 20, 40, 400}) {
    // No nudge: the transient alone, and rounding amplified by the condition of J (below 1e2).
    for (const char* name : {"linear_adjoint", "dyadic"}) {
      CAPTURE(name, steps);
      CHECK(error(name, steps) < transient.left(steps) + 1e-13);
    }
    // With β = 1e-5: β² of curvature ~ 1e-10 · ‖J⁻¹‖ and rounding ε ‖z‖/(β ‖a‖) ~ 2e-16 · 3/1e-5 ~ 1e-10, each times
    // at most 1e2; a nudged state follows the linear transient up to the same β².
    for (const char* name : {"aep", "aep_anchored", "aep_tracked", "aep_transposed", "aep_npoint"}) {
      CAPTURE(name, steps);
      CHECK(error(name, steps) < transient.left(steps) + 1e-8);
    }
  }
  CHECK(error("linear_adjoint", 10) > 0.01 * std::pow(transient.rho, 10));  // and the transient is really there
  // Without the correction the limit is another one.
  CHECK(error("ep", 400) > 1e-2);
  CHECK(error("ep_anchored", 400) > 1e-2);
}

TEST_CASE("amplifiers of finite bandwidth delay the adjoint and leave its limit alone", "[estimators]") {
  const auto model = tiny_model<double>(5);
  const Batch batch = tiny_batch(1, 5);
  const auto exact = exact_at(*model, batch);
  const auto error = [&](const std::string& name, double lag, int steps) {
    auto options = tiny_options(name, kSettled, steps);
    options.phases.free.motion = Motion::of_amplifiers(lag);
    const auto learned = learn(*model, batch, options);
    return (learned.adjoints[0] - exact.adjoints[0]).norm() / exact.adjoints[0].norm();
  };
  for (const char* name : {"aep_anchored", "aep_tracked", "aep_transposed"}) {
    CAPTURE(name);
    CHECK(error(name, 0.3, 800) < 1e-8);  // as without: the curvature and rounding of beta = 1e-5
    // Three steps of 0.3 charge amplifiers of lag 3 to 1 − e^(−0.3) .. 1 − e^(−0.9): hardly anything has arrived.
    CHECK(error(name, 3, 3) > 1.3 * error(name, 0, 3));
  }
}

TEST_CASE("the centered nudge errs as beta squared, the one-sided as beta, N points as beta to the N", "[estimators]") {
  const std::vector<double> betas{0.06, 0.03, 0.015};
  // First order: z± = z* ∓ β a. Where a gate flips between the nudged states the error is not a power of β, so take the
  // first problem whose overlaps all stay away from zero by twice the shift.
  std::uint64_t seed = 0;
  Learned<double> exact;
  std::unique_ptr<Network<double>> model;
  Batch batch;
  for (bool flips = true; flips;) {
    REQUIRE(++seed < 2000);
    model = tiny_model<double>(seed);
    batch = tiny_batch(1, seed);
    exact = exact_at(*model, batch);
    const Matrix<double> memory = model->map(BlockParameter::input).weights().rightCols(kTinyShape.memories);
    flips = (exact.states[0] * memory).cwiseAbs().minCoeff() <
            2 * betas[0] * (exact.adjoints[0] * memory).cwiseAbs().maxCoeff();
  }
  CAPTURE(seed);
  const auto measured_order = [&](const std::string& name, NudgeSides sides, int points) {
    std::vector<double> errors;
    for (const double beta : betas) {
      BatchGradientOptions options = tiny_options(name, kSettled, 400, beta);
      options.phases.sides = sides;
      options.phases.points = points;
      const auto learned = learn(*model, batch, options);
      errors.push_back((learned.adjoints[0] - exact.adjoints[0]).norm());
    }
    return order_of_convergence(errors, betas);
  };
  for (const char* name : {"aep", "aep_anchored", "aep_transposed"}) {
    CAPTURE(name);
    // The next term is smaller by β, up to 0.06 of slope; rounding, 1e-14/β, is far below the smallest error, ~β².
    CHECK(measured_order(name, NudgeSides::centered, 2) == Approx(2.0).margin(0.1));
    CHECK(measured_order(name, NudgeSides::positive, 2) == Approx(1.0).margin(0.1));
    CHECK(measured_order(name, NudgeSides::negative, 2) == Approx(1.0).margin(0.1));
  }
  CHECK(measured_order("aep_tracked", NudgeSides::centered, 2) == Approx(2.0).margin(0.1));
  CHECK(measured_order("aep_npoint", NudgeSides::centered, 2) == Approx(2.0).margin(0.1));
  // Here the smallest error, ~β⁴, still stands above rounding; the next term is smaller by β².
  CHECK(measured_order("aep_npoint", NudgeSides::centered, 4) == Approx(4.0).margin(0.4));
}

TEST_CASE("the weights of N nudges differentiate polynomials of degree N - 1 exactly", "[estimators]") {
  for (const int points : {2, 4, 6, 8}) {
    const auto nodes = chebyshev_nodes<double>(points, 0.3);
    REQUIRE(nodes.betas.size() == static_cast<std::size_t>(points));
    CHECK(nodes.star_weight == 0);
    for (int power = 0; power < points; ++power) {
      CAPTURE(points, power);
      double sum = 0;
      double size = 0;
      for (std::size_t k = 0; k < nodes.betas.size(); ++k) {
        const double term = nodes.weights[k] * std::pow(nodes.betas[k], power);
        sum += term;
        size += std::abs(term);
      }
      // Minus the derivative of β^power at 0. Weights are products of 2N factors: some 4N roundings per term.
      CHECK(std::abs(sum - (power == 1 ? -1.0 : 0.0)) <= 4 * points * std::numeric_limits<double>::epsilon() * size);
    }
  }
  for (const NudgeSides sides : {NudgeSides::centered, NudgeSides::positive, NudgeSides::negative}) {
    const auto nodes = sided_nodes<double>(sides, 0.25);
    double sum = nodes.star_weight;
    double slope = 0;
    for (std::size_t k = 0; k < nodes.betas.size(); ++k) {
      sum += nodes.weights[k];
      slope += nodes.weights[k] * nodes.betas[k];
    }
    CHECK(sum == 0);  // exact in powers of two
    CHECK(slope == -1);
  }
}

TEST_CASE("anchoring repairs an unsettled free phase", "[estimators]") {
  const auto model = tiny_model<double>(7);
  const Batch batch = tiny_batch(1, 7);
  constexpr int unsettled = 4;
  const auto exact = exact_at(*model, batch, unsettled);  // at the same unsettled z*
  CHECK(exact.report.residual > 1e-2);
  const Transient transient(*model, batch, exact.states[0], 0.3);
  const auto error = [&](const std::string& name) {
    const auto learned = learn(*model, batch, tiny_options(name, unsettled, 200));
    CHECK((learned.states[0] == exact.states[0]));
    return gradient_error(learned.gradient, exact.gradient);
  };
  // Rounding and curvature as in the settled case above.
  const double anchored = error("aep_anchored");
  CHECK(anchored < transient.left(200) + 1e-7);
  CHECK(error("aep_transposed") < transient.left(200) + 1e-7);
  // Unanchored phases drift by as much as z* is away from its fixed point, and the Jacobian and the outer products with it.
  CHECK(error("aep") > 0.1 * exact.report.residual);
  CHECK(error("aep") > 1e4 * anchored);
}

TEST_CASE("the clip counts what it cut and changes nothing when it cuts nothing", "[estimators]") {
  const auto model = tiny_model<double>(8);
  const Batch batch = tiny_batch(1, 8);
  BatchGradientOptions options = tiny_options("aep_anchored", kSettled, 10);
  const auto plain = learn(*model, batch, options);
  CHECK(plain.report.clipped == 0);
  options.phases.clip = 1e6;
  const auto loose = learn(*model, batch, options);
  CHECK(loose.report.clipped == 0);
  // The correction is taken apart instead of fused: rounding ε ‖z‖/β relative to a, some tens of it.
  CHECK(gradient_error(loose.gradient, plain.gradient) < 1e-9);
  options.phases.clip = 1e-300;
  const auto tight = learn(*model, batch, options);
  // Both states, every entry, every step but the first, where the displacement and so the correction are 0.
  CHECK(tight.report.clipped == 2 * kTinyShape.tokens * kTinyShape.channels * 9);
  const auto without = learn(*model, batch, tiny_options("ep_anchored", kSettled, 10));
  CHECK(gradient_error(tight.gradient, without.gradient) < 1e-9);
}

TEST_CASE("averaging the last nudged states averages their adjoints", "[estimators]") {
  const auto model = tiny_model<double>(9);
  const Batch batch = tiny_batch(1, 9);
  const auto adjoint = [&](int steps, int averaged) {
    BatchGradientOptions options = tiny_options("aep_transposed", kSettled, steps);
    options.phases.average_nudged = averaged;
    return learn(*model, batch, options).adjoints[0];
  };
  const Matrix<double> mean = (adjoint(4, 1) + adjoint(5, 1) + adjoint(6, 1)) / 3;
  CHECK(relative_error(adjoint(6, 3), mean) < 1e-9);  // rounding ε ‖z‖/β again
}

TEST_CASE("every estimator points along the exact gradient where the problem is well conditioned", "[estimators]") {
  const InitialScales mild{0.5, 0.5, 0.4, 0.5};  // plain EP is biased by the asymmetry, but not beyond cosine 0.5 here
  const auto model = tiny_model<double>(10, kTinyShape, mild);
  const Batch batch = tiny_batch(3, 10);
  const auto exact = exact_at(*model, batch);
  CHECK(estimator_names().size() == 19);
  for (const std::string& name : estimator_names()) {
    if (estimator_kind(name).asks(needs::solves_itself))
      continue;  // of circuits that solve themselves: netlist_kind_test.cpp
    if (estimator_kind(name).asks(needs::energy))
      continue;                                  // the block has none of its whole force: hopfield_kind_test.cpp
    if (name == "energy_alternating") continue;  // no estimate of this gradient: energy_alternating_test.cpp
    if (estimator_kind(name).asks(needs::bath)) continue;  // of a bath: thermal_kind_test.cpp
    CAPTURE(name);
    const auto learned = learn(*model, batch, tiny_options(name, 60, 60, default_beta<double>(name)));
    CHECK(learned.gradient.all_finite());
    CHECK(std::isfinite(learned.report.loss));
    CHECK(learned.report.diverged == 0);
    CHECK(learned.report.cost_in_forces > 60);
    // Their nudged phases have the force as it is, without its transpose.
    const bool biased = name == "ep" || name == "ep_anchored" || name == "frequency";
    CHECK(cosine(learned.gradient, exact.gradient) > (biased ? 0.5 : 0.9999));
    CHECK(std::isfinite(default_beta<float>(name)));
    const auto narrow_model = tiny_model<float>(10, kTinyShape, mild);
    const auto narrow = learn(*narrow_model, batch, tiny_options(name, 60, 60, default_beta<float>(name)));
    CHECK(narrow.gradient.all_finite());
    // Float: rounding of the finite difference, (1 … 5)e-7/β per entry of a, is 5e-3 at the default β of 1e-4.
    if (!biased) CHECK((flat(narrow.gradient) - flat(exact.gradient)).norm() < 2e-2 * flat(exact.gradient).norm());
  }
  CHECK_THROWS_WITH((make_estimator<double>("aep_anchord", {})), Catch::Contains("aep_anchord"));
  CHECK_THROWS_AS((make_estimator<float>("", {})), UserError);
}

TEST_CASE("a diverged phase is reported as diverged", "[estimators]") {
  const auto model = tiny_model<float>(11);
  const Batch batch = tiny_batch(2, 11);
  const auto learned = learn(*model, batch, tiny_options("aep", 60, 200, 1e30));
  CHECK(learned.report.diverged == 2);
  CHECK_FALSE(std::isfinite(learned.gradient.norm()));
}
