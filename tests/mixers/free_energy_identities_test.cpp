// SPDX-License-Identifier: Apache-2.0
// What the Free Energy Mixer must satisfy exactly. Tolerances: sums of some ten terms of order one, so 1e-12 is thousands of
// roundings; central differences say theirs.
#include <Eigen/Core>
#include <cmath>

#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/ops/reads.hpp"
#include "sim/base/decompositions.hpp"
#include "tests/mixers/evaluate_mixer.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using M = Matrix<double>;

constexpr double kExact = 1e-12;
constexpr double kInverse = 1e-12;

/// One read of n values under softmax(logits): its branches, and their gradients by the tape.
struct Read {
  double mean, free_energy;
  M mean_by_v, energy_by_v, energy_by_logits;
  double energy_by_beta;
  Read(const M& logits, const M& v, double beta, const Mask& mask) {
    Tape<double> tape;
    const auto l = tape.input(logits);
    const auto x = tape.input(v);
    const auto b = tape.input(M::Constant(1, 1, beta));
    const auto y = free_energy_read(l, x, b, mask);
    mean = y.matrix()(0, 0);
    free_energy = y.matrix()(0, 1);
    const auto gradient = [&](Index column) {
      tape.clear_cotangents();
      M one = M::Zero(1, 2);
      one(0, column) = 1;
      tape.add_cotangent(y, one);
      tape.pull_back();
    };
    gradient(0);
    mean_by_v = tape.cotangent(x);
    gradient(1);
    energy_by_v = tape.cotangent(x);
    energy_by_logits = tape.cotangent(l);
    energy_by_beta = tape.cotangent(b)(0, 0);
  }
};
Read read_of(const M& logits, const M& v, double beta) { return Read(logits, v, beta, Mask::full(1, logits.cols())); }

Eigen::VectorXd softmax_of(const M& logits) {
  Eigen::VectorXd p = (logits.row(0).transpose().array() - logits.maxCoeff()).exp();
  return p / p.sum();
}
Eigen::VectorXd posterior(const Eigen::VectorXd& p, const M& v, double beta) {
  Eigen::VectorXd q = p.array() * (beta * (v.col(0).array() - v.maxCoeff())).exp();
  return q / q.sum();
}
double divergence(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a.array() * (a.array() / b.array()).log()).sum();
}

MixerOptions with_all() {
  MixerOptions o;
  o.of<FreeEnergyOptions>().epsilon = 0.1;
  return o;
}
const char* const kPriors[] = {"fem_softmax", "fem_gla", "fem_aft", "fem_lrnn", "fem_ssmlti", "fem_ssmsel"};

}  // namespace

TEST_CASE("free energy: both forms with a divergence, bounds, and its slope in β") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const M logits = random_matrix<double>(1, 9, seed, 2.0);
    const M v = random_matrix<double>(9, 1, seed + 100, 1.5);
    const Eigen::VectorXd p = softmax_of(logits);
    for (const double beta : {0.05, 1.0, 8.0}) {
      const Read r = read_of(logits, v, beta);
      const Eigen::VectorXd q = posterior(p, v, beta);
      const double mean = p.dot(v.col(0)), tilted = q.dot(v.col(0));
      CHECK(r.mean == Approx(mean).margin(kExact));
      CHECK(r.free_energy == Approx(mean + divergence(p, q) / beta).margin(kExact));
      CHECK(r.free_energy == Approx(tilted - divergence(q, p) / beta).margin(kExact));
      // The paper's theorem 2.8 takes E_q v for F; they differ by KL(q‖p)/β.
      CHECK(tilted - r.free_energy > 0);
      CHECK(r.energy_by_beta == Approx(divergence(q, p) / (beta * beta)).margin(1e-10));
      Index best = 0;
      const double largest = v.col(0).maxCoeff(&best);
      CHECK(r.mean <= r.free_energy);
      CHECK(r.free_energy <= largest);
      CHECK(r.free_energy >= largest + std::log(p(best)) / beta - kExact);
    }
  }
}

