// SPDX-License-Identifier: Apache-2.0
#include "training/data/series.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/io/descriptor.hpp"
#include "training/data/cut_series.hpp"
#include "training/data/data_options.hpp"
#include "training/data/readers/readers.hpp"
#include "training/data/sample_task.hpp"

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
  if (!options.file.empty()) {
    return read_matrix_file(options.file, "series", EmptyFields::refused, {options.columns, "series.columns"}).values;
  }
  for (const Generator& one : generators()) {
    if (one.name != options.kind) continue;
    const std::vector<double> values = one.make(options.length, options.seed);
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Index>(values.size()));
  }
  throw UserError(fmt::format("series.kind = \"{}\" is unknown", options.kind));  // its choices are checked before
}

const Section<SeriesOptions>& series_section() {
  using param::choice, param::integer, param::path, param::text;
  static const Section<SeriesOptions> section = {
      field(path("series.file", "",
                 "Series to forecast, relative to the working directory: CSV or npy, a row per time step, a column "
                 "per variable. Each variable is forecast from its own past. Empty: a generated series."),
            &SeriesOptions::file),
      field(text("series.columns", "",
                 "Columns of series.file to forecast, by the names of its header: \"a,b\". The others are left aside "
                 "and may hold text, such as dates. Empty: all columns."),
            &SeriesOptions::columns),
      field(choice("series.kind", "seasonal", series_names(),
                   "The generated series. seasonal: a daily and a weekly cycle with correlated noise (the least "
                   "error is known). mackey_glass: the chaotic equation with a delay of 17.",
                   "Mackey and Glass, Science 197:287, 1977"),
            &SeriesOptions::kind),
      field(integer("series.length", "10000", between(100, 10000000), "Its steps of time."), &SeriesOptions::length),
      field(integer("series.seed", "1", at_least(0),
                    "Seed of its noise or of its history. It is not the seed of the run: runs of different seeds "
                    "learn the same series."),
            &SeriesOptions::seed),
      field(integer("series.patch", "8", between(1, 4096),
                    "Values in one row of model.tokens, or in one frame of task.kind = series (a patch of Nie et al., "
                    "arXiv:2211.14730)."),
            &SeriesOptions::patch),
      field(integer("series.horizon", "4", between(1, 65536),
                    "Rows whose values are forecast from those before: the last of model.tokens, or those after the "
                    "frames of task.kind = series."),
            &SeriesOptions::horizon)};
  return section;
}

namespace {

constexpr Index kMostReferenceWindows = 16384;  // that the linear model is fitted to: 22 MB of 336 values each

class ForecastingTask final : public Task {
 public:
  explicit ForecastingTask(const Config& config)
      : options_(series_options(config)),
        held_out_(held_out_sizes(config)),
        batch_(held_out_.validation_size),
        tokens_(static_cast<Index>(config.integer("model.tokens"))),
        seed_(run_seed(config)) {
    check_forecasting_task(config);
    cut_ = cut_series(config, known(), unknown());
  }

  TaskSizes sizes() const override { return {tokens_, 0, 0, options_.patch + 1, options_.patch}; }
  std::int64_t fingerprint() const override {
    return static_cast<std::int64_t>(
        fnv_1a(std::as_bytes(std::span(cut_.series.data(), static_cast<std::size_t>(cut_.series.size())))));
  }

  /// Draws windows with replacement, like those of a text: number b of a step is a pure function of (seed, step, b).
  Batch training(std::uint64_t step) const override {
    Batch batch = blank(batch_);
    const RngKey key{seed_, Purpose::batch_order};
    for (Index b = 0; b < batch_; ++b) {
      const auto windows = static_cast<std::uint64_t>(cut_.training.count * cut_.series.cols());
      write(cut_.training, static_cast<Index>(random_below(windows, key, step, 0, static_cast<std::uint32_t>(b))),
            batch, b);
    }
    return batch;
  }
  std::vector<Batch> validation() const override {
    return spread(cut_.validation, held_out_.validation_batches, held_out_.validation_size);
  }
  std::vector<Batch> test() const override { return spread(cut_.test, held_out_.test_batches, held_out_.test_size); }

