// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mixers/mixer.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

using Named = std::map<std::string, Matrix<double>>;

/// Random parameters of a kind: mean plus normal numbers of the given deviation.
inline Named random_parameters(const std::string& kind, const MixerOptions& options, double deviation = 0.4) {
  Named all;
  for (const Field& field : mixer_kind<double>(kind).spec(options).parameters) {
    Matrix<double> m = random_matrix<double>(field.rows(), field.cols(), 100 + all.size(), deviation);
    if (field.mean != 0) m *= 0.1;
    m.array() += field.mean;
    all[field.name] = m;
  }
  return all;
}

/// What a mixer computes: its outputs by name, and under "observed/" what it observes.
inline Named evaluate(const std::string& kind, MixerOptions options, const Mask& mask, const Named& inputs,
                      const Named& parameters) {
  const auto& mixer = mixer_kind<double>(kind);
  options.observe = true;
  const MixerSpec spec = mixer.spec(options);
  Tape<double> tape;
  MixerCall<double> call{options, {}, {}, mask};
  for (const Field& field : spec.inputs) call.inputs.add(field.name, tape.input(inputs.at(field.name)));
  for (const Field& field : spec.parameters) call.parameters.add(field.name, tape.input(parameters.at(field.name)));
  mixer.forward(call);
  Named all;
  for (std::size_t k = 0; k < call.outputs.size(); ++k) all[spec.outputs[k].name] = call.outputs[k].matrix();
  for (const auto& each : call.observed.all()) all["observed/" + each.first] = each.second.matrix();
  return all;
}

}  // namespace nudge::test
