// SPDX-License-Identifier: Apache-2.0
#include "training/check/gradient_forecast.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "sim/base/errors.hpp"
#include "training/check/choices.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

Config block(const std::vector<std::string>& more) {
  std::vector<std::string> settings = {"model.channels=16", "model.tokens=8", "model.memories=32",  "model.heads=2",
                                       "train.batch=8",     "seed=5",         "device.preset=ecram"};
  settings.insert(settings.end(), more.begin(), more.end());
  return parse_program_config("f.toml", "", settings);
}

Config placed(const Config& config) {
  const RunParts parts = run_parts(config);
  const Config circuit = chosen_circuit(config, parts);
  return with_nudge(circuit, chosen_nudge(circuit, parts));
}

const ErrorPart* find(const GradientForecast& forecast, const std::string& name) {
  const auto found = std::find_if(forecast.parts.begin(), forecast.parts.end(),
                                  [&](const ErrorPart& part) { return part.name == name; });
  return found == forecast.parts.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the bandwidth of amplifiers is what their gain-bandwidth leaves the heaviest line", "[forecast]") {
  const Config config = block({});
  CHECK(config.text("circuit.amplifier") == "ota_180nm");
  CHECK(leaves_bandwidth_open(config));
  const RunParts parts = run_parts(config);
  const Config chosen = chosen_circuit(config, parts);
  CHECK_FALSE(leaves_bandwidth_open(chosen));
  const auto network = make_network<float>(config, parts.plan, Weights::configured);
  double load = 0;
  for (int p = 0; p < network->parameters(); ++p) load = std::max(load, network->map(p).traits().line_load);
  REQUIRE(load > 10);
  CHECK(chosen.real("circuit.amplifier_bandwidth") == Approx(134.2e6 / (1 + load)).epsilon(1e-3));  // four digits
  CHECK(chosen_bandwidth(config, parts).real("circuit.amplifier_bandwidth") ==
        chosen.real("circuit.amplifier_bandwidth"));
  CHECK_FALSE(leaves_bandwidth_open(block({"circuit.amplifier=none"})));
  CHECK_FALSE(leaves_bandwidth_open(block({"circuit.gain_bandwidth=infinite"})));
  CHECK_FALSE(leaves_bandwidth_open(block({"circuit.amplifier_bandwidth=1 MHz"})));
  CHECK_FALSE(leaves_bandwidth_open(block({"hardware.level=ideal"})));
  CHECK(leaves_bandwidth_open(block({"hardware.level=ideal", "circuit.amplifier=opa847"})));
  const auto warned = [](const std::string& bandwidth) {
    const Config set = block({"circuit.amplifier_bandwidth=" + bandwidth});
    return bandwidth_warning(set, run_parts(set));
  };
  CHECK_THAT(warned("100 MHz"), Contains("circuit.amplifier_bandwidth = 100 MHz") && Contains("134.2 MHz leaves"));
  CHECK(warned("100 kHz").empty());
  CHECK(bandwidth_warning(config, parts).empty());
  CHECK(bandwidth_warning(block({"circuit.amplifier_bandwidth=100 MHz"}), RunParts{}).empty());  // of no circuit
}

TEST_CASE("the expected cosine follows the weights: it is measured again while a run trains", "[forecast]") {
  // Offsets that a run does not see in its noise: the cosine falls as the weights move, the noise stays.
  const Config config = block({"train.steps=202", "train.cosine_every=200", "train.null=off", "train.beside=none",
                               "crossbar.forward_offset=1 mV", "crossbar.transposed_offset=1 mV",
                               "circuit.auto_zero=false", "train.evaluate_every=end", "train.learning_rate=2e-2"});
  const TrainSummary run = train(config, std::nullopt);
  const double expected = run.of("expected_cosine");
  REQUIRE(std::isfinite(expected));
  // Compared at step 200 with the exact gradient by the run itself; the last step, 201, has another batch.
  CHECK(expected == Approx(run.of("cosine")).margin(0.15));
}

