// SPDX-License-Identifier: Apache-2.0
// network.kind = thermal: states of the bath and the rule of a finite nudge against what Boltzmann's distribution says of small networks: a
// Gaussian integral, a quadrature, a sum over all states, and the slope of the free energy by central differences of these.
#include <cmath>
#include <functional>

#include "tests/support/catch.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/network.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr double kT = 0.3, kBeta = 0.8, kTarget = 0.6;
using Vector = Eigen::VectorXd;

/// Two features, two hidden units, one output.
struct Small {
  explicit Small(std::vector<std::string> settings) {
    settings.insert(settings.begin(),
                    {"thermal.hidden=[2]", "relaxation.solver=sample", "estimator=finite_nudge",
                     "gradcheck.estimators=['finite_nudge']", "thermal.temperature=" + std::to_string(kT)});
    const Config config = small("thermal", settings);
    network = make_network<double>(config, network_plan(config, {1, 0, 0, 2, 1, {2}}), Weights::digital);
    Matrix<double> w1(2, 2), w2(2, 1), b1(1, 2), b2(1, 1);
    w1 << 0.4, -0.3, 0.2, 0.5;
    w2 << 0.6, -0.4;
    b1 << 0.1, -0.2;
    b2 << 0.05;
    weights = {w1, w2, b1, b2};
    for (int p = 0; p < 4; ++p) network->map(p).program(weights[static_cast<std::size_t>(p)]);
    input << 0.7, -0.5;
  }
  /// E but for what holds single units; s = (hidden, hidden, output).
  double coupling(const Vector& s, const std::vector<Matrix<double>>& w) const {
    const Eigen::RowVectorXd hidden = s.head(2).transpose();
    return -(input * w[0]).row(0).dot(hidden) - (hidden * w[1])(0) * s(2) - w[2].row(0).dot(hidden) - w[3](0) * s(2);
  }
  /// ∂E/∂θ at s, in one column.
  Vector slope(const Vector& s) const {
    Vector out(9);
    out << -input(0) * s(0), -input(0) * s(1), -input(1) * s(0), -input(1) * s(1), -s(0) * s(2), -s(1) * s(2), -s(0),
        -s(1), -s(2);
    return out;
  }
  std::unique_ptr<Network<double>> network;
  std::vector<Matrix<double>> weights;
  Eigen::RowVector2d input;
};

/// Means of independent repeats, and their standard errors.
struct SampledGradient {
  Vector mean, error;
};

/// The estimate of as many examples that differ in their draws alone.
SampledGradient measured(Small& small, double beta, NudgeSides sides, double step, int sweeps, int repeats) {
  EstimatorOptions options;
  options.free.solver = SettleSolver::sample;
  options.free.max_steps = 5;
  options.step = options.free.step = step;
  options.nudged_steps = sweeps;
  options.average_nudged = sweeps - 100;  // a hundred sweeps of order one forget where they started
  options.beta = beta;
  options.sides = sides;
  const auto estimator = make_estimator<double>("finite_nudge", options);
  SquaredError<double> cost(small.network->circuit().nodes().back().columns);
  cost.bind(Matrix<double>::Constant(1, 1, kTarget));
  CircuitDynamics<double> dynamics(small.network->circuit(), 1, 2);
  Vector sum = Vector::Zero(9), squares = Vector::Zero(9);
  for (int r = 0; r < repeats; ++r) {
    ReadContext read;
    read.seed = 11;
    read.sequence = static_cast<std::uint32_t>(r);
    dynamics.bind(Matrix<double>(small.input), read);
    Gradient<double> gradient(small.network->parameter_shapes());
    Matrix<double> z = Matrix<double>::Zero(1, 3), unused = z;
    Example<double> example{&dynamics, &cost, &z, &unused, 1.0, &gradient};
    estimator->estimate(example);
    Vector one(9);
    Index at = 0;
    for (int p = 0; p < gradient.size(); ++p) {
      for (Index i = 0; i < gradient[p].size(); ++i) one(at++) = gradient[p].data()[i];
    }
    sum += one;
    squares += one.cwiseAbs2();
  }
  const double n = repeats;
  const Vector mean = sum / n;
  return {mean, ((squares / n - mean.cwiseAbs2()) / (n - 1)).cwiseMax(0).cwiseSqrt()};
}

