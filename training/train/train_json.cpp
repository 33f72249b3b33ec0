// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_json.hpp"

#include <cstdint>
#include <limits>

#include "training/data/scores_json.hpp"

namespace nudge {
namespace {

/// JSON of the numbers of a run, each at its place.
nlohmann::json values_json(const RunValues& values) {
  nlohmann::json out;
  for (const RunValue& one : values.all()) {
    if (one.json.empty()) continue;
    const double value = one.value.value_or(std::numeric_limits<double>::quiet_NaN());
    nlohmann::json& at = out[nlohmann::json::json_pointer("/" + one.json)];
    if (one.whole) {
      at = static_cast<std::int64_t>(value);
    } else {
      at = value;
    }
  }
  return out;
}

}  // namespace

nlohmann::json json_of(const TrainProgress& p) {
  nlohmann::json out = values_json(p.values);
  out.update({{"event", "step"}, {"done", p.done}, {"total", p.steps}});
  return out;
}

nlohmann::json json_of(const TrainSummary& s) {
  nlohmann::json out = values_json(s.values);
  out["steps"] = s.done;
  out["seconds"] = s.seconds;
  out["status"] = s.failure.empty() ? "ok" : s.failure;
  out["notes"] = s.notes;
  out["hardware"]["tokens"] = s.token_use;
  if (s.metric.empty()) {
    out["text"] = json_of(s.lines);
  } else {
    out["reference"] = json_of(s.references);
  }
  if (!s.beside.empty()) out["beside"]["estimator"] = s.beside;
  if (s.null) {
    const LossGain& gain = s.null->gain;
    out["null"].update({{"won", gain.won},
                        {"won_low", gain.low},
                        {"won_high", gain.high},
                        {"examples", gain.examples},
                        {"devices_learnt", gain.significant()},
                        {"verdict", s.null->verdict}});
  }
  return out;
}

}  // namespace nudge
