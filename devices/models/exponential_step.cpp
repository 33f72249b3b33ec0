// SPDX-License-Identifier: Apache-2.0
// Exponential step: with w = g - g_ref and z = 2 a w/(g_upper - g_lower) + b,
//     up:   dg/dn = +s_up   max(1 - A_up   exp(+gamma_up   z), 0)
//     down: dg/dn = -s_down max(1 - A_down exp(-gamma_down z), 0),   clipped to [g_lower, g_upper].
// Many pulses are the solution of this differential equation: v = exp(-gamma z) obeys the linear equation
// dv/dn = -gamma kappa s (v - A), kappa = dz/dg. Against a sum of single pulses the error is of order
// gamma kappa s/2 per unit of change (one pulse over the number of pulses that the curve takes to bend).
#include "devices/step_kernel.hpp"

namespace nudge {
namespace {

struct ExponentialStep {
  double A_up, A_down, gamma_up, gamma_down, a, b;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    // Along a down pulse both w and z change sign (see Element), so that b does and kappa does not.
    const bool up = direction == Direction::up;
    const S A = static_cast<S>(up ? A_up : A_down);
    const S gamma = static_cast<S>(up ? gamma_up : gamma_down);
    const S kappa = static_cast<S>(2 * a) / e.width;
    const S z = kappa * (e.g - e.reference) + static_cast<S>(up ? b : -b);
    const S y = S(1) - A * std::exp(gamma * z);
    if (y <= 0) return 0;
    const S rate = gamma * kappa * e.step;  // of v per pulse
    // Below this the curve does not bend within the n pulses: 1 + rate n y/2 rounds to 1 in S.
    if (std::abs(rate * n * y) < std::numeric_limits<S>::epsilon()) return e.step * y * n;
    // (v(n) - v(0))/v(0) = y (exp(-rate n) - 1). At -1 the curve reaches infinity: the bound, which the caller applies.
    const S growth = y * std::expm1(-rate * n);
    if (growth <= S(-1)) return e.width;
    return std::min(-std::log1p(growth) / (gamma * kappa), e.width);
  }

  /// Noise of n pulses taken as equal: sigma |change|/sqrt(n). Exact for one pulse and where the curve does not bend.
  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    return sigma * change(e, direction, n) / std::sqrt(n);
  }

  /// Change and noise of a whole chunk, as vectors; noise of `floor` mean steps in every pulse, √n of them after n, is added to the variance.
  template <class S>
  void moves(const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise) const {
    ChunkArray<S> z_all, A_all, rate_all, growth_all;
    auto z = z_all.head(chunk.size);
    auto amplitude = A_all.head(chunk.size);
    auto rate = rate_all.head(chunk.size);
    auto growth = growth_all.head(chunk.size);
    for (Index i = 0; i < chunk.size; ++i) {
      const S up = S(0.5) + S(0.5) * chunk.sign[i];  // 1 or 0
      const S gamma = up * static_cast<S>(gamma_up) + (S(1) - up) * static_cast<S>(gamma_down);
      const S bend = gamma * static_cast<S>(2 * a) / chunk.width[i];
      z[i] = bend * (chunk.g[i] - chunk.reference[i]) + gamma * chunk.sign[i] * static_cast<S>(b);
      amplitude[i] = up * static_cast<S>(A_up) + (S(1) - up) * static_cast<S>(A_down);
      rate[i] = bend * chunk.step[i];
    }
    const auto n = chunk.n.head(chunk.size);
    z = (S(1) - amplitude * z.exp()).max(S(0));  // y
    growth = (z * (-rate * n).expm1()).max(S(-1));
    auto moved = change.head(chunk.size);
    moved = growth.log1p();
    constexpr S epsilon = std::numeric_limits<S>::epsilon();
    for (Index i = 0; i < chunk.size; ++i) {
      const bool straight = std::abs(rate[i] * chunk.n[i] * z[i]) < epsilon;
      const S curved = growth[i] <= S(-1) ? chunk.width[i] : -moved[i] * chunk.step[i] / rate[i];
      moved[i] = std::min(straight ? chunk.step[i] * z[i] * chunk.n[i] : curved, chunk.width[i]);
    }
    auto spread = noise.head(chunk.size);
    if (sigma > 0) spread = sigma * moved / n.max(std::numeric_limits<S>::min()).sqrt();
    if (floor == 0) return;
    const auto held = (floor * chunk.step.head(chunk.size)).square() * n;
    if (sigma > 0) {
      spread = (spread.square() + held).sqrt();
    } else {
      spread = held.sqrt();
    }
  }
};
static_assert(ChunkRule<ExponentialStep, float> && ChunkRule<ExponentialStep, double>);

}  // namespace

DeviceModel exponential_step_model() {
  const std::string source =
      "fit of IBM aihwkit (MIT licence, preset ReRamES) to Gong et al., Nat. Commun. 9:2102 "
      "(2018), doi:10.1038/s41467-018-04485-1";
  DeviceModel model;
  model.name = "exponential_step";
  model.summary = "pulse size falls exponentially along the window, separately up and down, hard bounds";
  model.equation = "dg/dn = +/- s max(1 - A exp(+/- gamma z), 0), z = 2 a (g - g_ref)/(g_upper - g_lower) + b";
  model.source =
      "Rasch, Gokmen and Haensch, IEEE Design & Test (2019), arXiv:1906.02698; data: Gong et al. (2018) "
      "doi:10.1038/s41467-018-04485-1";
  model.limits = "many pulses across the window (mean-field curve between pulses)";
  model.not_modelled =
      "exact variance of many noisy pulses where the curve bends, retention, write noise on top of the stored state";
  model.shape = {{"A_up", "1", -1e6, 1e6, false, false, -1.18445, "amplitude of the up curve", source},
                 {"A_down", "1", -1e6, 1e6, false, false, -0.081404, "amplitude of the down curve", source},
                 {"gamma_up", "1", -100, 100, false, false, 5, "steepness of the up curve", source},
                 {"gamma_down", "1", -100, 100, false, false, 5, "steepness of the down curve", source},
                 {"a", "1", -10, 10, false, false, -0.5, "stretch of the conductance axis", source},
                 {"b", "1", -10, 10, false, false, -0.5, "shift of the conductance axis", source}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<ExponentialStep>>(
        ExponentialStep{spec.shape_value("A_up"), spec.shape_value("A_down"), spec.shape_value("gamma_up"),
                        spec.shape_value("gamma_down"), spec.shape_value("a"), spec.shape_value("b")});
  };
  return model;
}

}  // namespace nudge
