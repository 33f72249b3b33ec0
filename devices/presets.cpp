// SPDX-License-Identifier: Apache-2.0
// Published devices. The sources state weights without unit, w in [w_min, w_max] with mean pulse dw_min: pulses =
// (w_max − w_min)/dw_min, reference = −w_min/(w_max − w_min), spreads and noises are relative numbers as published. The
// window in siemens is not part of these sources: the default one is used.
#include "devices/presets.hpp"

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// The normalised numbers of one published fit, in the order of the sources.
struct Published {
  std::string model;
  double dw_min, w_max, w_min;
  double step_spread, upper_bound_spread, lower_bound_spread, asymmetry_spread;
  double update_noise;
  double asymmetry;
};

DeviceSpec spec_of(const Published& p, std::map<std::string, double> shape = {}) {
  DeviceSpec spec;
  spec.model = p.model;
  spec.pulses = (p.w_max - p.w_min) / p.dw_min;
  spec.reference = -p.w_min / (p.w_max - p.w_min);
  spec.asymmetry = p.asymmetry;
  spec.step_spread = p.step_spread;
  spec.asymmetry_spread = p.asymmetry_spread;
  spec.upper_bound_spread = p.upper_bound_spread;
  spec.lower_bound_spread = p.lower_bound_spread;
  spec.update_noise = p.update_noise;
  spec.update = PulseMode::pulsed;
  spec.shape = std::move(shape);
  return spec;
}

const std::string window = " Window in siemens: not in the source, our default.";
const std::string fit = "; fit: IBM aihwkit 1.1.0 (MIT licence), preset ";

}  // namespace

const std::vector<DevicePreset>& device_presets() {
  static const std::vector<DevicePreset> presets = {
      {"reram_es", "HfO2 ReRAM, exponential step",
       "Gong et al., Nat. Commun. 9:2102 (2018), doi:10.1038/s41467-018-04485-1" + fit + "ReRamES",
       "Not modelled: write noise of 75 pulses on top of the stored state." + window,
       spec_of(
           {"exponential_step", 0.00135, 1, -1, 0.2, 0.3, 0.3, 0.05, 5.0, 0.259359},
           {{"A_up", -1.18445}, {"A_down", -0.081404}, {"gamma_up", 5}, {"gamma_down", 5}, {"a", -0.5}, {"b", -0.5}})},
      {"reram_sb", "HfO2 ReRAM, soft bounds (looser fit of the same data)",
       "Gong et al., Nat. Commun. 9:2102 (2018), doi:10.1038/s41467-018-04485-1" + fit + "ReRamSB",
       "Not modelled: write noise of 56 pulses on top of the stored state; the source adds update noise of the same "
       "size "
       "everywhere, here it shrinks with the step. The source shifts each device to its symmetry point by a reference "
       "device; here the two devices of a pair do that for the mean." +
           window,
       spec_of({"soft_bounds", 0.002, 1.25, -0.75, 0.3, 0.24, 0.40, 0.01, 3.75, 0})},
      {"capacitor", "14 nm trench capacitor cell, linear step",
       "Li et al., VLSI 2018 (IEEE 8510648)" + fit + "Capacitor",
       "Not modelled: leak with a lifetime of 1e6 minibatches (spread 0.3), device-to-device spread 0.01 of gamma." +
           window,
       spec_of({"linear_step", 0.005, 1, -1, 0.1, 0.07, 0.07, 0.06, 0.3, 0},
               {{"gamma_up", 0.05}, {"gamma_down", 0.05}})},
      {"ecram", "Li/WO3 electrochemical RAM, linear step", "Tang et al., IEDM 2018 (IEEE 8614551)" + fit + "EcRam",
       "Not modelled: device-to-device spread 0.05 of gamma." + window,
       spec_of({"linear_step", 0.002, 1.1724, -0.8276, 0.1, 0.05, 0.05, 0.01, 0.3, 0},
               {{"gamma_up", 0.1153}, {"gamma_down", 0.5085}})},
      {"ecram_mo", "metal-oxide electrochemical RAM, linear step",
       "Kim et al., IEDM 2019 (IEEE 8993463)" + fit + "EcRamMO",
       "Not modelled: device-to-device spread of gamma." + window,
       spec_of({"linear_step", 2.8214e-4, 1.1714, -0.8286, 0.1, 0.05, 0.05, 0.01, 2.0, 0},
               {{"gamma_up", 0.4152}, {"gamma_down", 0.7342}})},
      {"idealized", "idealised symmetric device with fine pulses",
       "Rasch, Gokmen and Haensch, IEEE Design & Test (2019), arXiv:1906.02698" + fit + "Idealized",
       "A requirement, not a measured device." + window,
       spec_of({"constant_step", 0.0002, 1, -1, 0.3, 0.3, 0.3, 0, 0.3, 0})},
      {"gokmen_vlasov", "resistive processing unit specification",
       "Gokmen and Vlasov, Front. Neurosci. 10:333 (2016), doi:10.3389/fnins.2016.00333" + fit + "GokmenVlasov",
       "A requirement, not a measured device. The sources disagree: dw_min 0.0016 gives 1250 pulses, the text of the "
       "fit "
       "says 1200; dw_min is used." +
           window,
       spec_of({"constant_step", 0.0016, 1, -1, 0.3, 0.3, 0.3, 0.01, 0.3, 0})},
  };
  return presets;
}

const DevicePreset& device_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const DevicePreset& preset : device_presets()) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  throw UserError("device preset \"" + name + "\" does not exist: " + did_you_mean(name, names));
}

}  // namespace nudge
