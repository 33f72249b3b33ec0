// SPDX-License-Identifier: Apache-2.0
// The rule of devices that pulses move one way: both of a pair rise or fall, and a refresh writes them anew.
#include "tests/circuits/ruled_maps.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("one_sided: learning only raises devices, a refresh keeps the weights", "[rules]") {
  CrossbarSpec spec = even(UpdateScheme::one_sided);
  spec.mapping.kind = MappingKind::one_sided;
  spec.rule.refresh_every = 1000;
  RuledMap<double> map(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
  const Crossbar<double>& array = *map.arrays().all.front();
  const double low = spec.device.g_min_S, window = spec.device.window_S();
  CHECK((array.plus().conductance().array() == low).all());
  // Up and down again, 0.01 of the window each time: both devices rise together, the weight returns.
  const Matrix<double> delta = Matrix<double>::Constant(kInputs, kOutputs, 0.01);
  for (int t = 0; t < 80; ++t) map.apply_update(t % 2 == 0 ? delta : Matrix<double>(-delta));
  CHECK(map.weights().cwiseAbs().maxCoeff() < 1e-12);
  CHECK((array.plus().conductance().array() - (low + 0.4 * window)).abs().maxCoeff() < 1e-12 * window);
  CHECK(reading(map, "pulses_down") == 0);
  CHECK(reading(map, "refreshed") == 0);
  // One device of each pair above 0.75, the other at 0.4: refreshed at the next look.
  const Matrix<double> rise = 0.36 * Matrix<double>::Ones(kInputs, kOutputs);
  map.apply_update(rise);
  spec.rule.refresh_every = 1;
  RuledMap<double> looks(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
  for (int t = 0; t < 80; ++t) looks.apply_update(t % 2 == 0 ? delta : Matrix<double>(-delta));
  CHECK(reading(looks, "refreshed") == 0);
  const double before = reading(looks, "verify_reads");
  CHECK(before == 80.0 * 2 * kInputs * kOutputs);
  looks.apply_update(rise);
  CHECK(reading(looks, "refreshed") == kInputs * kOutputs);
  CHECK(reading(looks, "pulses_down") > 0);
  // Write–verify leaves either device within the tolerance of 1 % of the window.
  CHECK((looks.weights() - map.weights()).cwiseAbs().maxCoeff() <= 0.02);
  CHECK((looks.arrays().all.front()->minus().conductance().array() <= low + 0.01 * window).all());
}

TEST_CASE("one_sided on reset_only pairs is its mirror image in the window", "[rules]") {
  CrossbarSpec spec = even(UpdateScheme::one_sided);
  spec.rule.refresh_every = 7;
  const auto pairs = [&](MappingKind kind) {
    spec.mapping.kind = kind;
    return RuledMap<double>(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
  };
  RuledMap<double> rising = pairs(MappingKind::one_sided), falling = pairs(MappingKind::reset_only);
  const double ends = spec.device.g_min_S + spec.device.g_max_S;
  const auto& up = *rising.arrays().all.front();
  const auto& down = *falling.arrays().all.front();
  CHECK((down.plus().conductance().array() == spec.device.g_max_S).all());
  CHECK((down.minus().conductance().array() == spec.device.g_max_S).all());
  for (int t = 0; t < 6; ++t) {
    for (RuledMap<double>* map : {&rising, &falling}) map->apply_update(change(t, 0.01));
  }
  CHECK(reading(falling, "pulses_up") == 0);
  CHECK(reading(falling, "pulses_down") > 0);
  // The second device falls where the first rises: constant steps of both directions are alike.
  CHECK((down.minus().conductance().array() - (ends - up.plus().conductance().array())).abs().maxCoeff() <
        1e-12 * ends);
  CHECK((falling.weights() - rising.weights()).cwiseAbs().maxCoeff() < 1e-12);
  // Both of a pair below 0.25 and 0.75 of the way: written anew from the top, the weight stays within the tolerance of 1 %.
  const Matrix<double> far = Matrix<double>::Constant(kInputs, kOutputs, 0.8),
                       back = Matrix<double>::Constant(kInputs, kOutputs, -0.4);
  spec.rule.refresh_every = 1;
  RuledMap<double> looks = pairs(MappingKind::reset_only);
  looks.apply_update(far);
  CHECK(reading(looks, "refreshed") == 0);
  looks.apply_update(back);
  CHECK(reading(looks, "refreshed") == kInputs * kOutputs);
  CHECK((looks.weights() - (far + back)).cwiseAbs().maxCoeff() <= 0.03);
  CHECK(
      (looks.arrays().all.front()->plus().conductance().array() >= spec.device.g_max_S - 0.011 * spec.device.window_S())
          .all());
}