/// −T ln Σ or ∫ exp(−E/T) of weights, by a function that sums over the states.
using FreeEnergy = std::function<double(double beta, const std::vector<Matrix<double>>& weights)>;

/// The gradient of (F_β − F_−β)/2β or (F_β − F_0)/β by central differences: h² of third derivatives of order 1 and 1e-15/h, both 1e-10.
Vector free_energy_slope(const Small& small, const FreeEnergy& free, NudgeSides sides) {
  const double other = sides == NudgeSides::centered ? -kBeta : 0, width = kBeta - other, h = 1e-5;
  std::vector<double> all;
  for (std::size_t p = 0; p < small.weights.size(); ++p) {
    for (Index i = 0; i < small.weights[p].size(); ++i) {
      double value[2];
      for (const int side : {0, 1}) {
        auto moved = small.weights;
        moved[p].data()[i] += side == 0 ? h : -h;
        value[side] = (free(kBeta, moved) - free(other, moved)) / width;
      }
      all.push_back((value[0] - value[1]) / (2 * h));
    }
  }
  return Eigen::Map<Vector>(all.data(), static_cast<Index>(all.size()));
}

/// 0 or 1 in every unit.
double summed(const Small& small, double beta, const std::vector<Matrix<double>>& w) {
  double z = 0;
  for (int state = 0; state < 8; ++state) {
    const Vector s = Eigen::Vector3d(state & 1, (state >> 1) & 1, state >> 2);
    const double error = s(2) - kTarget;
    z += std::exp(-(small.coupling(s, w) + 0.5 * beta * error * error) / kT);
  }
  return -kT * std::log(z);
}

/// Real units in wells ½ s² + ¼ κ s⁴ by the trapezoidal rule, exact to rounding for what is smooth and vanishes at both ends.
double integrated(const Small& small, double stiffness, double beta, const std::vector<Matrix<double>>& w) {
  constexpr int kPoints = 61;
  constexpr double kReach = 4.5;  // exp(−½ 4.5²/0.3) = 2e-15
  double z = 0;
  const auto at = [](int i) { return kReach * (2.0 * i / (kPoints - 1) - 1); };
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kPoints; ++j) {
      for (int k = 0; k < kPoints; ++k) {
        const Vector s = Eigen::Vector3d(at(i), at(j), at(k));
        const double error = s(2) - kTarget, wells = 0.5 * s.squaredNorm() + 0.25 * stiffness * s.array().pow(4).sum();
        z += std::exp(-(wells + small.coupling(s, w) + 0.5 * beta * error * error) / kT);
      }
    }
  }
  const double cell = 2 * kReach / (kPoints - 1);
  return -kT * std::log(z * cell * cell * cell);
}

/// 5 standard errors: a false alarm in 2e6 numbers. `bias` is what the steps are off by.
void check_within(const SampledGradient& found, const Vector& exact, double bias) {
  for (Index i = 0; i < exact.size(); ++i) {
    CAPTURE(i, found.mean(i), found.error(i), exact(i));
    CHECK(std::abs(found.mean(i) - exact(i)) < 5 * found.error(i) + bias);
  }
  CHECK(found.error.norm() < 0.1 * exact.norm());  // and the errors are small enough to say something
}

}  // namespace

TEST_CASE("thermal kind: stochastic bits learn by the slope of the free energy of all their states", "[thermal]") {
  Small bits({"thermal.units=binary"});
  for (const NudgeSides sides : {NudgeSides::centered, NudgeSides::positive}) {
    const FreeEnergy free = [&](double beta, const auto& w) { return summed(bits, beta, w); };
    check_within(measured(bits, kBeta, sides, 1, 1100, 60), free_energy_slope(bits, free, sides), 0);
  }
}

