// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "devices/device_config.hpp"
#include "devices/fit/long_table.hpp"

namespace nudge {
namespace {

constexpr double same_interval = 0.01;
constexpr double running_times = 8;  // τ_c of the running mean: slower noise is off
constexpr double most_skewed = 0.9;  // |1 − 2p|

double mean_of(const std::vector<double>& x) {
  double mean = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  return mean;
}

/// Third central moment about the running mean over `width` samples, from the samples that have a whole running mean.
double third_moment(const std::vector<double>& x, std::size_t width) {
  if (width >= x.size()) width = x.size() - 1;
  const double mean = mean_of(x);
  std::vector<double> sums(x.size() + 1);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i + 1] = sums[i] + (x[i] - mean);
  std::vector<double> rest;
  for (std::size_t i = 0; i + width <= x.size(); ++i) {
    rest.push_back(x[i + width / 2] - mean - (sums[i + width] - sums[i]) / static_cast<double>(width));
  }
  const double middle = mean_of(rest);
  double third = 0;
  for (const double v : rest) third += std::pow(v - middle, 3) / static_cast<double>(rest.size());
  return third;
}

/// Share of the third moment of a two-valued Markov process that third_moment() sees with a window of w τ_c. As d² = p(1 − p)
/// + (1 − 2p) d, three times have the moment m₃ exp(−(latest − earliest)/τ_c). The moment of d minus its mean over the window
/// follows by expanding the cube.
double third_share(double w) {
  constexpr int points = 40;
  std::array<double, points> at{};
  for (int i = 0; i < points; ++i) at[static_cast<std::size_t>(i)] = w * ((i + 0.5) / points - 0.5);
  const auto moment = [](double a, double b, double c) { return std::exp(std::min({a, b, c}) - std::max({a, b, c})); };
  double one = 0;
  double two = 0;
  double three = 0;
  for (const double a : at) {
    one += moment(a, 0, 0) / points;
    for (const double b : at) {
      two += moment(a, b, 0) / (points * points);
      for (const double c : at) three += moment(a, b, c) / (points * points * points);
    }
  }
  return 1 - 3 * one + 3 * two - three;
}

/// Probability p for which (1 − 2p)/√(p(1 − p)) = skewness r: with d = 1 − 2p that is 2d/√(1 − d²), so d = r/√(4 + r²).
double share_high_of(double skewness) {
  const double d = skewness / std::sqrt(4 + skewness * skewness);
  return (1 - std::clamp(d, -most_skewed, most_skewed)) / 2;
}

TrapValues trap_of(const std::vector<const ReadRecord*>& records, const NoiseModel& model, double level_S) {
  if (!model.has_trap()) return {0, 1, 1};
  const double tau = model.trap_s.value;
  const double sigma = model.trap_sigma.value;
  const auto width = static_cast<std::size_t>(std::ceil(running_times * tau / model.interval_s)) + 2;
  double third = 0;
  for (const ReadRecord* r : records) {
    third += third_moment(r->conductance_S, width) / static_cast<double>(records.size());
  }
  const double p = share_high_of(third / (third_share(running_times) * sigma * sigma * sigma));
  return {sigma / std::sqrt(p * (1 - p)) / level_S, tau / (1 - p), tau / p};
}

struct Frame {
  double interval_s = 0;
  std::vector<double> times_s = {};
};

Frame frame_of(const std::vector<ReadRecord>& records) {
  Frame frame{records.front().interval_s, {}};
  double longest = 0;
  for (const ReadRecord& r : records) {
    if (std::abs(r.interval_s / frame.interval_s - 1) > same_interval) {
      csv_fail(r.where, fmt::format("reads are {:g} s apart, those of {} {:g} s (one rate is needed)", r.interval_s,
                                    records.front().where, frame.interval_s));
    }
    longest = std::max(longest, r.interval_s * static_cast<double>(r.conductance_S.size()));
  }
  frame.times_s = noise_time_constants(frame.interval_s, longest);
  return frame;
}

/// Mean spectrum of cells of one level, over the length of the shortest record.
std::vector<SpectrumBand> mean_spectrum(const std::vector<const ReadRecord*>& records, double interval_s) {
  std::size_t shortest = records.front()->conductance_S.size();
  for (const ReadRecord* r : records) shortest = std::min(shortest, r->conductance_S.size());
  std::vector<SpectrumBand> mean;
  for (const ReadRecord* r : records) {
    const std::vector<double> reads(r->conductance_S.begin(),
                                    r->conductance_S.begin() + static_cast<std::ptrdiff_t>(shortest));
    const std::vector<SpectrumBand> own = banded_spectrum(reads, interval_s);
    if (mean.empty()) mean = own;
    for (std::size_t b = 0; b < own.size() && r != records.front(); ++b) {
      mean[b].psd += own[b].psd;
      mean[b].values += own[b].values;
    }
  }
  for (SpectrumBand& band : mean) band.psd /= static_cast<double>(records.size());
  return mean;
}

void add_level(const std::vector<const ReadRecord*>& records, const Frame& frame, NoiseFit& fit) {
  NoiseLevel level;
  level.cells = records.size();
  for (const ReadRecord* r : records) {
    level.level_S += mean_of(r->conductance_S) / static_cast<double>(records.size());
    level.reads += r->conductance_S.size();
  }
  if (!(level.level_S > 0)) csv_fail(records.front()->where, "the mean of these reads is not above 0 S");
  const std::vector<SpectrumBand> bands = mean_spectrum(records, frame.interval_s);
  level.model = fit_noise_model(bands, frame.interval_s, frame.times_s);
  level.trap = trap_of(records, level.model, level.level_S);
  for (const SpectrumBand& band : bands) {
    fit.rows.push_back({level.level_S, band.frequency_Hz, band.psd, level.model.psd(band), spectrum_error_dB(band)});
  }
  fit.levels.push_back(std::move(level));
}

/// Fills the times of levels without a trap with those of the nearest level that has one: they only matter between the two.
void fill_times(NoiseTable& table) {
  std::vector<std::size_t> trapped;
  for (std::size_t l = 0; l < table.trap.size(); ++l) {
    if (table.trap[l] > 0) trapped.push_back(l);
  }
  for (std::size_t l = 0; l < table.trap.size(); ++l) {
    const std::size_t nearest = *std::min_element(trapped.begin(), trapped.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(table.level_S[a] - table.level_S[l]) < std::abs(table.level_S[b] - table.level_S[l]);
    });
    table.trap_high_s[l] = table.trap_high_s[nearest];
    table.trap_low_s[l] = table.trap_low_s[nearest];
  }
}

