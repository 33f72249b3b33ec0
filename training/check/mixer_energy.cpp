// SPDX-License-Identifier: Apache-2.0
#include "training/check/mixer_energy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mixers/mixer.hpp"
#include "mixers/sequence_mixer.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/data/characters.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge {
namespace {

bool is_loop(const std::string& kind) { return kind.rfind("loop_", 0) == 0; }

/// Evaluates the mixer once from the state z: returns its observations and sets z to the state after it. `weights` in
/// the order of spec.parameters.
template <class S>
NamedValues<S> evaluate(Tape<S>& tape, const MixerChoice& choice, const MixerSpec& spec,
                        const std::vector<const Matrix<S>*>& weights, Matrix<S>& z) {
  const Mask mask = choice.window == 0 ? Mask::causal(z.rows()) : Mask::causal_window(z.rows(), choice.window);
  MixerCall<S> call{choice.options, {}, {}, mask};
  call.inputs.add(spec.inputs.front().name, tape.constant(z));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    call.parameters.add(spec.parameters[k].name, tape.parameter(*weights[k]));
  }
  mixer_kind<S>(choice.kind).forward(call);
  z = call.outputs.front().matrix();
  return call.observed;
}

bool has_energy(const MixerKind<double>& kind) {
  MixerChoice choice{kind.name, one_head()};
  choice.options.observe = true;
  const MixerSpec spec = kind.spec(choice.options);
  std::vector<Matrix<double>> values;
  std::vector<const Matrix<double>*> weights;
  values.reserve(spec.parameters.size());
  weights.reserve(spec.parameters.size());
  for (const Field& field : spec.parameters) {
    values.emplace_back(Matrix<double>::Constant(field.rows(), field.cols(), 1.0) +
                        Matrix<double>::Identity(field.rows(), field.cols()));
  }
  for (const auto& each : values) weights.push_back(&each);
  Tape<double> tape;
  Matrix<double> z = Matrix<double>::Ones(1, choice.options.width);
  return evaluate(tape, choice, spec, weights, z).has("energy");
}

/// Computes the energies of one sequence, one (tokens, 1) for each iteration.
template <class S>
std::vector<Matrix<S>> trace_of(MixerChoice choice, const MixerSpec& spec, const std::vector<const Matrix<S>*>& weights,
                                Matrix<S> z) {
  const int iterations = choice.options.iterations;
  std::vector<Matrix<S>> energies;
  if (is_loop(choice.kind)) {
    choice.options.iterations = iterations + 1;  // the energy is observed before a step
    Tape<S> tape;
    const auto observed = evaluate(tape, choice, spec, weights, z);
    for (const auto& each : observed.all()) energies.push_back(each.second.matrix());
    return energies;
  }
  for (int n = 0; n <= iterations; ++n) {
    Tape<S> tape;
    energies.push_back(evaluate(tape, choice, spec, weights, z)["energy"].matrix());
  }
  return energies;
}

void summarise(MixerEnergy& trace) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t n = 0; n < trace.energy.size(); ++n) {
    const auto& now = trace.energy[n];
    double sum = 0;
    double rise = n == 0 ? nothing : -std::numeric_limits<double>::infinity();
    double risen = n == 0 ? nothing : 0;
    for (std::size_t t = 0; t < now.size(); ++t) {
      sum += now[t];
      if (n == 0) continue;
      const double change = now[t] - trace.energy[n - 1][t];
      rise = std::max(rise, change);
      risen += change > 0 ? 1 : 0;
    }
    const auto count = static_cast<double>(now.size());
    trace.mean.push_back(sum / count);
    trace.largest_rise.push_back(rise);
    trace.share_risen.push_back(risen / count);
  }
}

template <class S>
MixerEnergy run(const Config& config, MixerChoice choice) {
  const TextDataset text = load_dataset(config);
  const TaskSizes sizes = character_sizes(config, text.vocabulary_size());
  const auto network = make_network<S>(config, block_plan(config, sizes), Weights::digital);
  const Batch batch = validation_batches(text.validation(), 1, train_options(config).batch, sizes.rows).front();
  const MixerSpec spec = mixer_spec(choice);
  choice.options.observe = true;
  std::vector<const Matrix<S>*> weights;
  weights.reserve(spec.parameters.size());
  for (std::size_t k = 0; k < spec.parameters.size(); ++k) {
    weights.push_back(&network->map(BlockParameter::output + static_cast<int>(k)).weights());
  }
  MixerEnergy trace{choice.kind, batch.sequences, batch.tokens, {}, {}, {}, {}};
  std::vector<std::vector<Matrix<S>>> all(static_cast<std::size_t>(batch.sequences));
  parallel_for(batch.sequences, run_options(config).threads, [&](Index b, int /*thread*/) {
    Matrix<S> x(network->rows(), network->cols());
    network->embed(batch.indices_of(b), x);
    all[static_cast<std::size_t>(b)] = trace_of(choice, spec, weights, std::move(x));
  });
  for (std::size_t n = 0; n < all.front().size(); ++n) {
    trace.energy.emplace_back();
    for (const auto& sequence : all) {
      for (Index t = 0; t < batch.tokens; ++t) trace.energy[n].push_back(static_cast<double>(sequence[n](t, 0)));
    }
  }
  summarise(trace);
  return trace;
}

}  // namespace

const std::vector<std::string>& energy_mixers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string& name : force_mixers()) {
      if (has_energy(mixer_kind<double>(name))) all.push_back(name);
    }
    return all;
  }();
  return names;
}

bool MixerEnergy::finite() const {
  return std::all_of(mean.begin(), mean.end(), [](double x) { return std::isfinite(x); });
}

MixerEnergy mixer_energy(const Config& config) {
  use_product_kernel(config);
  for (const auto& [key, value] : {std::pair("network.kind", "block"), std::pair("task.kind", "characters")}) {
    if (config.text(key) == value) continue;
    throw UserError(
        fmt::format("{} = {} has no energy to log. nudge energy iterates the mixer of a block on a text: set {} = {}",
                    key, config.text(key), key, value));
  }
  const MixerChoice choice = mixer_choice(config);
  const auto& known = energy_mixers();
  if (std::find(known.begin(), known.end(), choice.kind) == known.end()) {
    throw UserError(fmt::format("model.mixer = \"{}\" has no energy to log (must be one of {})", choice.kind,
                                fmt::join(known, ", ")));
  }
  return run_options(config).double_precision() ? run<double>(config, choice) : run<float>(config, choice);
}

void write(H5Document& document, const MixerEnergy& trace) {
  const auto steps = static_cast<Index>(trace.energy.size());
  std::vector<double> all;
  for (const auto& each : trace.energy) all.insert(all.end(), each.begin(), each.end());
  document.dataset("energy", std::move(all), {steps, trace.sequences, trace.tokens},
                   {"1", "free energy F* of a token before the next iteration", {"iteration", "sequence", "token"}});
  document.column("mean", trace.mean, {"1", "mean of F* over all tokens", {"iteration"}});
  document.column(
      "largest_rise", trace.largest_rise,
      {"1", "largest change of a token's F* since the iteration before; negative: all fell", {"iteration"}});
  document.column("share_risen", trace.share_risen,
                  {"1", "share of the tokens whose F* rose since the iteration before", {"iteration"}});
  document.attribute("mixer", trace.mixer);
}

}  // namespace nudge
