// SPDX-License-Identifier: Apache-2.0
// Sends single pulses to devices of IBM aihwkit through its C++ tile and prints their weights: what aihwkit_statistics.py
// compares nudge with. Not part of the build: aihwkit_statistics.py compiles it against aihwkit's sources.
//
//     aihwkit_staircase DEVICE TILES DEVICES_PER_TILE POINTS PULSES_PER_POINT name=value ...
//
// DEVICE: ConstantStep, LinearStep, SoftBoundsReference or ExpStep; names are members of its C++ parameters. Standard output:
// float32 (tiles, 2 points + 1, devices): from the lower bounds, POINTS points up and POINTS down.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rpu_constantstep_device.h"
#include "rpu_expstep_device.h"
#include "rpu_linearstep_device.h"
#include "rpu_pulsed.h"
#include "rpu_softbounds_reference_device.h"

namespace {

using Values = std::map<std::string, float>;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "aihwkit_staircase: " << what << "\n";
  std::exit(2);
}

/// Reader that takes a value out of the list; a member without a value keeps aihwkit's C++ default.
struct Taker {
  Values& values;
  template <class T>
  void operator()(const char* name, T& member) {
    const auto found = values.find(name);
    if (found == values.end()) return;
    member = static_cast<T>(found->second);
    values.erase(found);
  }
};

void take(Taker set, RPU::PulsedRPUDeviceMetaParameter<float>& p) {
  set("dw_min", p.dw_min);
  set("dw_min_dtod", p.dw_min_dtod);
  set("dw_min_std", p.dw_min_std);
  set("dw_min_dtod_log_normal", p.dw_min_dtod_log_normal);
  set("w_min", p.w_min);
  set("w_min_dtod", p.w_min_dtod);
  set("w_max", p.w_max);
  set("w_max_dtod", p.w_max_dtod);
  set("up_down", p.up_down);
  set("up_down_dtod", p.up_down_dtod);
  set("enforce_consistency", p.enforce_consistency);
  set("write_noise_std", p.write_noise_std);
  set("apply_write_noise_on_set", p.apply_write_noise_on_set);
}

void take_own(Taker /*set*/, RPU::ConstantStepRPUDeviceMetaParameter<float>& /*p*/) {}

void take_own(Taker set, RPU::LinearStepRPUDeviceMetaParameter<float>& p) {
  set("ls_decrease_up", p.ls_decrease_up);
  set("ls_decrease_down", p.ls_decrease_down);
  set("ls_decrease_up_dtod", p.ls_decrease_up_dtod);
  set("ls_decrease_down_dtod", p.ls_decrease_down_dtod);
  set("ls_allow_increasing_slope", p.ls_allow_increasing_slope);
  set("ls_mean_bound_reference", p.ls_mean_bound_reference);
  set("ls_mult_noise", p.ls_mult_noise);
}

void take_own(Taker set, RPU::SoftBoundsReferenceRPUDeviceMetaParameter<float>& p) {
  set("slope_up_dtod", p.slope_up_dtod);
  set("slope_down_dtod", p.slope_down_dtod);
  set("reference_mean", p.reference_mean);
  set("reference_std", p.reference_std);
  set("mult_noise", p.mult_noise);
  set("subtract_symmetry_point", p.subtract_symmetry_point);
}

void take_own(Taker set, RPU::ExpStepRPUDeviceMetaParameter<float>& p) {
  set("es_A_up", p.es_A_up);
  set("es_A_down", p.es_A_down);
  set("es_gamma_up", p.es_gamma_up);
  set("es_gamma_down", p.es_gamma_down);
  set("es_a", p.es_a);
  set("es_b", p.es_b);
  set("dw_min_std_add", p.dw_min_std_add);
  set("dw_min_std_slope", p.dw_min_std_slope);
}

struct Run {
  int tiles, devices, points, pulses;
};

template <class Parameter>
void staircase(Values values, const Run& run) {
  Parameter device;
  take({values}, device);
  take_own({values}, device);
  if (!values.empty()) fail("no member " + values.begin()->first);
  std::vector<float> weights(static_cast<std::size_t>(run.devices));
  const std::vector<float> x = {1};
  for (int tile = 0; tile < run.tiles; ++tile) {
    RPU::PulsedMetaParameter<float> parameters;
    // One pulse per update, always: a train of one slot whose probability is cut at 1.
    parameters.up.update_management = false;
    parameters.up.update_bl_management = false;
    parameters.up.desired_BL = 1;
    device.construction_seed = static_cast<unsigned int>(1000 + tile);
    const std::unique_ptr<RPU::RPUPulsed<float>> array(parameters.createRPUArray(1, run.devices, &device));
    array->setLearningRate(1);
    std::fill(weights.begin(), weights.end(), -100.0F);
    array->setWeights(weights.data());
    for (int point = 0; point <= 2 * run.points; ++point) {
      // The tile descends: d > 0 is a down pulse.
      const std::vector<float> d(weights.size(), point <= run.points ? -1.0F : 1.0F);
      for (int k = 0; k < run.pulses && point > 0; ++k) array->update(x.data(), d.data(), false, 1);
      std::vector<float> now(weights.size());
      array->getWeights(now.data());
      std::fwrite(now.data(), sizeof(float), now.size(), stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) fail("DEVICE TILES DEVICES_PER_TILE POINTS PULSES_PER_POINT name=value ...");
  const Run run = {std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5])};
  Values values;
  for (int k = 6; k < argc; ++k) {
    const std::string pair = argv[k];
    const std::size_t equal = pair.find('=');
    if (equal == std::string::npos) fail("not name=value: " + pair);
    values[pair.substr(0, equal)] = std::strtof(pair.c_str() + equal + 1, nullptr);
  }
  const std::map<std::string, std::function<void()>> kinds = {
      {"ConstantStep", [&] { staircase<RPU::ConstantStepRPUDeviceMetaParameter<float>>(values, run); }},
      {"LinearStep", [&] { staircase<RPU::LinearStepRPUDeviceMetaParameter<float>>(values, run); }},
      {"SoftBoundsReference", [&] { staircase<RPU::SoftBoundsReferenceRPUDeviceMetaParameter<float>>(values, run); }},
      {"ExpStep", [&] { staircase<RPU::ExpStepRPUDeviceMetaParameter<float>>(values, run); }}};
  const auto kind = kinds.find(argv[1]);
  if (kind == kinds.end()) fail(std::string("no device ") + argv[1]);
  kind->second();
  return 0;
}
