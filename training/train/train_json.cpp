// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_json.hpp"

#include <cmath>

#include "training/data/scores_json.hpp"

namespace nudge {
namespace {

void add_score(nlohmann::json& out, const std::string& metric, const HeldOutScore& score) {
  if (metric.empty()) return;
  out["validation_" + metric] = score.validation;
  out["test_" + metric] = score.test;
}

nlohmann::json energy_json(const StepEnergy& e) {
  return {{"arrays", e.items.arrays_J},
          {"converters", e.items.conversions_J()},
          {"amplifiers", e.items.amplifiers_J},
          {"drivers", e.items.drivers_J},
          {"writes", e.items.writes_J},
          {"verify_reads", e.items.verify_J},
          {"transfers", e.items.transfers_J},
          {"digital", e.items.digital_J},
          {"counts",
           {{"conversions", e.conversions},
            {"lines", e.lines},
            {"amplifier_seconds", e.amplifier_s},
            {"driven_cells_V2", e.cell_V2},
            {"digital_operations", e.operations}}}};
}

nlohmann::json hardware_json(const TrainSummary& s) {
  return {
      {"phase_time_s", s.phase_time},
      {"array_energy_J", s.array_energy},
      {"pulses", s.pulses},
      {"verify_reads", s.verify_reads},
      {"transfer_reads", s.transfer_reads},
      {"write_failures", s.write_failures},
      {"write_energy_J", s.write_energy},
      {"programming",
       {{"pulses", s.programming_pulses}, {"verify_reads", s.programming_reads}, {"energy_J", s.programming_energy}}},
      {"tokens", s.token_use},
      {"devices", s.devices},
      {"energy_per_step_J", energy_json(s.step_energy)}};
}

/// JSON of the lane with frozen devices, and the gain against it.
nlohmann::json null_json(const NullResult& null, const std::string& metric) {
  nlohmann::json out = {{"validation_loss", null.validation_loss},
                        {"test_loss", null.test_loss},
                        {"won", null.gain.won},
                        {"won_low", null.gain.low},
                        {"won_high", null.gain.high},
                        {"examples", null.gain.examples},
                        {"devices_learnt", null.gain.significant()},
                        {"verdict", null.verdict}};
  add_score(out, metric, null.score);
  return out;
}

}  // namespace

nlohmann::json json_of(const TrainProgress& p) {
  nlohmann::json out = {{"event", "step"},
                        {"done", p.done},
                        {"total", p.steps},
                        {"loss", p.loss},
                        {"validation_loss", p.validation},
                        {"residual", p.residual},
                        {"damping", p.damping}};
  if (!p.metric.empty()) out["validation_" + p.metric] = p.score;
  if (std::isfinite(p.beside_loss)) out["beside"] = {{"loss", p.beside_loss}, {"validation_loss", p.beside_validation}};
  if (std::isfinite(p.null_loss)) out["null"] = {{"loss", p.null_loss}, {"validation_loss", p.null_validation}};
  return out;
}

nlohmann::json json_of(const TrainSummary& s) {
  nlohmann::json out = {{"steps", s.done},
                        {"loss", s.loss},
                        {"validation_loss", s.validation_loss},
                        {"test_loss", s.test_loss},
                        {"residual", s.residual},
                        {"damping", s.damping},
                        {"nudge_snr", s.nudge_snr},
                        {"expected_cosine", s.expected_cosine},
                        {"skipped", s.skipped},
                        {"nonfinite", s.nonfinite},
                        {"weights", s.weights},
                        {"seconds", s.seconds},
                        {"status", s.failure.empty() ? "ok" : s.failure},
                        {"notes", s.notes},
                        {"hardware", hardware_json(s)}};
  add_score(out, s.metric, s.score);
  for (const MeasuredValue& one : s.measures) out[one.what.name] = one.value;
  if (s.metric.empty()) {
    out["text"] = json_of(s.lines);
  } else {
    out["reference"] = json_of(s.references);
  }
  if (!s.beside.empty()) {
    out["beside"] = {{"estimator", s.beside},
                     {"weights", s.beside_weights},
                     {"validation_loss", s.beside_validation_loss},
                     {"test_loss", s.beside_test_loss}};
    add_score(out["beside"], s.metric, s.beside_score);
  }
  if (s.null) out["null"] = null_json(*s.null, s.metric);
  return out;
}

}  // namespace nudge