  /// Reference scores of forecasts of the vector of all unknown values from the vector of all known ones: mean, and the
  /// linear model NLinear. A loss is that of a row.
  std::optional<ReferenceScores> references(const ReferenceRequest& request) const override {
    if (request.off()) return std::nullopt;
    SampleParts parts;
    parts.training =
        samples(spread(cut_.training, 1, std::min(kMostReferenceWindows, cut_.training.count * cut_.series.cols())));
    parts.validation = samples(validation());
    parts.test = samples(test());
    ReferenceScores out = regression_references(parts, request);
    for (ReferenceScore& row : out.rows) row.loss /= static_cast<double>(options_.horizon);
    return out;
  }

 private:
  Index known() const { return (tokens_ - options_.horizon) * options_.patch; }
  Index unknown() const { return options_.horizon * options_.patch; }

  Batch blank(Index examples) const {
    Batch batch{examples, tokens_, {}, {}};
    batch.features = Matrix<float>::Zero(examples * tokens_, options_.patch + 1);
    batch.values = Matrix<float>::Zero(examples * tokens_, options_.patch);
    batch.ignored.assign(static_cast<std::size_t>(examples * tokens_), true);
    return batch;
  }

  /// Writes window `number` of a part into example b: its variable runs fastest.
  void write(const CutSeries::Starts& part, Index number, Batch& into, Index b) const {
    const Index variable = number % cut_.series.cols(), at = part.begin + number / cut_.series.cols();
    const float last = cut_.series(at - 1, variable);
    for (Index t = 0; t < tokens_; ++t) {
      const Index row = b * tokens_ + t, begin = at - known() + t * options_.patch;
      const bool is_known = begin < at;
      auto to = is_known ? into.features.row(row).head(options_.patch) : into.values.row(row).head(options_.patch);
      to = cut_.series.col(variable).segment(begin, options_.patch).transpose().array() - last;
      into.features(row, options_.patch) = is_known ? 0.0F : 1.0F;
      into.ignored[static_cast<std::size_t>(row)] = is_known;
    }
  }

  /// Batches of windows evenly spaced over the part, with every variable in turn.
  std::vector<Batch> spread(const CutSeries::Starts& part, Index batches, Index examples) const {
    std::vector<Batch> out;
    const Index windows = part.count * cut_.series.cols(), asked = batches * examples;
    for (Index i = 0; i < batches && windows > 0; ++i) {
      Batch batch = blank(examples);
      for (Index b = 0; b < examples; ++b) {
        const Index place = i * examples + b, start = place * part.count / asked;
        write(part, start * cut_.series.cols() + place % cut_.series.cols(), batch, b);
      }
      out.push_back(std::move(batch));
    }
    return out;
  }

  /// Converts windows to samples: all known values of a window as features, all unknown ones as values.
  Samples samples(const std::vector<Batch>& batches) const {
    Index n = 0;
    for (const Batch& batch : batches) n += batch.sequences;
    Samples out{Matrix<float>(n, known()), {}, Matrix<float>(n, unknown())};
    Index at = 0;
    for (const Batch& batch : batches) {
      for (Index b = 0; b < batch.sequences; ++b, ++at) {
        const auto features = batch.features_of(b);
        const auto values = batch.values_of(b);
        for (Index i = 0; i < known(); ++i) out.features(at, i) = features(i / options_.patch, i % options_.patch);
        const Index first = tokens_ - options_.horizon;
        for (Index i = 0; i < unknown(); ++i)
          out.values(at, i) = values(first + i / options_.patch, i % options_.patch);
      }
    }
    return out;
  }

  SeriesOptions options_;
  HeldOutSizes held_out_;
  Index batch_, tokens_;
  std::uint64_t seed_;
  CutSeries cut_;
};

}  // namespace

std::unique_ptr<Task> forecasting_task(const Config& config) { return std::make_unique<ForecastingTask>(config); }

void check_forecasting_task(const Config& config) {
  const SeriesOptions options = series_options(config);
  expect_beside("series.columns", options.columns, "series.file", options.file);
  const Index tokens = static_cast<Index>(config.integer("model.tokens")), horizon = options.horizon;
  if (tokens > horizon) return;
  throw UserError(fmt::format("series.horizon = {} (must be below model.tokens = {}: rows that are known come first)",
                              horizon, tokens));
}

}  // namespace nudge