TEST_CASE("a named amplifier gives keys their values, its power follows what they ask for", "[forecast]") {
  const Config opa = block({"circuit.amplifier=opa847"});
  CHECK(opa.real("crossbar.forward_noise") == 0.85e-9);
  CHECK(opa.real("circuit.gain_bandwidth") == 3.9e9);
  CHECK(opa.real("circuit.amplifier_power") == 0.181);
  CHECK(block({"circuit.gain_bandwidth=1.342 GHz"}).real("circuit.amplifier_power") == Approx(14.4e-3));
  CHECK(block({"crossbar.forward_noise=2.5 nV"}).real("circuit.amplifier_power") == Approx(4 * 1.44e-3));
  CHECK(block({"circuit.amplifier_power=1 mW"}).real("circuit.amplifier_power") == 1e-3);
  CHECK(block({"circuit.amplifier=none"}).real("crossbar.forward_offset") == 0);
}

TEST_CASE("a forecast knows what is static: offsets, poles and short phases, and names the worst", "[forecast]") {
  const Config sound = placed(block({}));
  const GradientForecast good = forecast_gradient(sound, run_parts(sound), LookAt::whole);
  CHECK(good.cosine > 0.9);
  CHECK_FALSE(warns(good));
  CHECK(good.parts.empty());

  // 100 mV of raw offset on lines of a noise gain of tens are volts at the nodes.
  const Config offset = placed(block({"circuit.auto_zero=false", "crossbar.forward_offset=100 mV",
                                      "crossbar.transposed_offset=100 mV", "nudge.below_noise=true"}));
  const GradientForecast bad = forecast_gradient(offset, run_parts(offset), LookAt::parts);
  CHECK(bad.cosine < good.cosine - 0.1);
  CHECK(warns(bad));
  REQUIRE_FALSE(bad.parts.empty());
  CHECK(bad.parts.front().name == "offsets of amplifiers");
  CHECK(bad.parts.front().cosine > bad.cosine + 0.1);
  CHECK_THAT(forecast_text(bad), Contains("without offsets of amplifiers the first has"));

  const Config brief = placed(block({"relaxation.free_steps=1", "relaxation.average_free=1"}));
  const GradientForecast cut = forecast_gradient(brief, run_parts(brief), LookAt::parts);
  CHECK(find(cut, "short phases") != nullptr);
}

TEST_CASE("an estimator of one's own gets the same forecast", "[forecast]") {
  const Config ours = placed(block({}));
  REQUIRE(ours.text("estimator") == "aep_transposed");
  const GradientForecast expected = forecast_gradient(ours, run_parts(ours), LookAt::whole);
  EstimatorKind kind = estimator_kind("aep_transposed");
  std::erase_if(kind.keys, [](const ParamRow& row) { return row.key == "nudge.below_noise"; });  // it need not have it
  const LentEstimator lent(kind);
  const Config own = placed(block({"estimator=own", "beta=" + ours.as_text("beta")}));
  REQUIRE(is_forecast(own));
  // Not to the bit: what the level chooses by an estimator's name is not chosen for it. Noise leaves 1 - cos = 1.8e-3 of either.
  CHECK(forecast_gradient(own, run_parts(own), LookAt::whole).cosine == Approx(expected.cosine).margin(1e-3));
  GradientForecast lost;
  lost.cosine = 0.05;
  CHECK_NOTHROW(check_forecast(own, lost));  // it has no key that would run it all the same
  CHECK(warns(lost));
  CHECK_FALSE(is_forecast(block({"estimator=implicit"})));  // it computes
}

