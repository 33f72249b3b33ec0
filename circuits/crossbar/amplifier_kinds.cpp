// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/amplifier_kinds.hpp"

#include <algorithm>

namespace nudge {

double AmplifierKind::scaled_power_W(double wanted_Hz, double wanted_V) const {
  const double quieter = wanted_V > 0 ? noise_V / wanted_V : 0;
  return power_W * std::max({wanted_Hz / gain_bandwidth_Hz, quieter * quieter, 0.0});
}

// ota_180nm: 134.2 MHz into 5.6 pF from 0.8 mA at 1.8 V, so that gm = 2π GBW C = 4.7 mS. Its input noise is derived: two matched input
// transistors and as much again from the current sources, e_n² = 4 · 4 k T γ/gm with γ = 2/3, are 3.1 nV; 5 nV leaves room for the
// recycling branch (chosen). Its offset is not published: 5 mV is within the 0.1 to 10 mV of untrimmed CMOS pairs (chosen).
const std::vector<AmplifierKind>& amplifier_kinds() {
  static const std::vector<AmplifierKind> all = {
      {"ota_180nm", "recycling folded cascode in 180 nm CMOS, 134 MHz", 134.2e6, 5e-9, 5e-3, 1.44e-3,
       "R. Assaad and J. Silva-Martinez, IEEE J. Solid-State Circuits 44:2535 (2009), doi:10.1109/JSSC.2009.2024819; "
       "noise derived from its transconductance, offset chosen"},
      {"lt6230_10", "low-noise bipolar amplifier for gains above 10, 1.45 GHz", 1.45e9, 1.1e-9, 0.35e-3, 11.6e-3,
       "LT6230-10 data sheet, Linear Technology: 1450 MHz, 1.1 nV, 350 uV and 3.5 mA at most, at 3.3 V"},
      {"opa847", "wideband bipolar amplifier for gains above 12, 3.9 GHz", 3.9e9, 0.85e-9, 0.1e-3, 181e-3,
       "OPA847 data sheet SBOS251E, Texas Instruments: 3.9 GHz, 0.85 nV, 100 uV, 18.1 mA at +-5 V"}};
  return all;
}

const AmplifierKind* find_amplifier(const std::string& name) {
  const auto& all = amplifier_kinds();
  const auto found = std::find_if(all.begin(), all.end(), [&](const AmplifierKind& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const AmplifierKind& default_amplifier() { return amplifier_kinds().front(); }

}  // namespace nudge
