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
  if (s.equilibrium.known()) out["equilibrium"]["verdict"] = sentence(s.equilibrium);
  out["hardware"]["tokens"] = s.token_use;
  if (s.metric.empty()) {
    out["text"] = json_of(s.lines);
  } else {
    out["reference"] = json_of(s.references);
  }
  if (!s.beside.empty()) out["beside"]["estimator"] = s.beside;
  if (s.null) {
    nlohmann::json& null = out["null"];
    for (const auto& [name, gain] : s.null->gains)
      null[name].update({{"won", gain.won}, {"won_low", gain.low}, {"won_high", gain.high}});
    const auto learnt = s.null->learnt();
    null.update({{"strongest", s.null->strongest().name},
                 {"part", s.null->part},
                 {"samples", s.null->strongest().gain.samples},
                 {"not_run", s.null->not_run},
                 {"devices_learnt", learnt ? nlohmann::json(*learnt) : nlohmann::json(nullptr)},
                 {"verdict", s.null->verdict()}});
  }
  if (s.plateau) {
    const auto& reached = s.plateau->reached;
    out["plateau"].update({{"of", s.plateau->of},
                           {"low", s.plateau->interval.low},
                           {"high", s.plateau->interval.high},
                           {"reached", reached ? nlohmann::json(*reached) : nlohmann::json(nullptr)},
                           {"text", s.plateau->text()}});
  }
  return out;
}

}  // namespace nudge
