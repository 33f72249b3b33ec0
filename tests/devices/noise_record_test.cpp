// SPDX-License-Identifier: Apache-2.0
// What the noise record of `devices characterize` says of processes whose spectra are known.
#include "devices/characterize/characterize.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "devices/presets.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

CharacterizeOptions options(Index devices, int samples, double interval_s) {
  CharacterizeOptions o;
  o.devices = devices;
  o.samples = samples;
  o.interval_s = interval_s;
  return o;
}

DeviceSpec device() {
  DeviceSpec spec;
  spec.model = "constant_step";
  return spec;
}

/// Slope over the band of a spectrum that is known, as the record fits it.
template <class Spectrum>
double slope_of(const NoiseRecord& record, Spectrum spectrum) {
  std::vector<double> s;
  for (const double f : record.frequency_Hz) s.push_back(spectrum(f));
  return log_slope(record.frequency_Hz, s);
}

}  // namespace

TEST_CASE("noise record: 1/f noise has slope -1 and its Q, whatever is faster and slower than the looks",
          "[devices][statistics]") {
  for (const double interval : {1e-3, 1e-2}) {
    DeviceSpec spec = device();
    spec.flicker.noise = 0.01;
    spec.flicker.fastest_s = 1e-7;
    spec.flicker.slowest_s = 1e4;
    const NoiseRecord r = noise_record(spec, options(200, 1024, interval));
    CHECK(r.kind == SpectrumKind::one_over_f);
    CHECK(r.frequency_Hz.front() == Approx(4 / (1024 * interval)));
    CHECK(r.frequency_Hz.back() == Approx(1 / (8 * interval)));
    // 36 points over 3.5 e-folds, each of 200 periodograms (7 %; the window shares a third with its neighbours):
    // 0.07 √1.5/(√36 1.0) = 0.014, three times that; the ripple of the process, ±5.5 % with a period of one decade, over
    // 1.5 decades at most 0.055 · 0.6 = 0.03; what folds back: at most +5 % at the upper end, 0.02.
    CHECK(std::abs(r.slope + 1) < 0.042 + 0.03 + 0.02);
    // Level: 7 %/√24 · 3 of Q², the ripple 5.5 %, folding 2 % on average, the window 2 %: half of it for Q.
    CHECK(r.q == Approx(0.01).epsilon(0.5 * (0.043 + 0.055 + 0.02 + 0.02)));
  }
}

TEST_CASE("noise record: telegraph noise is a Lorentzian and not 1/f", "[devices][statistics]") {
  DeviceSpec spec = device();
  // Corner 1/(2 pi tau) = 20 Hz within the band of 3.9 to 125 Hz.
  const double tau = 1 / (2 * M_PI * 20);
  spec.telegraph = {1, 0.02, 0, 2 * tau, 2 * tau, 0};
  const NoiseRecord r = noise_record(spec, options(200, 1024, 1e-3));
  CHECK(r.kind == SpectrumKind::other);
  const auto lorentzian = [&](double f) {
    return 4 * 0.02 * 0.02 * 0.25 * tau / (1 + std::pow(2 * M_PI * f * tau, 2));
  };
  // As above 0.042 of scatter; folding of a slope of −2 beyond the looks is negligible (64 of them per interval), the
  // window raises the upper end by (1/(4 · 128))² · 2, nothing.
  CHECK(std::abs(r.slope - slope_of(r, lorentzian)) < 0.05);
  CHECK(std::abs(r.lower_slope - r.upper_slope) > 1);
  double ratio = 0;
  for (std::size_t k = 0; k < r.frequency_Hz.size(); ++k) {
    ratio += r.spectrum_Hz[k] / lorentzian(r.frequency_Hz[k]) / static_cast<double>(r.frequency_Hz.size());
  }
  CHECK(ratio == Approx(1).epsilon(0.06));  // 7 % of √24 independent points, three times
}

TEST_CASE("noise record: decay and drift without noise are a trend, not 1/f", "[devices]") {
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    DeviceSpec spec = device();
    spec.retention.drift_start_s = spec.retention.decay_start_s = 1e-3;
    if (kind == 0) spec.retention.drift_exponent = 0.1;
    if (kind == 1) spec.retention.decay_slope_S = -1e-7, spec.retention.decay_spread_slope_S = 1e-7;
    if (kind == 2) spec.retention.drift_exponent = 0;
    const NoiseRecord r = noise_record(spec, options(50, 256, 1e-3));
    CHECK(r.kind == SpectrumKind::none);
    CHECK(r.slow_std == 0);
    CHECK(r.frequency_Hz.empty());
    // nu T/t of the drift at t = 1000 T.
    if (kind == 0) CHECK(r.trend == Approx(0.1 / 1000).epsilon(1e-2));
    if (kind == 2) CHECK(r.trend < 1e-15);
  }
  // With a little telegraph noise on top it is seen.
  DeviceSpec spec = device();
  spec.retention.drift_exponent = 0.1;
  spec.telegraph = {1, 1e-4, 0, 1e-2, 1e-2, 0};
  CHECK(noise_record(spec, options(50, 256, 1e-3)).kind == SpectrumKind::other);
}

TEST_CASE("noise record: presets with 1/f noise in their source show it, those without do not", "[devices]") {
  for (const char* name : {"pcm", "hermes_1", "hermes_2"}) {
    CAPTURE(name);
    const DeviceSpec& spec = device_preset(name).spec;
    const CharacterizeOptions o = options(100, 512, 1e-3);
    const Characterization c = [&] {
      Characterization all{spec, o, {}, {}, {}, {}, {}};
      all.noise = noise_record(spec, o);
      return all;
    }();
    CHECK(c.noise.kind == SpectrumKind::one_over_f);
  }
  for (const char* name : {"cmo_hfox_0.2", "cmo_hfox_2", "ecram", "taox_hfox", "rram_wan_1s"}) {
    CAPTURE(name);
    CHECK(noise_record(device_preset(name).spec, options(50, 256, 1e-3)).kind == SpectrumKind::none);
  }
  const CharacterizeOptions o = options(20, 64, 1e-3);
  CHECK_THAT(summary_text(characterize(device_preset("cmo_hfox_2").spec, o), "cmo"),
             Contains("no 1/f found above the floor"));
  CHECK_THAT(summary_json(characterize(device_preset("cmo_hfox_2").spec, o), "cmo"),
             Contains("\"spectrum\": \"none\""));
}
