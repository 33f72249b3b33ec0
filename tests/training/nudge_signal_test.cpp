// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/learning/estimators/lock_in.hpp"

#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/check/choices.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/learning/estimators/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

double root_mean_square(const Matrix<double>& m) { return std::sqrt(m.squaredNorm() / static_cast<double>(m.size())); }

Matrix<double> phases(const Matrix<double>& z, const Matrix<double>& a, const std::vector<double>& betas) {
  Matrix<double> states(static_cast<Index>(betas.size()) * z.rows(), z.cols());
  for (std::size_t k = 0; k < betas.size(); ++k) {
    states.middleRows(static_cast<Index>(k) * z.rows(), z.rows()) = z - betas[k] * a;
  }
  return states;
}

std::vector<std::vector<double>> all_nudges(double beta) {
  return {sided_nodes<double>(NudgeSides::centered, beta).betas, sided_nodes<double>(NudgeSides::positive, beta).betas,
          sided_nodes<double>(NudgeSides::negative, beta).betas, chebyshev_nodes<double>(4, beta).betas};
}

/// A block without weights: every node is a clamp alone, L = 1, that relaxes by ε = 1/2.
Config bare_clamps(const std::string& averaged) {
  return small("block", {"estimator=ep", "beta=0.1", "relaxation.step=0.5", "model.damping=0", "damping.control=false",
                         "model.tokens=32", "model.channels=32", "relaxation.nudged_steps=60",
                         "relaxation.average_nudged=" + averaged});
}

/// s of its nudged states, with node noise of this strength.
double measured_noise(const Config& config, double sigma) {
  const RunParts parts = run_parts(config);
  const auto network = make_network<double>(config, parts.plan, Weights::digital);
  for (int p = 0; p < network->parameters(); ++p) {
    Matrix<double> none = network->map(p).weights();
    none.setZero();
    network->map(p).program(none);
  }
  network->circuit().set_node_noise(sigma);
  const BatchGradientOptions options = gradient_options<double>(config, "");
  return measured_nudge<double>(*network, options, parts.task->training(0)).signal.noise();
}

}  // namespace

TEST_CASE("phases on a straight line are displaced by beta times its slope, whichever nudges there are", "[nudge]") {
  const Matrix<double> z = random_matrix<double>(6, 5, 1), a = random_matrix<double>(6, 5, 2);
  for (const std::vector<double>& betas : all_nudges(0.1)) {
    NudgeSignal signal;
    Matrix<double> v;
    add_displacement<double>(phases(z, a, betas), z, betas, 0.1, v, signal);
    CHECK((v + 0.1 * a).norm() <= 1e-15 * 100 * z.norm());  // sums of a few numbers of the size of z
    CHECK(signal.displacement() == Approx(0.1 * root_mean_square(a)).epsilon(1e-12));
    CHECK_FALSE(signal.known());
  }
}

TEST_CASE("noise of the phases is taken off their displacement, and the cosine is what it leaves", "[nudge]") {
  // Means over N = 2·10⁴ entries: squares of normal numbers are known to √(2/N) = 1 %, the cosine to less.
  const Matrix<double> z = random_matrix<double>(200, 100, 1), a = random_matrix<double>(200, 100, 2);
  for (const std::vector<double>& betas : all_nudges(0.1)) {
    const Matrix<double> ideal = phases(z, a, betas);
    for (const double s : {0.02, 0.2, 1.0}) {
      CAPTURE(betas.size(), s);
      const Matrix<double> states = ideal + s * random_matrix<double>(ideal.rows(), 100, 3);
      const Matrix<double> again = ideal + s * random_matrix<double>(ideal.rows(), 100, 4);
      NudgeSignal signal;
      Matrix<double> v;
      add_displacement<double>(states, z, betas, 0.1, v, signal);
      add_noise<double>(states, again, betas, 0.1, signal);
      const double unit = root_mean_square(random_matrix<double>(ideal.rows(), 100, 3));
      CHECK(signal.noise() == Approx(s * unit).epsilon(0.05));
      const double cosine = -v.cwiseProduct(a).sum() / (v.norm() * a.norm());
      // Its square is a difference of two means over their sum, each known to about 2 %.
      CHECK(signal.cosine() * signal.cosine() == Approx(cosine * cosine).margin(0.05));
    }
  }
}

TEST_CASE("a node that its clamp holds has the noise kT/C, and its mean that of an Ornstein-Uhlenbeck process",
          "[nudge]") {
  // ⟨z²⟩ = σ²/2 at every step size (sim/read_timing.hpp): 2·32·32 entries, twice, of two phases; five standard deviations of a
  // root mean square, 5/√(2·4096), are 6 %.
  const double s = sampled_noise(CircuitSpec{}, 100e-15);
  CHECK(measured_noise(bare_clamps("1"), std::sqrt(2.0) * s) == Approx(s).epsilon(0.06));
  // The mean of 4, each 1/2 of the one before: (1 + 2 (3/4·1/2 + 1/2·1/4 + 1/4·1/8))/4 = .515625.
  CHECK(measured_noise(bare_clamps("4"), std::sqrt(2.0) * s) == Approx(s * std::sqrt(0.515625)).epsilon(0.1));
}

