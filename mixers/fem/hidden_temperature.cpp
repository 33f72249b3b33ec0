// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/free_energy_mixer.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

/// Remainder eʸ − 1 − y without cancellation: the series below 1/2, where 20 terms leave 0.5²²/22! < 1e-27.
double exponential_remainder(double y) {
  if (std::abs(y) > 0.5) return std::expm1(y) - y;
  double sum = 1;
  for (int k = 22; k > 2; --k) sum = 1 + y / k * sum;
  return y * y / 2 * sum;
}

/// Distribution p over centred values x = v − μ.
struct Centred {
  const std::vector<double>& p;
  std::vector<double> x;
  double largest = 0;

  /// Cumulant function ψ(β) = log Σ p e^{βx} = β (F(β) − μ).
  double psi(double beta) const {
    double sum = 0;
    if (beta * largest < 1) {
      for (std::size_t i = 0; i < x.size(); ++i) sum += p[i] * exponential_remainder(beta * x[i]);
      return std::log1p(sum);
    }
    for (std::size_t i = 0; i < x.size(); ++i) sum += p[i] * std::exp(beta * (x[i] - largest));
    return beta * largest + std::log(sum);
  }
  /// Tilted distribution q ∝ p e^{βx}.
  std::vector<double> tilted(double beta) const {
    std::vector<double> q(x.size());
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += q[i] = p[i] * std::exp(beta * (x[i] - largest));
    for (double& each : q) each /= sum;
    return q;
  }
  /// Slope dF/dβ = KL(q‖p)/β² = (β E_q x − ψ)/β²; E_q x = Σ p x (e^{βx} − 1)/e^ψ because Σ p x = 0.
  double slope(double beta) const {
    double second = 0;
    double third = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      second += p[i] * x[i] * x[i];
      third += p[i] * x[i] * x[i] * x[i];
    }
    double widest = 0;
    for (const double each : x) widest = std::max(widest, std::abs(each));
    // Below, the next term of the cumulant series, β² k₄/8, is under 1e-10 of the first.
    if (beta * widest < 1e-5) return second / 2 + beta * third / 3;
    double mean = 0;
    if (beta * largest < 1) {
      for (std::size_t i = 0; i < x.size(); ++i) mean += p[i] * x[i] * std::expm1(beta * x[i]);
      mean /= std::exp(psi(beta));
    } else {
      const std::vector<double> q = tilted(beta);
      for (std::size_t i = 0; i < x.size(); ++i) mean += q[i] * x[i];
    }
    return (beta * mean - psi(beta)) / (beta * beta);
  }
};

}  // namespace

HiddenTemperature hidden_temperature(const std::vector<double>& p, const std::vector<double>& v, double beta_max,
                                     double lambda) {
  Centred at{p, v};
  HiddenTemperature out{};
  for (std::size_t i = 0; i < v.size(); ++i) out.mean += p[i] * v[i];
  for (double& each : at.x) each -= out.mean;
  at.largest = *std::max_element(at.x.begin(), at.x.end());
  const double rise = at.psi(beta_max) / beta_max;
  out.free_energy = out.mean + rise;
  out.gated = out.mean + lambda * rise;
  double low = 0;
  double high = beta_max;
  if (lambda <= 0) high = 0;
  if (lambda >= 1) low = beta_max;
  // 1100 halvings reach the smallest positive double; the loop ends when no number is left between the bounds.
  for (int n = 0; n < 1100; ++n) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (at.psi(middle) / middle < lambda * rise ? low : high) = middle;
  }
  out.beta = high;
  out.slope = at.slope(out.beta);
  out.beta_slope = rise / out.slope;
  out.posterior = at.tilted(out.beta);
  return out;
}

}  // namespace nudge
