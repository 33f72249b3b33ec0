// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/learning/controller.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

using nudge::ControlEvent;
using nudge::DampingController;
using nudge::DampingOptions;

namespace {

/// Powers of two, so that every product is exact.
DampingOptions exact_options() {
  DampingOptions options;
  options.initial = 1;
  options.high = 0.02;
  options.low = 0.01;
  options.raise = 2;
  options.lower = 0.5;
  options.patience = 3;
  options.minimum = 0.25;
  options.maximum = 6;
  return options;
}

/// c after each of the residuals.
std::vector<double> trace(DampingController& controller, const std::vector<double>& residuals) {
  std::vector<double> values;
  std::uint64_t step = 0;
  for (const double residual : residuals) {
    controller.observe({step++, residual, false});
    values.push_back(controller.value());
  }
  return values;
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("damping rises after patience steps in a row above the threshold") {
  DampingController controller(exact_options());
  CHECK(trace(controller, {.03, .03, .03, .03, .03, .03}) == Values{1, 1, 2, 2, 2, 4});
  CHECK(trace(controller, {.03, .03, .015, .03, .03}) == Values{4, 4, 4, 4, 4});  // the band breaks the row
  CHECK(trace(controller, {.03}) == Values{6});                                   // 8 is above the bound
  CHECK(trace(controller, {.03, .03, .005, .03, .03}) == Values{6, 6, 3, 3, 3});  // so does a low residual
}

TEST_CASE("damping falls at once below the threshold, to its bound, and rests in the band") {
  DampingController controller(exact_options());
  CHECK(trace(controller, {.009, .01, .02, .015, .009, .009}) == Values{.5, .5, .5, .5, .25, .25});
}

TEST_CASE("every change is an event, no change is none") {
  DampingController controller(exact_options());
  CHECK_FALSE(controller.observe({0, .03, false}));
  CHECK_FALSE(controller.observe({1, .03, false}));
  auto event = controller.observe({2, .03, false});
  REQUIRE(event);
  CHECK(event->step == 2);
  CHECK(event->quantity == "damping");
  CHECK(event->before == 1);
  CHECK(event->after == 2);
  CHECK(event->reason == "step residual 0.03 > 0.02, 3 in a row");
  event = controller.observe({3, .001, false});
  REQUIRE(event);
  CHECK(event->reason == "step residual 0.001 < 0.01");
  controller.observe({4, .001, false});
  controller.observe({5, .001, false});
  CHECK(controller.value() == .25);
  CHECK_FALSE(controller.observe({6, .001, false}));  // at the bound
}

TEST_CASE("residuals that are no number and skipped steps count as high") {
  DampingOptions options = exact_options();
  options.patience = 1;
  DampingController controller(options);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto event = controller.observe({0, nan, false});
  REQUIRE(event);
  CHECK(event->after == 2);
  CHECK(event->reason == "step residual not a number, 1 in a row");
  event = controller.observe({1, .001, true});
  REQUIRE(event);
  CHECK(event->after == 4);
  CHECK(event->reason == "step skipped, 1 in a row");
  options.raise_on_skip = false;
  DampingController calm(options);
  CHECK(calm.observe({0, .001, true})->after == .5);
}

TEST_CASE("the prototype's rates find the residual's band and stay there") {
  // A plant whose residual falls as 1/(1 + c): the controller must settle where low ≤ ρ ≤ high, without cycling.
  for (const double gain : {.03, .008, .1}) {
    DampingController controller(DampingOptions{});
    std::uint64_t last_change = 0;
    for (std::uint64_t step = 0; step < 2000; ++step) {
      if (controller.observe({step, gain / (1 + controller.value()), false})) last_change = step;
    }
    const double residual = gain / (1 + controller.value());
    // One raise moves ρ by at most 2 %, one lower by .5 %: far less than the band's factor 3, so it cannot jump across.
    const bool at_bound = controller.value() == DampingOptions{}.minimum;
    CHECK((at_bound || (residual >= 5e-3 && residual <= 1.5e-2)));
    CHECK(last_change < 1000);  // ln(20)/ln(1/.995) = 598 steps from 1 to the lower bound, fewer for the others
  }
}

TEST_CASE("a restored controller goes on alike") {
  DampingController original(exact_options()), restored(exact_options());
  trace(original, {.005, .03, .03});  // c = .5, two in a row
  auto to = restored.state();
  auto from = original.state();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    CHECK(from[i].name == to[i].name);
    *to[i].value = *from[i].value;
  }
  const Values next{.03, .03, .005, .015};
  CHECK(trace(restored, next) == Values{1, 1, .5, .5});
  CHECK(trace(original, next) == Values{1, 1, .5, .5});
}

TEST_CASE("damping controller errors name the rule") {
  const auto message = [](auto change) {
    DampingOptions options;
    change(options);
    try {
      DampingController controller(options);
    } catch (const nudge::UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([](DampingOptions&) {}) == "no error");
  CHECK(message([](DampingOptions& o) { o.low = .02; }) ==
        "damping controller: low = 0.02 (must be >= 0 and below high = 0.015)");
  CHECK(message([](DampingOptions& o) { o.initial = .01; }) ==
        "damping controller: initial = 0.01 (must be between minimum = 0.05 and maximum = 20)");
  CHECK(message([](DampingOptions& o) { o.maximum = .01; }) ==
        "damping controller: maximum = 0.01 (must be at least minimum = 0.05)");
  CHECK(message([](DampingOptions& o) { o.raise = .9; }) ==
        "damping controller: raise = 0.9 (must be a factor of at least 1)");
  CHECK(message([](DampingOptions& o) { o.lower = 1.1; }) ==
        "damping controller: lower = 1.1 (must be a factor > 0 and <= 1)");
  CHECK(message([](DampingOptions& o) { o.patience = 0; }) == "damping controller: patience = 0 (must be at least 1)");
  CHECK(message([](DampingOptions& o) { o.high = std::nan(""); }) == "damping controller: high = nan (must be > 0)");
}