TEST_CASE("free energy: shifts, scales, permutations, and what is masked") {
  const M logits = random_matrix<double>(1, 6, 1), v = random_matrix<double>(6, 1, 2);
  const Read r = read_of(logits, v, 2.0);
  CHECK(read_of(logits, M(v.array() + 3.5), 2.0).free_energy == Approx(r.free_energy + 3.5).epsilon(kExact));
  CHECK(read_of(logits, M(0.25 * v), 2.0).free_energy ==
        Approx(0.25 * read_of(logits, v, 0.5).free_energy).epsilon(kExact));
  CHECK(read_of(M(logits.array() + 40), v, 2.0).free_energy == Approx(r.free_energy).epsilon(kExact));
  CHECK(read_of(M(logits.rowwise().reverse()), M(v.colwise().reverse()), 2.0).free_energy ==
        Approx(r.free_energy).epsilon(kExact));
  M wide(1, 7), tall(7, 1);
  wide << logits, 5.0;
  tall << v, 1e300;
  const Read masked(wide, tall, 2.0, Mask::from_bytes(1, 7, {1, 1, 1, 1, 1, 1, 0}));
  CHECK(masked.free_energy == Approx(r.free_energy).epsilon(kExact));
  CHECK(masked.mean == Approx(r.mean).epsilon(kExact));
  CHECK(masked.energy_by_v(6, 0) == 0);
  CHECK(relative_error(M(masked.energy_by_v.topRows(6)), r.energy_by_v) < kExact);
}

TEST_CASE("free energy: gradients are p, q and (q − p)/β, its Hessian is positive and at most β/2") {
  const M logits = random_matrix<double>(1, 6, 3), v = random_matrix<double>(6, 1, 4);
  const double beta = 3.0;
  const Eigen::VectorXd p = softmax_of(logits), q = posterior(p, v, beta);
  const Read r = read_of(logits, v, beta);
  CHECK((r.mean_by_v.col(0) - p).norm() < kExact);
  CHECK((r.energy_by_v.col(0) - q).norm() < kExact);
  CHECK(r.energy_by_v.sum() == Approx(1).epsilon(kExact));
  CHECK((r.energy_by_logits.row(0).transpose() - (q - p) / beta).norm() < kExact);
  // Differences of q with h = 1e-5: h²·27/6 and 1e-16/h, 1e-10 both.
  Eigen::MatrixXd hessian(6, 6);
  for (Index i = 0; i < 6; ++i) {
    const double h = 1e-5;
    M up = v, down = v;
    up(i, 0) += h;
    down(i, 0) -= h;
    hessian.col(i) =
        (read_of(logits, up, beta).energy_by_v.col(0) - read_of(logits, down, beta).energy_by_v.col(0)) / (2 * h);
  }
  const Eigen::MatrixXd exact = beta * (Eigen::MatrixXd(q.asDiagonal()) - q * q.transpose());
  CHECK((hessian - exact).norm() < 1e-8);
  const Eigen::VectorXd values = symmetric_eigenvalues(exact);
  CHECK(values.minCoeff() > -kExact);
  CHECK(values.maxCoeff() <= beta / 2);
}

TEST_CASE("free energy is convex in the values and concave in the prior") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const M a = random_matrix<double>(5, 1, seed), b = random_matrix<double>(5, 1, seed + 50);
    const M l = random_matrix<double>(1, 5, seed + 100, 2.0), k = random_matrix<double>(1, 5, seed + 150, 2.0);
    const auto f = [](const M& logits, const M& v) { return read_of(logits, v, 4.0).free_energy; };
    CHECK(f(l, M(0.5 * (a + b))) <= 0.5 * (f(l, a) + f(l, b)) + kExact);
    const M middle = (0.5 * (softmax_of(l) + softmax_of(k))).array().log().matrix().transpose();
    CHECK(f(middle, a) >= 0.5 * (f(l, a) + f(k, a)) - kExact);
  }
}

