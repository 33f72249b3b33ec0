// SPDX-License-Identifier: Apache-2.0
#include "training/data/scores_json.hpp"

namespace nudge {
namespace {

nlohmann::json entropy_json(const TextEntropy& e) {
  return {{"chance", e.chance}, {"unigram", e.unigram}, {"bigram", e.bigram}};
}

}  // namespace

nlohmann::json json_of(const std::optional<TextLines>& lines) {
  if (!lines) return nullptr;
  nlohmann::json out = {{"validation", entropy_json(lines->validation)}};
  out["test"] = lines->test ? entropy_json(*lines->test) : nlohmann::json(nullptr);
  return out;
}

nlohmann::json json_of(const std::optional<ReferenceScores>& references) {
  if (!references) return nullptr;
  nlohmann::json out = {{"metric", references->metric},   {"seconds", references->seconds},
                        {"samples", references->samples}, {"of_samples", references->of_samples},
                        {"splits", references->splits},   {"note", references->note}};
  for (const ReferenceScore& row : references->rows) {
    out[row.split][row.model] = {{"loss", row.loss}, {"score", row.score}};
  }
  return out;
}

}  // namespace nudge
