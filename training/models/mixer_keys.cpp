// SPDX-License-Identifier: Apache-2.0
#include "training/models/mixer_keys.hpp"

#include <algorithm>
#include <span>

#include "mixers/sequence_mixer.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

constexpr Index kTokens = 6;

Matrix<double> normals(Index rows, Index cols, std::uint32_t stream) {
  Matrix<double> all(rows, cols);
  fill_normal<double>({1, Purpose::probe, stream}, 0, 0,
                      std::span<double>(all.data(), static_cast<std::size_t>(all.size())));
  return all;
}

/// What a run could see of a mixer: its parameters as they start, and what it makes of some tokens.
struct Trial {
  std::vector<std::string> names;
  std::vector<Matrix<double>> numbers;

  bool operator==(const Trial& other) const {
    const auto same = [](const Matrix<double>& a, const Matrix<double>& b) {
      return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
    };
    return names == other.names &&
           std::equal(numbers.begin(), numbers.end(), other.numbers.begin(), other.numbers.end(), same);
  }
};

Trial trial_of(MixerChoice choice) {
  if (choice.window > 0) choice.window = kTokens / 2;  // whatever its width, it may be one
  const MixerSpec spec = mixer_spec(choice);
  Trial trial;
  std::vector<Matrix<double>> weights;
  for (const Field& field : spec.parameters) {
    const auto stream = static_cast<std::uint32_t>(weights.size() + 1);
    trial.names.push_back(field.name);
    trial.numbers.emplace_back(choice.initial_scale * field.deviation * normals(field.rows(), field.cols(), stream) +
                               Matrix<double>::Constant(field.rows(), field.cols(), field.mean));
    // Parameters that start at one number, gains and biases, are not left there.
    weights.emplace_back(trial.numbers.back() + 0.1 * normals(field.rows(), field.cols(), stream + 1000));
  }
  Tape<double> tape;
  std::vector<Value<double>> values;
  for (const Matrix<double>& w : weights) values.push_back(tape.parameter(w));
  trial.numbers.push_back(
      mixed<double>(choice, tape.input(normals(kTokens, choice.options.width, 0)), values).matrix());
  return trial;
}

/// Whether another value of a key would give another mixer, or none: its default, and 1 of a size whose default stands for one that may be
/// what it says.
bool changes(const Config& config, const ParamRow& row, const std::function<MixerChoice(const Config&)>& mixer) {
  std::vector<std::string> values = {row.default_text};
  if (!row.zero.empty()) values.emplace_back("1");
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    Config other = config;
    other.set_from_text(row.key, value);
    try {
      return !(trial_of(mixer(config)) == trial_of(mixer(other)));
    } catch (const UserError&) {
      return true;  // what is wrong with its sizes is said where it is made
    }
  });
}

}  // namespace

MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens) {
  const SequenceMixer mixer = sequence_mixer(name, channels, heads, tokens);
  MixerChoice choice{mixer.kind, mixer.options};
  mixer_section().take_changed(config, choice);
  choice.initial_scale = 1;
  return choice;
}

std::vector<std::string> unread_mixer_keys(const Config& config,
                                           const std::vector<std::function<MixerChoice(const Config&)>>& mixers) {
  std::vector<std::string> unread;
  for (const ParamRow& row : mixer_section().rows()) {
    if (config.at_default(row.key)) continue;
    // Nothing is asked of a mixer that has no conditioner anyway; files of older versions say so.
    if (row.key == "mixer.conditioner" && config.text(row.key) == "none") continue;
    const bool read =
        std::any_of(mixers.begin(), mixers.end(), [&](const auto& mixer) { return changes(config, row, mixer); });
    if (!read) unread.push_back(row.key);
  }
  return unread;
}

}  // namespace nudge
