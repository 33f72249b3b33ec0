// SPDX-License-Identifier: Apache-2.0
#include "training/train/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/characters.hpp"
#include "training/train/trainee.hpp"

namespace nudge {
namespace {

/// The noise of a read is named by the seed and the number of the character, together below 2³² (circuits/crossbar/read_noise.cpp).
constexpr int kMostTokens = (1 << 20) - 1;
constexpr std::uint64_t kLargestSeed = (1U << 12U) - 1;
std::uint64_t read_number(const GenerateOptions& options, int character) {
  return (options.seed << 20U) | static_cast<std::uint64_t>(character);
}

void check(const GenerateOptions& options) {
  if (options.tokens < 1 || options.tokens > kMostTokens) {
    throw UserError(fmt::format("tokens = {} (must be in [1, {}])", options.tokens, kMostTokens));
  }
  if (options.seed > kLargestSeed)
    throw UserError(fmt::format("seed = {} (must be at most {})", options.seed, kLargestSeed));
  if (!(options.temperature >= 0 && std::isfinite(options.temperature))) {
    throw UserError(fmt::format("temperature = {} (must be finite and at least 0)", options.temperature));
  }
}

std::vector<int> beginning(const TextDataset& data, const std::string& prompt) {
  if (!prompt.empty()) return data.encode(prompt);
  const auto& all = data.vocabulary();
  const auto line = std::find(all.begin(), all.end(), U'\n');
  return {line == all.end() ? 0 : static_cast<int>(line - all.begin())};
}

/// ln p of every character at a temperature; 0: 0 for the most probable one, −∞ for the others.
std::vector<double> log_shares(const std::vector<double>& logits, double temperature) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares(logits.size());
  if (temperature == 0) {
    const auto first = std::find(logits.begin(), logits.end(), top);
    std::fill(shares.begin(), shares.end(), -std::numeric_limits<double>::infinity());
    shares[static_cast<std::size_t>(first - logits.begin())] = 0;
    return shares;
  }
  double sum = 0;
  for (const double logit : logits) sum += std::exp((logit - top) / temperature);
  for (std::size_t i = 0; i < logits.size(); ++i) shares[i] = (logits[i] - top) / temperature - std::log(sum);
  return shares;
}

/// The character at u of the cumulative shares, u in [0, 1).
int drawn(const std::vector<double>& log_shares, double u) {
  double sum = 0;
  int last = 0;
  for (std::size_t i = 0; i < log_shares.size(); ++i) {
    const double share = std::exp(log_shares[i]);
    if (share == 0) continue;
    last = static_cast<int>(i);
    sum += share;
    if (u < sum) break;
  }
  return last;
}

template <class S>
class Writer {
 public:
  Writer(const Config& config, const RunParts& parts, const H5Reader& file)
      : trainee_(config, parts.plan, "", Weights::configured), rows_(parts.plan->rows()) {
    trainee_.restore(file, "");
  }

  /// Logits of what follows the text, whose noise is that of read number `step`.
  std::vector<double> next(const std::vector<int>& text, std::uint64_t step) {
    const auto known = std::min<Index>(rows_, static_cast<Index>(text.size()));
    Batch batch;
    batch.sequences = 1;
    batch.tokens = rows_;
    batch.indices.assign(text.end() - known, text.end());
    batch.indices.resize(static_cast<std::size_t>(rows_), text.back());
    batch.targets.assign(static_cast<std::size_t>(rows_), Batch::kIgnored);
    batch.targets[static_cast<std::size_t>(known - 1)] = 0;  // the cost reads it; its value is not looked at
    const Matrix<S>& logits = trainee_.outputs(batch, step).front();
    std::vector<double> row(static_cast<std::size_t>(logits.cols()));
    for (Index i = 0; i < logits.cols(); ++i)
      row[static_cast<std::size_t>(i)] = static_cast<double>(logits(known - 1, i));
    if (!std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); })) {
      throw NumericalFailure(
          fmt::format("the read-out of character {} is not finite: the network runs away", text.size() + 1));
    }
    return row;
  }

 private:
  Trainee<S> trainee_;
  Index rows_;
};

template <class S>
Generated written(const Config& config, const RunParts& parts, const H5Reader& file, const TextDataset& data,
                  const GenerateOptions& options, const std::function<bool(const std::string&)>& tell) {
  std::vector<int> text = beginning(data, options.prompt);
  const std::size_t given = text.size();
  Writer<S> writer(config, parts, file);
  Generated out{options.prompt, "", 0};
  std::vector<double> place(static_cast<std::size_t>(options.tokens));
  fill_uniform<double>({options.seed, Purpose::generation, 0}, 0, 0, std::span<double>(place));
  for (int n = 0; n < options.tokens; ++n) {
    const std::vector<double> logits = writer.next(text, read_number(options, n));
    const int chosen = drawn(log_shares(logits, options.temperature), place[static_cast<std::size_t>(n)]);
    out.negative_log_likelihood -= log_shares(logits, 1)[static_cast<std::size_t>(chosen)];
    text.push_back(chosen);
    if (tell && !tell(data.decode({&chosen, 1}))) break;
  }
  const std::span<const int> added = std::span<const int>(text).subspan(given);
  out.text = data.decode(added);
  out.negative_log_likelihood /= static_cast<double>(added.size());
  return out;
}

}  // namespace

Generated generate(const std::filesystem::path& run, const GenerateOptions& options,
                   const std::function<bool(const std::string&)>& tell) {
  check(options);
  const H5Reader file(run);
  if (const std::string kind = file.text_attribute("kind"); kind != "train") {
    file.fail("attribute kind", fmt::format("\"{}\" (only a file of kind \"train\" has a network that writes)", kind));
  }
  const Config config = stored_program_config(file);
  const RunParts parts = run_parts(config);
  const auto* characters = dynamic_cast<const CharacterTask*>(parts.task.get());
  if (characters == nullptr) {
    throw UserError(fmt::format("{}: its task.kind = {} is no text (must be characters)", run.string(),
                                config.as_text("task.kind")));
  }
  return run_options(config).twofold() ? written<double>(config, parts, file, characters->data(), options, tell)
                                       : written<float>(config, parts, file, characters->data(), options, tell);
}

}  // namespace nudge