TEST_CASE("hidden temperature: rises with the gate, slope (F − μ)/F', quadratic start, and its own gradient") {
  const std::vector<double> p = {0.1, 0.25, 0.3, 0.35}, v = {1.0, -0.5, 1.7, 0.3};
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < 4; ++i) mean += p[i] * v[i];
  for (std::size_t i = 0; i < 4; ++i) variance += p[i] * (v[i] - mean) * (v[i] - mean);
  double last = 0;
  for (const double lambda : {0.01, 0.1, 0.4, 0.7, 0.95}) {
    const HiddenTemperature at = hidden_temperature(p, v, 6.0, lambda);
    CHECK(at.beta > last);
    last = at.beta;
    // F at β* by the definition is the gated value; β* ≥ 0.05 here, so rounding is 1e-15/0.05.
    double sum = 0, posterior_sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += p[i] * std::exp(at.beta * v[i]);
    CHECK(std::log(sum) / at.beta == Approx(at.gated).epsilon(kInverse));
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(at.posterior[i] == Approx(p[i] * std::exp(at.beta * v[i]) / sum).epsilon(1e-11));
      posterior_sum += at.posterior[i];
    }
    CHECK(posterior_sum == Approx(1).epsilon(kExact));
    const double h = 1e-5;  // h² β''' and 1e-12/h
    const double difference =
        (hidden_temperature(p, v, 6.0, lambda + h).beta - hidden_temperature(p, v, 6.0, lambda - h).beta) / (2 * h);
    CHECK(difference == Approx(at.beta_slope).epsilon(1e-5));
    // The gated value's gradient in v is (1 − λ) p + λ q(β_max), not the hidden posterior: they agree in value only.
    double tilt = 0, apart = 0;
    for (std::size_t i = 0; i < 4; ++i) tilt += p[i] * std::exp(6.0 * v[i]);
    for (std::size_t i = 0; i < 4; ++i) {
      std::vector<double> up = v, down = v;
      up[i] += h;
      down[i] -= h;
      const double slope =
          (hidden_temperature(p, up, 6.0, lambda).gated - hidden_temperature(p, down, 6.0, lambda).gated) / (2 * h);
      const double weight = (1 - lambda) * p[i] + lambda * p[i] * std::exp(6.0 * v[i]) / tilt;
      CHECK(slope == Approx(weight).margin(1e-8));
      apart += std::abs(weight - at.posterior[i]);
    }
    if (lambda == 0.4) CHECK(apart > 0.05);
  }
  const HiddenTemperature small = hidden_temperature(p, v, 6.0, 1e-6);
  CHECK(small.beta == Approx(2e-6 * (small.free_energy - mean) / variance).epsilon(1e-4));
}

TEST_CASE("every prior is a distribution: constant values are read as they are") {
  for (const char* kind : kPriors) {
    CAPTURE(kind);
    const MixerOptions o = with_all();
    Named w = random_parameters(kind, o);
    w["W_v"].setZero();
    w["b_v"].setConstant(1.7);
    const Named y = evaluate(kind, o, Mask::causal(9), {{"x", random_matrix<double>(9, o.width, 1)}}, w);
    CHECK((y.at("observed/mu").array() - 1.7).abs().maxCoeff() < kExact);
    CHECK((y.at("observed/Fmax").array() - 1.7).abs().maxCoeff() < kExact);
  }
}

