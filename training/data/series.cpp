// SPDX-License-Identifier: Apache-2.0
#include "training/data/series.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

constexpr double kMemory = 0.7, kNoise = 0.3;              // φ and σ of seasonal()
constexpr Index kDelay = 17, kTransient = 1000;            // units of time; the second is left out
constexpr int kStepsPerUnit = 20;                          // a step's error of about 1e-5 beside values near 1
constexpr std::uint32_t kSeasonalNoise = 3, kHistory = 4;  // entities of the random streams

RngKey stream(std::uint64_t seed, std::uint32_t entity) { return {seed, Purpose::synthetic_data, entity}; }

struct Generator {
  const char* name;
  std::vector<double> (*make)(Index length, std::uint64_t seed);
};

/// Makes a series from another history for each seed: chaos makes another series of it.
std::vector<double> mackey_glass_of(Index length, std::uint64_t seed) {
  double normal = 0;
  fill_normal<double>(stream(seed, kHistory), 0, 0, std::span(&normal, 1));
  const std::vector<double> all = mackey_glass(1.2 + 0.1 * std::tanh(normal), length + kTransient, kStepsPerUnit);
  return {all.begin() + kTransient, all.end()};
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> all = {{"seasonal", seasonal}, {"mackey_glass", mackey_glass_of}};
  return all;
}

}  // namespace

std::vector<std::string> series_names() {
  std::vector<std::string> names;
  for (const Generator& one : generators()) names.emplace_back(one.name);
  return names;
}

std::vector<double> mackey_glass(double history, Index length, int steps) {
  NUDGE_EXPECT(length > 0 && steps > 0);
  const double h = 1.0 / steps;
  const Index delay = kDelay * steps;
  const auto change = [](double x, double late) { return 0.2 * late / (1 + std::pow(late, 10)) - 0.1 * x; };
  std::vector<double> fine = {history};
  fine.reserve(static_cast<std::size_t>((length - 1) * steps + 1));
  const auto late = [&](Index n) { return n < delay ? history : fine[static_cast<std::size_t>(n - delay)]; };
  for (Index n = 0; n < (length - 1) * steps; ++n) {
    const double x = fine.back(), first = change(x, late(n));
    fine.push_back(x + h / 2 * (first + change(x + h * first, late(n + 1))));
  }
  std::vector<double> out;
  for (Index t = 0; t < length; ++t) out.push_back(fine[static_cast<std::size_t>(t * steps)]);
  return out;
}

std::vector<double> seasonal(Index length, std::uint64_t seed) {
  NUDGE_EXPECT(length > 0);
  std::vector<double> normal(static_cast<std::size_t>(length));
  fill_normal<double>(stream(seed, kSeasonalNoise), 0, 0, normal);
  std::vector<double> out;
  double noise = kNoise / std::sqrt(1 - kMemory * kMemory) * normal[0];
  for (Index t = 0; t < length; ++t) {
    if (t > 0) noise = kMemory * noise + kNoise * normal[static_cast<std::size_t>(t)];
    const double angle = 2 * std::numbers::pi * static_cast<double>(t);
    out.push_back(std::sin(angle / 24) + std::sin(angle / 168) / 2 + noise);
  }
  return out;
}

double seasonal_floor(Index ahead) {
  return kNoise * kNoise * (1 - std::pow(kMemory, 2.0 * static_cast<double>(ahead))) / (1 - kMemory * kMemory);
}

Matrix<double> read_series(const SeriesOptions& options) {
  if (!options.file.empty()) return read_matrix_file(options.file, "series").values;
  for (const Generator& one : generators()) {
    if (one.name != options.kind) continue;
    const std::vector<double> values = one.make(options.length, options.seed);
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Index>(values.size()));
  }
  throw UserError(fmt::format("series.kind = \"{}\" is unknown", options.kind));  // its choices are checked before
}

const Section<SeriesOptions>& series_section() {
  using param::choice;
  using param::integer;
  using param::path;
  static const Section<SeriesOptions> section = {
      field(path("series.file", "",
                 "Series to forecast, relative to the working directory: CSV or npy, a row per step of time, a column "
                 "per variable, each of which is forecast from its own past. Empty: one that is generated."),
            &SeriesOptions::file),
      field(
          choice(
              "series.kind", "seasonal", series_names(),
              "What is generated. seasonal: a day's and a week's course with noise that remembers (the least error is "
              "known); mackey_glass: the chaotic equation with a delay of 17.",
              "Mackey and Glass, Science 197:287, 1977"),
          &SeriesOptions::kind),
      field(integer("series.length", "10000", between(100, 10000000), "Its steps of time."), &SeriesOptions::length),
      field(integer("series.seed", "1", at_least(0),
                    "Its noise, or its history. Not the run's seed: runs of different seeds learn the same series."),
            &SeriesOptions::seed),
      field(integer("series.patch", "8", between(1, 4096),
                    "Values that make one row of model.tokens (a patch of Nie et al., arXiv:2211.14730)."),
            &SeriesOptions::patch),
      field(integer("series.horizon", "4", between(1, 65536),
                    "Rows, the last of model.tokens, whose values are forecast from those before."),
            &SeriesOptions::horizon)};
  return section;
}

}  // namespace nudge
