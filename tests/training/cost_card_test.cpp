// SPDX-License-Identifier: Apache-2.0
// Cost cards from counts by hand: the price of each port, and files of versions that told no ports apart.
#include "training/card/cost_card.hpp"

#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

const char* const kChip = R"(
estimator = "ep"
[network]
kind = "hopfield"
[task]
kind = "classification"
[device]
model = "soft_bounds"
[crossbar]
forward_adc_bits = 8
transposed_adc_bits = 5
[chip]
node = "130 nm"
adc_step_energy = "1 fJ"
)";

const CostPart& part_of(const CostCard& card, const std::string& name) {
  for (const CostPart& part : card.parts) {
    if (part.part == name) return part;
  }
  throw std::runtime_error("no part " + name);
}

/// Card of 1000 conversions an inference of one array of 100 x 20 in tiles of 50 rows; `transposed` of them at its rows.
CostCard card_of(std::optional<double> transposed, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> all = {"crossbar.tile_rows=50"};
  all.insert(all.end(), settings.begin(), settings.end());
  CardCounts counts;
  counts.inference.adc_conversions = {1000, transposed};
  counts.inference.partial_sums = {400, transposed ? std::optional(0.0) : std::nullopt};
  counts.step.adc_conversions = {5000, transposed};
  counts.arrays["W"] = {100, 20};
  return cost_card(parse_program_config("chip.toml", kChip, all), counts);
}

}  // namespace

TEST_CASE("a conversion has the price of the port that made it", "[card]") {
  const CostPart told = part_of(card_of(300), "ADCs");
  CHECK(*told.inference_J == Approx((700 * 256 + 300 * 32) * 1e-15).epsilon(1e-14));
  CHECK(*told.step_J == Approx((4700 * 256 + 300 * 32) * 1e-15).epsilon(1e-14));
  CHECK_THAT(told.source, !Contains("an earlier version"));
  // A price by its key is that of both.
  const CostPart by_key = part_of(card_of(300, {"circuit.adc_energy=2 pJ"}), "ADCs");
  CHECK(*by_key.inference_J == Approx(1000 * 2e-12).epsilon(1e-14));
  CHECK_THAT(by_key.source, Contains("2 pJ a conversion (circuit.adc_energy)"));
  // Bits of one port change its own price alone.
  const CostPart more = part_of(card_of(300, {"crossbar.transposed_adc_bits=6"}), "ADCs");
  CHECK(*more.inference_J - *told.inference_J == Approx(300 * 32 * 1e-15).epsilon(1e-9));
  // Sums of two tiles: 9 bits at 45 nm and 0.9 V take 0.1 pJ of 32 bits.
  const CostPart adders = part_of(card_of(300), "adders of partial sums");
  CHECK(*adders.inference_J == Approx(400 * 0.1e-12 * 9 / 32 * 130 / 45).epsilon(1e-12));
  CHECK_THAT(adders.source, Contains("an addition of 9 bits") && !Contains("transposed"));
}

TEST_CASE("conversions of a file that tells no ports apart have the larger price, and the card says so", "[card]") {
  const CostPart untold = part_of(card_of(std::nullopt), "ADCs");
  CHECK(*untold.inference_J == Approx(1000 * 256e-15).epsilon(1e-14));
  CHECK_THAT(untold.source, Contains("an earlier version wrote this file"));
  const CostPart alike = part_of(card_of(std::nullopt, {"crossbar.transposed_adc_bits=8"}), "ADCs");
  CHECK(*alike.inference_J == *untold.inference_J);
  CHECK_THAT(alike.source, !Contains("an earlier version"));
  const CostPart alone = part_of(card_of(std::nullopt, {"crossbar.transposed_adc_bits=ideal"}), "ADCs");
  CHECK(*alone.inference_J == *untold.inference_J);
  CHECK_THAT(alone.source, !Contains("an earlier version"));
}
