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
#include "training/train/equilibrium_run.hpp"
#include "training/train/tape_run.hpp"

namespace nudge {
namespace {

/// Most characters: the seed and the number of the character name the noise of a read, together below 2³²
/// (circuits/crossbar/read_noise.cpp).
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

/// Computes ln p of every character at a temperature; 0: 0 for the most probable one, −∞ for the others.
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

/// Picks the character at u of the cumulative shares, u in [0, 1).
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

/// Writer by a circuit on its devices.
template <class S>
class CircuitWriter final : public TextWriter {
 public:
  CircuitWriter(const Config& config, const std::shared_ptr<const NetworkPlan>& plan, const H5Reader& file)
      : run_(config, plan, "", Weights::configured), rows_(plan->rows()) {
    run_.restore(file, "");
  }
  std::vector<double> next(const std::vector<int>& text, std::uint64_t number) override {
    return last_logits(run_.outputs(text_window(text, rows_), number).front(), text);
  }

 private:
  EquilibriumRun<S> run_;
  Index rows_;
};

/// Writer by a network on a tape.
template <class S>
class TapeWriter final : public TextWriter {
 public:
  TapeWriter(const Config& config, const TaskSizes& sizes, const H5Reader& file, const WriterOptions& options)
      : learner_(config, sizes) {
    learner_.restore(file, "");
    writer_ = learner_.model().writer(learner_.parameters(), options);
    NUDGE_EXPECT(writer_ != nullptr);  // what takes a text
  }
  std::vector<double> next(const std::vector<int>& text, std::uint64_t number) override {
    return writer_->next(text, number);
  }

 private:
  TapeRun<S> learner_;
  std::unique_ptr<TextWriter> writer_;
};

template <class S>
std::unique_ptr<TextWriter> make_writer(const Config& config, const RunParts& parts, const H5Reader& file,
                                        const WriterOptions& options) {
  if (parts.plan == nullptr) return std::make_unique<TapeWriter<S>>(config, parts.task->sizes(), file, options);
  if (options.prefill) {
    throw UserError(
        fmt::format("--prefill: network.kind = {} has no latents (free_transformer has)", config.text("network.kind")));
  }
  return std::make_unique<CircuitWriter<S>>(config, parts.plan, file);
}

/// Continues options.prompt by a network in the precision S. file: the run with its weights; data: the vocabulary;
/// tell: may end the text.
template <class S>
Generated written(const Config& config, const RunParts& parts, const H5Reader& file, const TextDataset& data,
                  const GenerateOptions& options, const std::function<bool(const std::string&)>& tell) {
  std::vector<int> text = beginning(data, options.prompt);
  const std::size_t given = text.size();
  const auto writer = make_writer<S>(config, parts, file, {text, options.tokens, options.prefill, options.seed});
  Generated out{options.prompt, "", 0};
  std::vector<double> place(static_cast<std::size_t>(options.tokens));
  fill_uniform<double>({options.seed, Purpose::generation, 0}, 0, 0, std::span<double>(place));
  for (int n = 0; n < options.tokens; ++n) {
    const std::vector<double> logits = writer->next(text, read_number(options, n));
    if (!std::all_of(logits.begin(), logits.end(), [](double x) { return std::isfinite(x); })) {
      throw NumericalFailure(
          fmt::format("the read-out of character {} is not finite: the network diverges. Train it anew with a smaller "
                      "train.learning_rate",
                      text.size() + 1));
    }
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
  expect_kind(file, "train", "has a network that writes");
  const Config config = stored_program_config(file);
  const RunParts parts = run_parts(config);
  const auto* characters = dynamic_cast<const CharacterTask*>(parts.task.get());
  if (characters == nullptr) {
    throw UserError(fmt::format("{}: its task.kind = {} is not a text (must be characters)", run.string(),
                                config.as_text("task.kind")));
  }
  return run_options(config).double_precision()
             ? written<double>(config, parts, file, characters->data(), options, tell)
             : written<float>(config, parts, file, characters->data(), options, tell);
}

}  // namespace nudge