TEST_CASE("every prior: μ ≤ F ≤ maximum, a closed inner gate is the ablation L, β → 0 is the mean") {
  for (const char* kind : kPriors) {
    CAPTURE(kind);
    MixerOptions o = with_all();
    const Mask mask = Mask::causal(9);
    const Named x = {{"x", random_matrix<double>(9, o.width, 1)}};
    Named w = random_parameters(kind, o);
    const Named y = evaluate(kind, o, mask, x, w);
    CHECK((y.at("observed/Fmax") - y.at("observed/mu")).minCoeff() > -kExact);
    for (Index t = 0; t < 9; ++t) {
      const auto largest = y.at("observed/v").topRows(t + 1).colwise().maxCoeff();
      CHECK((largest - y.at("observed/Fmax").row(t)).minCoeff() > -kExact);
    }
    w["W_lam"].setZero();
    w["b_lam"].setConstant(-800);  // λ = 0
    const M closed = evaluate(kind, o, mask, x, w).at("y");
    MixerOptions without = o;
    without.of<FreeEnergyOptions>().log_sum_exp = false;
    CHECK(relative_error(closed, evaluate(kind, without, mask, x, w).at("y")) < kExact);
    // F − μ = β Var/2 + O(β²): β = softplus(−8.2) = 2.7e-4 and values of order one.
    w["xb"].setConstant(-10);
    const Named cold = evaluate(kind, o, mask, x, w);
    CHECK((cold.at("observed/Fmax") - cold.at("observed/mu")).cwiseAbs().maxCoeff() < 1e-2);
  }
}

TEST_CASE("priors meet: features of ε alone are a decaying RNN, constant keys, no decay and q = 0 are uniform") {
  const Index tokens = 8;
  const Mask mask = Mask::causal(tokens);
  Tape<double> tape;
  const auto v = tape.constant(random_matrix<double>(tokens, 4, 1));
  const auto beta = tape.constant(M::Constant(1, 4, 1.3));
  const auto zeros = [&](Index cols) { return tape.constant(M::Zero(tokens, cols)); };
  const auto decay = tape.constant(-random_matrix<double>(tokens, 2, 2).cwiseAbs());
  const auto negative = tape.constant(M::Constant(tokens, 2, -1.0));
  const auto gla = gla_prior<double>(negative, negative, decay, v, beta, 2, 1e-3, nullptr);
  const auto lrnn = lrnn_prior<double>(decay, v, beta, nullptr);
  CHECK(relative_error(gla.mean.matrix(), lrnn.mean.matrix()) < kExact);
  CHECK(relative_error(gla.free_energy.matrix(), lrnn.free_energy.matrix()) < kExact);
  M mean(tokens, 4), energy(tokens, 4);
  for (Index t = 0; t < tokens; ++t) {
    const M head = v.matrix().topRows(t + 1);
    mean.row(t) = head.colwise().mean();
    energy.row(t) = (1.3 * head.array()).exp().colwise().mean().log() / 1.3;
  }
  const auto constant = tape.constant(M::Constant(tokens, 2, 0.7));
  for (const auto& uniform :
       {aft_prior<double>(constant, v, beta, nullptr), lrnn_prior<double>(zeros(2), v, beta, nullptr),
        softmax_prior<double>(zeros(4), tape.constant(random_matrix<double>(tokens, 4, 5)), v, beta, 2, mask)}) {
    CHECK(relative_error(uniform.mean.matrix(), mean) < kExact);
    CHECK(relative_error(uniform.free_energy.matrix(), energy) < kExact);
  }
}

