// SPDX-License-Identifier: Apache-2.0
#include "mixers/fem/free_energy_mixer.hpp"

#include <algorithm>
#include <cmath>

#include "mixers/ops/operations.hpp"

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

std::vector<Field> conditioner_fields(Index width, Index hidden, Index outputs) {
  require_at_least("hidden", hidden, 1);
  constexpr double deviation = 0.02;  // the published code's; the paper's zeros would make the conditioner dead
  return {{"tdc_ln1_w", {width}, 1},
          {"tdc_ln1_b", {width}},
          {"tdc_Wf", {width, hidden}, 0, deviation},
          {"tdc_Wx", {width, hidden}, 0, deviation},
          {"tdc_Ws", {width, hidden}, 0, deviation},
          {"tdc_ln2_w", {hidden}, 1},
          {"tdc_ln2_b", {hidden}},
          {"tdc_Wc", {hidden, outputs}, 0, deviation}};
}

template <class S>
Value<S> conditioner(Value<S> x, const MixerCall<S>& call, Value<S>* hidden_state) {
  const auto& p = call.parameters;
  const Value<S> normed = layer_norm(x) * p["tdc_ln1_w"] + p["tdc_ln1_b"];
  const Value<S> decay = affine(apply(Function::softplus, product(normed, p["tdc_Wf"])), -1.0);
  const Value<S> hidden =
      decayed_sum(decay, product(normed, p["tdc_Wx"]), call.streams != nullptr ? &call.streams->conditioner : nullptr);
  const Value<S> a = apply(Function::softplus, product(normed, p["tdc_Ws"]));
  // κ a/√(Σa² + ε) = κ/√n · a/√(mean a² + ε/n)
  const auto n = static_cast<double>(a.cols());
  const Value<S> unit =
      affine(rms_norm(a, 1, 1e-12 / n), call.options.template of<FreeEnergyOptions>().hidden_scale / std::sqrt(n));
  if (hidden_state != nullptr) *hidden_state = hidden;
  const Value<S> state = layer_norm(hidden) * p["tdc_ln2_w"] + p["tdc_ln2_b"];
  return product(apply(Function::silu, unit) * state, p["tdc_Wc"]);
}

/// tdc: the time-decay conditioner alone, x (tokens, width) to y (tokens, conditioned). Options: width, hidden,
/// hidden_scale, conditioned. Observed: "htilde". Streams.
template <class S>
MixerKind<S> tdc_mixer() {
  return {"tdc", "time-decay conditioner",
          [](const MixerOptions& o) {
            return MixerSpec{
                {{"x", {-1, o.width}}},
                conditioner_fields(o.width, o.of<FreeEnergyOptions>().hidden, o.of<FreeEnergyOptions>().conditioned),
                {{"y", {-1, o.of<FreeEnergyOptions>().conditioned}}},
                false};
          },
          [](MixerCall<S>& call) {
            Value<S> hidden;
            call.outputs = {conditioner(call.inputs["x"], call, &hidden)};
            if (call.options.observe) call.observed.add("htilde", hidden);
          }};
}

#define NUDGE_CONDITIONER(S)                                                  \
  template Value<S> conditioner<S>(Value<S>, const MixerCall<S>&, Value<S>*); \
  template MixerKind<S> tdc_mixer<S>();
NUDGE_BOTH_PRECISIONS(NUDGE_CONDITIONER)

}  // namespace nudge
