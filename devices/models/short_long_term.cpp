// SPDX-License-Identifier: Apache-2.0
// Short- and long-term memory in one device: its conductance is what stays plus what fades,
//     g = g_long + g_short,       a pulse that moves g by Δ:   g_short += φ Δ,   g_long += (1 − φ) Δ
//     waiting t:                  g_short ← g_short exp(−t/T),  T = T₀ exp(E/k (1/T_K − 1/300 K))
// Δ is that of soft bounds, of g as a whole. A read of a device that has not settled is noisier: σ = α |g_short| per √τ, beside
// the read noise of every device. A device that is programmed (and not pulsed) has settled: g_short = 0.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "devices/affine_step.hpp"

namespace nudge {
namespace {

double acceleration(const DeviceSpec& spec) {
  return arrhenius_factor(spec.shape_value("activation"), 300, spec.temperature_K);
}

/// Fading time T at the temperature of the devices.
double fading_s(const DeviceSpec& spec) { return spec.shape_value("short_time") / acceleration(spec); }

constexpr double gathered_share = 1e-4;  // of T, before it is applied: a change well above the rounding of a float

/// Fading of the short-term share g_short, which is DeviceCells::own[0].
template <class S>
class FadingShare final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& /*spec*/, const ArraySite& /*site*/) { return true; }
  FadingShare(const DeviceSpec& spec, const ArraySite& /*site*/, DeviceCells<S>& /*cells*/)
      : share_(static_cast<S>(spec.shape_value("short_share"))),
        time_s_(fading_s(spec)),
        noise_(spec.shape_value("short_noise")) {}

  bool follows_writes() const override { return true; }
  void written(DeviceCells<S>& cells, const DeviceWrite<S>& write) override {
    if (!write.programmed()) cells.own[0] += share_ * (cells.g - write.before_S);
  }

  Passed wait(DeviceCells<S>& cells, double seconds, std::uint64_t /*step*/, Gathering gathering) override {
    if (!waiting_.add(seconds, gathering, gathered_share * time_s_)) return Passed::unchanged;
    const Matrix<S> lost = static_cast<S>(-std::expm1(-waiting_.seconds() / time_s_)) * cells.own[0];
    cells.own[0] -= lost;
    cells.g = (cells.g - lost).cwiseMax(cells.lower).cwiseMin(cells.upper);
    waiting_.applied();
    return Passed::stored;
  }

  bool reads_noisy() const override { return noise_ > 0; }
  void add_read_variance(const DeviceCells<S>& cells, Matrix<double>& variance_S2) const override {
    variance_S2 += (noise_ * cells.own[0].template cast<double>()).cwiseAbs2();
  }

  std::vector<SlowArray<S>> state() override { return {waiting_.state("short_waiting_time", "the short-term share")}; }
  void restored(DeviceCells<S>& /*cells*/) override { waiting_.restored(); }

 private:
  S share_;
  double time_s_, noise_;
  GatheredTime<S> waiting_;
};

}  // namespace

DeviceModel short_long_term_model() {
  const std::string ohno = "form: Ohno et al., Nat. Mater. 10 (2011) 591, doi:10.1038/nmat3054; ";
  const double none = std::numeric_limits<double>::infinity();
  DeviceModel model;
  model.name = "short_long_term";
  model.summary = "soft bounds with a share that fades: short- and long-term memory, with its own noise";
  model.equation =
      "g = g_long + g_short; a pulse: g_short += phi dg; waiting: g_short exp(-t/T); read noise alpha |g_short|";
  model.source =
      "short- and long-term plasticity of one device: Ohno et al. (2011), doi:10.1038/nmat3054 (Ag2S atomic "
      "switch), Chang, Jo and Lu, ACS Nano 5 (2011) 7669, doi:10.1021/nn202983n (WOx). Equations and numbers are "
      "ours";
  model.limits = "one time of fading; the share that stays is the same for every pulse";
  model.not_modelled = "a share or a time that grows with repetition, fading that depends on the conductance";
  model.shape = {
      {"short_share", "1", 0, 1, false, false, 0.3, "phi: share of a pulse that fades", ohno + "default chosen"},
      {"short_time", "s", 0, none, true, false, 1, "T of the fading at 300 K",
       ohno + "seconds to minutes there; default chosen"},
      {"activation", "eV", 0, none, false, false, 0, "E: activation energy of the fading; 0: no effect of temperature",
       "Arrhenius; default chosen"},
      {"short_noise", "1", 0, none, false, false, 0, "alpha: std of a read per sqrt(tau), of the share that fades",
       "default chosen: 0 switches it off"}};
  model.make = [](const DeviceSpec&) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<AffineStep>>(AffineStep{1.0, 1.0});
  };
  model.states = {{"short_term", "S", "conductance of each device that fades", 0}};
  model.acceleration = acceleration;
  model.parts = {part_kind<FadingShare>()};
  model.netlist = [](const DeviceSpec& spec, const std::string& rate, double state_F) {  // f: g_short, of the window
    const double per_volt = state_F / fading_s(spec);
    return fmt::format("bx 0 x i={0}-{1:.17g}*v(f)\nbf 0 f i={2:.17g}*({0})-{1:.17g}*v(f)\ncf f 0 {3:.17g} ic=0\n",
                       rate, per_volt, spec.shape_value("short_share"), state_F);
  };
  return model;
}

}  // namespace nudge