TEST_CASE("a ratio that reads do not resolve is not printed", "[nudge]") {
  // 62 entries of noise alone, two nudges: of 200 draws the ratio exceeds 0.3, one standard error of its square, in 16 %, not in half.
  // D = (a − b)²/4 − (a − a')²/8 − (b − b')²/8 of normal numbers has the variance 2 tr M² = 1/2.
  int above = 0;
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    NudgeSignal signal;
    Matrix<double> v;
    const Matrix<double> z = Matrix<double>::Zero(1, 62);
    add_displacement<double>(random_matrix<double>(2, 62, 2 * draw), z, {0.1, -0.1}, 0.1, v, signal);
    add_noise<double>(random_matrix<double>(2, 62, 2 * draw), random_matrix<double>(2, 62, 2 * draw + 1), {0.1, -0.1},
                      0.1, signal);
    above += signal.snr() > NudgeSignal::resolved ? 1 : 0;
  }
  CHECK(above > 16);  // 32 ± 5.2, three standard deviations
  CHECK(above < 48);
  CHECK(snr_text(0.08) == "below 0.3");
  CHECK(snr_text(0) == "below 0.3");
  CHECK(snr_text(4.84) == "4.8");
  CHECK(snr_text(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("signal and noise of several sequences add up", "[nudge]") {
  NudgeSignal one{4, 1, 1, 2, 1}, other{2, 1};  // v² = 4 and 2, of which noise 2; s² = 1
  one += other;
  CHECK(one.displacement() == Approx(1));
  CHECK(one.snr() == Approx(1));
  CHECK(one.cosine() == Approx(1 / std::sqrt(3.0)));
  CHECK(std::isnan(other.snr()));
  CHECK(NudgeSignal{1, 1, 1, 2, 1}.displacement() == 0);  // hidden
  const NudgeSignal still{0, 1, 0, 0, 1};                 // neither moves what is read
  CHECK(still.snr() == 0);
  CHECK(still.cosine() == 0);
}

TEST_CASE("every estimator that nudges says what its nudge is beside the noise", "[nudge]") {
  const Config config = small("block", {"beta=0.1"});
  const RunParts parts = run_parts(config);
  const auto network = make_network<double>(config, parts.plan, Weights::digital);
  network->circuit().set_node_noise(1e-3);
  for (const std::string& name : estimator_names()) {
    if (!estimator_misfit(config, name).empty()) continue;
    CAPTURE(name);
    const NudgeChoice choice =
        measured_nudge<double>(*network, gradient_options<double>(config, name), parts.task->training(0));
    CHECK(choice.measured() == (name.starts_with("ep") || name.starts_with("aep")));
  }
}

TEST_CASE("a beta that no phase survives has a largest one below it that all of a batch survive", "[nudge]") {
  // Squared error, c = 1, of nodes with D = 1: the phase of -beta has a minimum where beta < D/c = 1. Cross-entropy has no such bound
  // that is known before a phase is run.
  for (const std::string cost : {"squared_error", "cross_entropy"}) {
    CAPTURE(cost);
    const Config config = small("hopfield", {"estimator=ep", "hopfield.cost=" + cost, "relaxation.schedule=parallel",
                                             "relaxation.step=0.5", "beta=200"});
    const RunParts parts = run_parts(config);
    const auto network = make_network<double>(config, parts.plan, Weights::digital);
    const Batch batch = parts.task->training(0);
    BatchGradientOptions options = gradient_options<double>(config, "");
    options.phases.step = options.phases.free.step = 0.5;
    const double beta = largest_settling_beta(*network, options, batch);
    REQUIRE(beta > 0);
    REQUIRE(beta < 200);
    if (cost == "squared_error") CHECK(beta < 1);
    CHECK(largest_settling_beta(
              *network,
              [&] {
                options.phases.beta = beta;
                return options;
              }(),
              batch) == beta);
    // Not that no phase has diverged yet: in a tenth as many steps a larger one would pass for settled.
    BatchGradientOptions brief = options;
    brief.phases.nudged_steps /= 10;
    CHECK(largest_settling_beta(*network, brief, batch) <= beta);
    options.phases.beta = 1.1 * beta;  // beyond the next step of the bisection, 2^(1/8) = 1.09
    CHECK(largest_settling_beta(*network, options, batch) < options.phases.beta);
  }
}