TEST_CASE("time-decay conditioner: its recurrence by loops, and silent with W_c = 0") {
  MixerOptions o = with_all();
  const Index tokens = 9;
  const M x = random_matrix<double>(tokens, o.width, 1);
  const Named w = random_parameters("tdc", o);
  const Named y = evaluate("tdc", o, Mask::causal(tokens), {{"x", x}}, w);
  const auto normed = [](const M& m, const M& scale, const M& shift) {
    M out = m;
    for (Index t = 0; t < m.rows(); ++t) {
      const double mean = m.row(t).mean();
      const double variance = (m.row(t).array() - mean).square().mean();
      out.row(t) = (m.row(t).array() - mean) / std::sqrt(variance + 1e-5) * scale.row(0).array() + shift.row(0).array();
    }
    return out;
  };
  const M n = normed(x, w.at("tdc_ln1_w"), w.at("tdc_ln1_b"));
  const M s = (n * w.at("tdc_Wf")).array().exp().log1p().matrix(), u = n * w.at("tdc_Wx");
  M hidden = M::Zero(tokens, o.of<FreeEnergyOptions>().hidden);
  for (Index t = 0; t < tokens; ++t) {
    for (Index i = 0; i <= t; ++i) {
      for (Index c = 0; c < o.of<FreeEnergyOptions>().hidden; ++c) {
        hidden(t, c) += u(i, c) * std::exp(-s.col(c).segment(i + 1, t - i).sum());
      }
    }
  }
  CHECK(relative_error(y.at("observed/htilde"), hidden) < kExact);
  M gate = (n * w.at("tdc_Ws")).array().exp().log1p().matrix();
  for (Index t = 0; t < tokens; ++t) gate.row(t) /= std::sqrt(gate.row(t).squaredNorm() + 1e-12);
  gate = (gate.array() / (1 + (-gate.array()).exp())).matrix();
  const M expected = gate.cwiseProduct(normed(hidden, w.at("tdc_ln2_w"), w.at("tdc_ln2_b"))) * w.at("tdc_Wc");
  CHECK(relative_error(y.at("y"), expected) < kExact);
  for (const char* kind : kPriors) {
    CAPTURE(kind);
    MixerOptions conditioned = o;
    conditioned.of<FreeEnergyOptions>().modulation = Modulation::before;
    Named all = random_parameters(kind, conditioned);
    all["tdc_Wc"].setZero();
    CHECK(relative_error(evaluate(kind, conditioned, Mask::causal(tokens), {{"x", x}}, all).at("y"),
                         evaluate(kind, o, Mask::causal(tokens), {{"x", x}}, all).at("y")) < kExact);
  }
}

TEMPLATE_TEST_CASE("free energy read: values of ±10⁴, large β, logits far apart", "", float, double) {
  // Against the definition in long double. Beyond the products' range (β v spans 2·10⁶) rows are read by their own log Σ exp;
  // F is within some roundings of the largest number in it, 10⁴.
  using S = TestType;
  const Index tokens = 140;  // blocks of 64 queries, and rows that leave their block's range
  Matrix<S> logits = random_matrix<S>(tokens, tokens, 1, 100.0), v = random_matrix<S>(tokens, 3, 2, 5000.0);
  const Matrix<S> beta = (Matrix<S>(1, 3) << S(0.01), S(1), S(100)).finished();
  Tape<S> tape;
  const auto x = tape.input(v);
  const auto y = free_energy_read(tape.input(logits), x, tape.input(beta), Mask::causal(tokens));
  for (Index t = 0; t < tokens; ++t) {
    for (Index c = 0; c < 3; ++c) {
      const auto l = [&](Index i) { return static_cast<long double>(logits(t, i)); };
      const auto tilted = [&](Index i) {
        return l(i) + static_cast<long double>(beta(0, c)) * static_cast<long double>(v(i, c));
      };
      long double top = l(0), top_tilted = tilted(0), sum = 0, sum_tilted = 0;
      for (Index i = 0; i <= t; ++i) {
        top = std::max(top, l(i));
        top_tilted = std::max(top_tilted, tilted(i));
      }
      for (Index i = 0; i <= t; ++i) {
        sum += std::exp(l(i) - top);
        sum_tilted += std::exp(tilted(i) - top_tilted);
      }
      const auto expected = static_cast<double>((top_tilted + std::log(sum_tilted) - top - std::log(sum)) /
                                                static_cast<long double>(beta(0, c)));
      // Logits up to 400 over β = 0.01 are numbers of 4·10⁴.
      CHECK(std::abs(static_cast<double>(y.matrix()(t, 3 + c)) - expected) <
            20 * 4e4 * static_cast<double>(std::numeric_limits<S>::epsilon()));
    }
  }
  // The posterior sums to one for every row: so does the gradient of F in v.
  Matrix<S> ones = Matrix<S>::Zero(tokens, 6);
  ones.rightCols(3).setOnes();
  tape.add_cotangent(y, ones);
  tape.pull_back();
  const auto total = tape.cotangent(x).template cast<double>().colwise().sum();
  CHECK((total.array() - static_cast<double>(tokens)).abs().maxCoeff() <
        2000 * static_cast<double>(tokens) * static_cast<double>(std::numeric_limits<S>::epsilon()));
}