TEST_CASE("thermal kind: bits whose slopes and thresholds are not those that they should have are not of that bath",
          "[thermal]") {
  Small bits({"thermal.units=binary", "thermal.bit_offset_spread=3", "thermal.bit_gain_spread=0.3"});
  const FreeEnergy free = [&](double beta, const auto& w) { return summed(bits, beta, w); };
  const SampledGradient found = measured(bits, kBeta, NudgeSides::centered, 1, 1100, 30);
  const Vector exact = free_energy_slope(bits, free, NudgeSides::centered);
  CHECK(((found.mean - exact).array().abs() / found.error.array()).maxCoeff() > 10);
}

TEST_CASE("thermal kind: real units in harmonic wells are Gaussian whatever the step", "[thermal]") {
  Small units({"thermal.stiffness=0"});
  const FreeEnergy free = [&](double beta, const std::vector<Matrix<double>>& w) {
    // E + βC = ½ sᵀ A s − gᵀ s + ½ β y²:  F = −½ gᵀ A⁻¹ g + ½ T ln det A + const
    Eigen::Matrix3d a = Eigen::Matrix3d::Identity();
    a.block<2, 1>(0, 2) = -w[1];
    a.block<1, 2>(2, 0) = -w[1].transpose();
    a(2, 2) += beta;
    Eigen::Vector3d g;
    g << (units.input * w[0] + w[2]).transpose(), w[3](0) + beta * kTarget;
    return -0.5 * g.dot(a.inverse() * g) + 0.5 * kT * std::log(a.determinant()) + 0.5 * beta * kTarget * kTarget;
  };
  for (const double step : {0.3, 1.0}) {
    check_within(measured(units, kBeta, NudgeSides::positive, step, 2100, 60),
                 free_energy_slope(units, free, NudgeSides::positive), 0);
  }
}

TEST_CASE("thermal kind: real units in quartic wells have the slope of a quadrature", "[thermal]") {
  Small units({"thermal.stiffness=1"});
  const FreeEnergy free = [&](double beta, const auto& w) { return integrated(units, 1, beta, w); };
  const Vector exact = free_energy_slope(units, free, NudgeSides::positive);
  // Euler–Maruyama is off by a term of order ε times what bends the well, 3 κ ⟨s²⟩ ≈ 3 T of the slope: 0.05 · 0.9 of it.
  check_within(measured(units, kBeta, NudgeSides::positive, 0.05, 4100, 60), exact,
               0.045 * exact.cwiseAbs().maxCoeff());
}

TEST_CASE("thermal kind: what learns from a bath needs one, and the other way round", "[thermal]") {
  const auto refused = [](std::vector<std::string> settings) {
    settings.insert(settings.begin(), "network.kind=thermal");
    settings.insert(settings.begin(), "task.kind=classification");
    return parse_program_config("c.toml", "", settings);
  };
  CHECK_THROWS_WITH(refused({"estimator=finite_nudge"}), Catch::Contains("relaxation.solver must be sample"));
  CHECK_THROWS_WITH(refused({"relaxation.solver=sample", "estimator=ep"}), Catch::Contains("only finite_nudge learns"));
  CHECK_THROWS_WITH(refused({"thermal.temperature=0.2"}), Catch::Contains("thermal.temperature"));
  CHECK_THROWS_WITH(refused({"relaxation.solver=sample", "estimator=finite_nudge", "relaxation.step=2"}),
                    Catch::Contains("below 2"));
  CHECK_THROWS_WITH(
      parse_program_config(
          "c.toml", "",
          std::vector<std::string>{"network.kind=hopfield", "relaxation.solver=sample", "task.kind=classification"}),
      Catch::Contains(
          "relaxation.solver = sample (does not fit: network.kind = hopfield is not in a heat bath (thermal is); "
          "euler or second_order would)"));
}