NoiseTable table_of(const std::vector<NoiseLevel>& levels) {
  NoiseTable table;
  bool traps = false;
  for (const NoiseLevel& level : levels) {
    table.level_S.push_back(level.level_S);
    table.white_S.push_back(level.model.white.value);
    table.flicker.push_back(level.model.flicker.value / level.level_S);
    table.exponent.push_back(level.model.exponent.value);
    table.trap.push_back(level.trap.amplitude);
    table.trap_high_s.push_back(level.trap.high_s);
    table.trap_low_s.push_back(level.trap.low_s);
    traps = traps || level.trap.amplitude > 0;
  }
  if (traps) {
    fill_times(table);
  } else {
    table.trap = table.trap_high_s = table.trap_low_s = {};
  }
  return table;
}

NoiseFit fit_records(const std::vector<ReadRecord>& records, const std::string& file) {
  const Frame frame = frame_of(records);
  std::map<double, std::vector<const ReadRecord*>> named;
  for (const ReadRecord& r : records) named[r.level].push_back(&r);
  std::vector<std::vector<const ReadRecord*>> levels;
  for (auto& [name, own] : named) levels.push_back(std::move(own));
  const auto mean = [](const std::vector<const ReadRecord*>& own) {
    double sum = 0;
    for (const ReadRecord* r : own) sum += mean_of(r->conductance_S) / static_cast<double>(own.size());
    return sum;
  };
  std::stable_sort(levels.begin(), levels.end(), [&](const auto& a, const auto& b) { return mean(a) < mean(b); });
  NoiseFit fit;
  fit.interval_s = frame.interval_s;
  fit.fastest_s = frame.times_s.front();
  fit.slowest_s = frame.times_s.back();
  for (const auto& own : levels) add_level(own, frame, fit);
  for (std::size_t l = 1; l < fit.levels.size(); ++l) {
    if (fit.levels[l].level_S <= fit.levels[l - 1].level_S) csv_fail(file, "two levels have the same mean");
  }
  fit.table = table_of(fit.levels);
  return fit;
}

