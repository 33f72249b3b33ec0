// SPDX-License-Identifier: Apache-2.0
#include "apps/info/card_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/commands/text_lines.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

std::string or_dash(const std::optional<double>& value, Unit unit) {
  return value ? format_quantity(*value, unit, 3) : "-";
}

std::string square_um(const std::optional<double>& area_m2) {
  return area_m2 ? fmt::format("{:.4g} um^2", 1e12 * *area_m2) : "-";
}

nlohmann::json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::vector<std::vector<std::string>> card_rows(const CostCard& card) {
  const bool steps = !card.product;
  const auto row = [steps](const std::string& part, const std::string& inference, const std::string& step,
                           const std::string& area, const std::string& from) {
    std::vector<std::string> cells = {part, inference, step, area, from};
    if (!steps) cells.erase(cells.begin() + 2);
    return cells;
  };
  std::vector<std::vector<std::string>> rows = {
      row("part", card.product ? "per product" : "per inference", "per training step", "area", "from")};
  for (const CostPart& part : card.parts) {
    rows.push_back(row(part.part, or_dash(part.inference_J, Unit::joule), or_dash(part.step_J, Unit::joule),
                       square_um(part.area_m2), part.source));
  }
  rows.push_back(row("what is counted", format_quantity(card.inference_J(), Unit::joule, 3),
                     format_quantity(card.step_J(), Unit::joule, 3), square_um(card.area_m2()), "sums of the above"));
  return rows;
}

std::vector<std::string> card_notes(const CostCard& card) {
  std::vector<std::string> out;
  const auto second = [](double s) { return format_quantity(s, Unit::second, 3); };
  if (card.adcs > 0) {
    out.push_back(fmt::format("number of tiles: {:g}; {:g} ADCs at {} convert all their lines in a read of {}",
                              card.tiles, card.adcs, format_quantity(card.adc_rate_Hz, Unit::hertz, 4),
                              second(card.read_s)));
  }
  if (card.inference_s) {
    const char* of = card.product ? "a product" : "an inference";
    const char* what = card.product ? "one read" : "its free phase and the reads of its outputs";
    out.push_back(fmt::format("latency of {}: {} ({}): {:.4g} a second", of, second(*card.inference_s), what,
                              1 / *card.inference_s));
  }
  if (card.phases_s) {
    out.push_back(fmt::format(
        "latency of a training step: {} of phases, with the examples one after the other{}", second(*card.phases_s),
        card.writes_s
            ? fmt::format(", and at most {} of pulses and verify reads, sent one by one", second(*card.writes_s))
            : "; the time of its pulses is not known"));
  }
  if (std::isfinite(card.tops_per_watt())) {
    out.push_back(fmt::format("{:.4g} TOPS/W of the counted energy: {:.4g} operations, {}", card.tops_per_watt(),
                              card.operations,
                              card.product ? "one product and one sum per weight"
                                           : "one product and one sum per weight and token. The many reads while the "
                                             "circuit settles add no operations"));
  }
  if (card.mean_pulses && card.most_pulses) {
    std::string spent = fmt::format("pulses of a device, programming too: mean {:.4g}, most {:.4g}", *card.mean_pulses,
                                    *card.most_pulses);
    if (card.endurance > 0) {
      spent += fmt::format("; of an endurance of {:.3g} (device.endurance): {:.3g} %, at most {:.3g} %", card.endurance,
                           100 * *card.mean_pulses / card.endurance, 100 * *card.most_pulses / card.endurance);
    }
    out.push_back(spent);
  }
  if (card.mean_years && card.least_years) {
    out.push_back(
        fmt::format("endurance at {:g} training steps a day, as in this run (chip.steps_per_day): {:.3g} years "
                    "of the mean device, {:.3g} years of the busiest, programming spread over the steps",
                    card.steps_per_day, *card.mean_years, *card.least_years));
  }
  out.push_back(fmt::format("left out: {}", fmt::join(card.left_out, "; ")));
  return out;
}

std::string card_text(const CostCard& card) {
  auto rows = card_rows(card);
  for (auto& row : rows) row.pop_back();  // sources: sentences, below
  std::string out = text_table(rows, 1);
  for (const CostPart& part : card.parts) out += fmt::format("{}: {}\n", part.part, part.source);
  for (const std::string& note : card_notes(card)) out += note + "\n";
  return out;
}

nlohmann::json card_json(const CostCard& card) {
  nlohmann::json parts = nlohmann::json::array();
  for (const CostPart& part : card.parts) {
    parts.push_back({{"part", part.part},
                     {"inference_J", number_or_null(part.inference_J)},
                     {"step_J", number_or_null(part.step_J)},
                     {"area_m2", number_or_null(part.area_m2)},
                     {"source", part.source}});
  }
  const auto share = [&](const std::optional<double>& pulses) {
    return card.endurance > 0 && pulses ? number_or_null(*pulses / card.endurance) : nlohmann::json(nullptr);
  };
  return {{"parts", parts},
          {"node_m", card.node_m > 0 ? nlohmann::json(card.node_m) : nlohmann::json(nullptr)},
          {"tiles", card.tiles},
          {"adcs", card.adcs},
          {"adc_rate_Hz", card.adc_rate_Hz},
          {"read_s", card.read_s},
          {"inference_J", card.inference_J()},
          {"step_J", card.step_J()},
          {"area_m2", card.area_m2()},
          {"inference_s", number_or_null(card.inference_s)},
          {"step_phases_s", number_or_null(card.phases_s)},
          {"step_writes_at_most_s", number_or_null(card.writes_s)},
          {"operations", card.operations},
          {"tops_per_watt", number_or_null(card.tops_per_watt())},
          {"device_pulses_mean", number_or_null(card.mean_pulses)},
          {"device_pulses_max", number_or_null(card.most_pulses)},
          {"endurance_spent_mean", share(card.mean_pulses)},
          {"endurance_spent_max", share(card.most_pulses)},
          {"endurance_years_mean", number_or_null(card.mean_years)},
          {"endurance_years_least", number_or_null(card.least_years)},
          {"left_out", card.left_out}};
}

}  // namespace nudge