TEST_CASE(
    "a forecast costs five steps of training at most, and its parts are looked at where they cost no more than they "
    "may",
    "[forecast]") {
  const Config sound = placed(block({}));
  const auto looked = [&](LookAt what) { return forecast_gradient(sound, run_parts(sound), what); };
  const double steps = looked(LookAt::whole).steps;
  CHECK(steps > 2);  // an estimate, its nudged phases again for their noise, and an exact gradient in double
  CHECK(steps <= 5);
  CHECK_FALSE(looked({3 * steps}).looked);
  CHECK(looked({100 * steps}).looked);
  CHECK(looked(LookAt::quick_parts).looked);
}

TEST_CASE("a nudge that noise drowns is refused whatever the seed, and so is a gradient without direction",
          "[forecast]") {
  for (const char* seed : {"seed=1", "seed=2", "seed=3", "seed=4", "seed=5"}) {
    CAPTURE(seed);
    const Config asked = block({seed, "beta=1e-5"});
    const RunParts parts = run_parts(asked);
    const Config circuit = chosen_circuit(asked, parts);
    CHECK_THROWS_AS(check_nudge(circuit, chosen_nudge(circuit, parts)), UserError);
  }
  GradientForecast lost;
  lost.cosine = 0.05;
  CHECK_THROWS_AS(check_forecast(block({}), lost), UserError);
  CHECK_NOTHROW(check_forecast(block({"nudge.below_noise=true"}), lost));
  lost.cosine = 0.2;
  CHECK_NOTHROW(check_forecast(block({}), lost));
  CHECK(warns(lost));
}

TEST_CASE("a nudge that noise hides is measured by a larger one", "[forecast]") {
  const auto snr = [](const char* beta) {
    const Config config = chosen_bandwidth(block({beta}), run_parts(block({beta})));
    return chosen_nudge(config, run_parts(config)).signal.snr();
  };
  const double seen = snr("beta=0.1");
  REQUIRE(seen > 2);
  // The displacement is linear in beta (aep_transposed with a frozen current) but for gates that switch; the noise is known from 8 x 16
  // entries a token, to a few percent.
  for (const auto& [text, ratio] : {std::pair{"beta=1e-3", 1e-2}, {"beta=1e-5", 1e-4}}) {
    CAPTURE(text);
    CHECK(snr(text) / seen == Approx(ratio).epsilon(0.2));
  }
}

TEST_CASE("the shares of the noise say which part of the circuit decides", "[forecast]") {
  const Config loud = placed(block({"crossbar.forward_noise=300 nV", "crossbar.transposed_noise=300 nV"}));
  const GradientForecast found = forecast_gradient(loud, run_parts(loud), LookAt::parts);
  const ErrorPart* amplifiers = find(found, "noise of amplifiers");
  REQUIRE(amplifiers != nullptr);
  CHECK(amplifiers->noise_share > 0.9);
  CHECK_THAT(noise_text(found), Contains("noise of amplifiers"));
  CHECK(noise_text(forecast_gradient(loud, run_parts(loud), LookAt::whole)).empty());
}

TEST_CASE("a part is compared with the first batch, whatever the mean of several is", "[forecast]") {
  GradientForecast several;
  several.batches = 4;
  several.cosine = 0.55;
  several.first = 0.7;
  several.parts = {{"offsets of amplifiers", 0.68, 0}};
  CHECK_THAT(forecast_text(several), !Contains("offsets"));  // above the mean, below the first
  several.parts.front().cosine = 0.9;
  CHECK_THAT(forecast_text(several),
             Contains("mean cosine of 0.550") &&
                 Contains("without offsets of amplifiers the first has 0.900 instead of 0.700"));
  // Measured: the first is one of those that the mean is of.
  const Config offset = placed(block({"circuit.auto_zero=false", "crossbar.forward_offset=50 mV",
                                      "crossbar.transposed_offset=50 mV", "nudge.below_noise=true"}));
  const RunParts parts = run_parts(offset);
  const GradientForecast found = forecast_gradient(offset, parts, LookAt::parts);
  CHECK(found.batches == 4);
  CHECK(found.first == first_cosine(offset, parts));
  CHECK(found.first != found.cosine);
}