std::string interval(const NoiseEstimate& e, double factor) {
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", factor * e.value, factor * e.low, factor * e.high);
}

std::string numbers_text(const NoiseFit& fit, const std::string& head) {
  std::string out;
  for (const NoiseLevel& l : fit.levels) {
    out += fmt::format("{}{:.3f} uS: white {} uS a read, 1/f^a {} uS at 1 Hz, a {}", head, 1e6 * l.level_S,
                       interval(l.model.white, 1e6), interval(l.model.flicker, 1e6), interval(l.model.exponent, 1));
    if (l.model.has_trap()) {
      out += fmt::format(", a trap of {:.3g} uS: sd {} uS, correlation time {} s", 1e6 * l.trap.amplitude * l.level_S,
                         interval(l.model.trap_sigma, 1e6), interval(l.model.trap_s, 1));
    }
    out += "\n";
  }
  return out;
}

}  // namespace

double NoiseRow::off_dB() const { return 10 * std::log10(psd_model / psd_measured); }

double NoiseFit::worst_dB() const {
  double worst = 0;
  for (const NoiseRow& row : rows) worst = std::max(worst, std::abs(row.off_dB()));
  return worst;
}

NoiseFit fit_noise(const std::string& path, double rate_Hz, TableLook* look) {
  return parse_and_fit_noise(read_table_text(path), path, rate_Hz, look);
}

NoiseFit parse_and_fit_noise(std::string_view text, const std::string& file, double rate_Hz, TableLook* look) {
  TableLook own;
  return fit_records(parse_read_records(text, file, rate_Hz, look != nullptr ? *look : own), file);
}

std::string noise_text(const NoiseFit& fit) {
  std::string out = fmt::format("{} levels, {:g} reads per second (numbers with 95 % intervals)\n", fit.levels.size(),
                                1 / fit.interval_s);
  out += numbers_text(fit, "  ");
  out +=
      fmt::format("{:>9} {:>10} | {:>12} {:>12} | model - measured, standard error\n{:>9} {:>10} | {:>12} {:>12} |\n",
                  "level uS", "f Hz", "uS^2/Hz", "model", "", "", "", "");
  for (const NoiseRow& r : fit.rows) {
    out += fmt::format("{:9.3f} {:10.4g} | {:12.4g} {:12.4g} | {:+.2f} dB, {:.2f} dB\n", 1e6 * r.level_S,
                       r.frequency_Hz, 1e12 * r.psd_measured, 1e12 * r.psd_model, r.off_dB(), r.error_dB);
  }
  return out + fmt::format("largest difference: {:.2f} dB\n", fit.worst_dB());
}

std::string noise_toml(const NoiseFit& fit, const std::string& source) {
  DeviceSpec spec;
  spec.g_min_S = fit.levels.size() > 1 ? fit.levels.front().level_S : 0;
  spec.g_max_S = fit.levels.back().level_S;
  spec.noise = fit.table;
  spec.flicker.fastest_s = fit.fastest_s;
  spec.flicker.slowest_s = fit.slowest_s;
  if (fit.table.has_traps()) spec.telegraph.share = 1;
  std::string out = fmt::format(
      "# Noise of reads fitted to {}, {:g} reads per second; spectra within {:.2f} dB. With 95 % intervals:\n", source,
      1 / fit.interval_s, fit.worst_dB());
  out += numbers_text(fit, "# ");
  if (fit.levels.size() > 1) out += "# g_min and g_max: lowest and highest level\n";
  return out + device_toml(spec);
}

}  // namespace nudge
