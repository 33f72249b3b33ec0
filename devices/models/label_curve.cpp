// SPDX-License-Identifier: Apache-2.0
// The exponential potentiation and depression curves of analogue synapses, from bound to bound in exactly N pulses
// (N = pulses up, pulses/(1 - asymmetry) down, before spreads): with x the place along the direction of the pulses and
// k the curvature,
//     x(P) = (1 - exp(-k P/N))/(1 - exp(-k)),      that is  G = B (1 - exp(-P/A)) + G_min  with A = N/k.
// From any state n pulses move it by (1/(1 - exp(-k)) - x)(1 - exp(-k n/N)), exactly. Label convention (ours; the tables
// of the sources do not define theirs and disagree for TaOx/TiO2): |label|/10 is the largest distance of the curve from the
// straight line, max_x |x(P) - P/N|, so 0 is linear and 9 extreme; the sign is that of the sources: an up curve of
// positive label and a down curve of negative label take their large steps first. Update noise is the same at every state
// (sigma sqrt(n) pulses), as in the sources.
#include "devices/models/label_curve.hpp"

#include "devices/step_kernel.hpp"

namespace nudge {

double curvature_of_label(double label) {
  const double wanted = std::abs(label) / 10;
  if (wanted == 0) return 0;
  // The distance of the curve from the line is largest at P/N = ln(k/(1 − e^−k))/k and grows with k from 0 to 1.
  const auto distance = [](double k) {
    const double range = -std::expm1(-k);
    const double at = std::log(k / range) / k;
    return -std::expm1(-k * at) / range - at;
  };
  double low = 1e-9;
  double high = 1e4;
  for (double middle = 0.5 * (low + high); low < middle && middle < high; middle = 0.5 * (low + high)) {
    (distance(middle) < wanted ? low : high) = middle;
  }
  return label > 0 ? low : -low;
}

namespace {

struct LabelCurve {
  double k_up, k_down;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const S k = static_cast<S>(direction == Direction::up ? k_up : k_down);
    const S m = n * e.step / e.width;  // P/N
    const S x = place(e);
    // Below this the curve is straight to rounding.
    if (std::abs(k) * std::max(m, S(1)) < std::numeric_limits<S>::epsilon()) return m * e.width;
    const S end = S(-1) / std::expm1(-k);
    // k < 0 accelerates: exp(-k m) may overflow long after the bound is reached.
    if (k < 0 && -k * m > S(80)) return e.width;
    return std::min((end - x) * -std::expm1(-k * m), S(1)) * e.width;
  }

  template <class S>
  S noise(const Element<S>& e, Direction, S n, S sigma) const {
    return sigma * e.step * std::sqrt(n);
  }
};

}  // namespace

DeviceModel label_curve_model() {
  const std::string source =
      "AlOx/HfO2: Woo et al. (2016) as tabulated for NeuroSim (Chen, Peng and Yu, TCAD 2018): 1.94/-0.61";
  DeviceModel model;
  model.name = "label_curve";
  model.summary = "exponential potentiation and depression curves given by nonlinearity labels";
  model.equation = "x(P) = (1 - exp(-k P/N))/(1 - exp(-k)), max |x - P/N| = |label|/10";
  model.source = "curve: Chen, Peng and Yu, IEEE TCAD 37:3067 (2018), G = B (1 - exp(-P/A)) + Gmin; label: see limits";
  model.limits =
      "identical pulses; label convention of ours: |label|/10 is the largest distance from a straight line, positive "
      "up and negative down labels saturate. The sources' own label tables do not agree with each other";
  model.not_modelled = "device-to-device spread of the labels, I-V nonlinearity";
  model.shape = {{"label_up", "1", -9.9, 9.9, false, false, 1.94, "nonlinearity label of the up curve", source},
                 {"label_down", "1", -9.9, 9.9, false, false, -0.61,
                  "nonlinearity label of the down curve: negative saturates", source}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<LabelCurve>>(LabelCurve{curvature_of_label(spec.shape_value("label_up")),
                                                              -curvature_of_label(spec.shape_value("label_down"))});
  };
  return model;
}

}  // namespace nudge
