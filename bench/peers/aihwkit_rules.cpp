// SPDX-License-Identifier: Apache-2.0
// Runs an update rule of IBM aihwkit's C++ tile on a task from standard input: what aihwkit_rules.py compares nudge with. Not part of
// the build: aihwkit_rules.py compiles it against aihwkit's sources. Task and answer: rule_task.hpp.
//
//     aihwkit_rules RULE name=value ...      (names: aihwkit_rules.py, DEVICE and RULES)
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rpu_chopped_transfer_device.h"
#include "rpu_dynamic_transfer_device.h"
#include "rpu_pulsed.h"
#include "rpu_softbounds_reference_device.h"
#include "rule_task.hpp"

namespace {

using Values = std::map<std::string, float>;
using Device = RPU::SoftBoundsReferenceRPUDeviceMetaParameter<float>;
using Parameter = std::unique_ptr<RPU::PulsedRPUDeviceMetaParameterBase<float>>;

Device device_of(const Values& v) {
  Device p;
  p.dw_min = v.at("dw_min");
  p.dw_min_dtod = v.at("dw_min_dtod");
  p.dw_min_std = v.at("dw_min_std");
  p.up_down = 0;
  p.up_down_dtod = v.at("up_down_dtod");
  p.w_max = v.at("w_max");
  p.w_min = -v.at("w_max");
  p.w_max_dtod = p.w_min_dtod = v.at("bound_dtod");
  p.enforce_consistency = true;  // as its Python classes: no device steps backwards
  return p;
}

/// Makes what all transfers have: exact reads of the rows of A, one at a time, at constant rates.
template <class Transfer>
std::unique_ptr<Transfer> transfer(const Values& v, int every) {
  auto p = std::make_unique<Transfer>(device_of(v), 2);
  p->transfer_every = static_cast<float>(every);
  p->n_reads_per_transfer = 1;
  p->transfer_columns = false;  // its rows are nudge's columns
  p->fast_lr = v.at("rate");
  p->transfer_lr = v.at("transfer_rate");
  p->scale_fast_lr = p->scale_transfer_lr = false;
  p->transfer_io.is_perfect = true;
  return p;
}

/// Makes a transfer with a buffer: whole pulses leave it, the rest stays.
template <class Transfer>
std::unique_ptr<Transfer> buffered(const Values& v, int every) {
  auto p = transfer<Transfer>(v, every);
  p->scale_transfer_lr = false;
  p->momentum = 0;
  p->forget_buffer = false;
  return p;
}

Parameter rule_of(const std::string& name, const Values& v, int every) {
  if (name == "coincidence") return std::make_unique<Device>(device_of(v));
  if (name == "tiki_taka") return transfer<RPU::TransferRPUDeviceMetaParameter<float>>(v, every);
  if (name == "ttv2") return buffered<RPU::BufferedTransferRPUDeviceMetaParameter<float>>(v, every);
  if (name == "c_ttv2") {
    auto p = buffered<RPU::ChoppedTransferRPUDeviceMetaParameter<float>>(v, every);
    p->in_chop_prob = v.at("chopper");
    p->in_chop_random = true;
    return p;
  }
  if (name == "agad") {
    auto p = buffered<RPU::DynamicTransferRPUDeviceMetaParameter<float>>(v, every);
    p->in_chop_prob = 1 / v.at("period");
    p->tail_weightening = 5;  // of its Python class
    return p;
  }
  rule_task::fail("no rule " + name);
}

class Tile final : public rule_task::Array {
 public:
  Tile(const std::string& rule, const Values& values, const rule_task::Task& task, int number)
      : inputs_(task.inputs), outputs_(task.outputs), batch_(task.batch) {
    const Parameter device = rule_of(rule, values, task.batch);
    device->construction_seed = static_cast<unsigned int>(1000 + number);
    RPU::PulsedMetaParameter<float> parameters;
    array_.reset(parameters.createRPUArray(inputs_, outputs_, device.get()));
    array_->setLearningRate(values.at("rate"));
    const std::vector<float> zero(static_cast<std::size_t>(inputs_) * static_cast<std::size_t>(outputs_));
    array_->setWeights(zero.data());
  }
  void descend(const float* x, const float* d) override { array_->update(x, d, false, batch_); }
  void weights(std::vector<float>& w) override {  // (inputs, outputs) of its (outputs, inputs)
    std::vector<float> own(w.size());
    array_->getWeights(own.data());
    for (int i = 0; i < inputs_; ++i) {
      for (int j = 0; j < outputs_; ++j)
        w[static_cast<std::size_t>(i * outputs_ + j)] = own[static_cast<std::size_t>(j * inputs_ + i)];
    }
  }

 private:
  int inputs_, outputs_, batch_;
  std::unique_ptr<RPU::RPUPulsed<float>> array_;
};

}  // namespace

int main(int argc, char** argv) {
  return rule_task::serve("aihwkit_rules", [&](const rule_task::Task& task, int tile) {
    if (argc < 2) rule_task::fail("RULE name=value ...");
    Values values;
    for (int k = 2; k < argc; ++k) {
      const std::string pair = argv[k];
      values[pair.substr(0, pair.find('='))] = std::stof(pair.substr(pair.find('=') + 1));
    }
    return std::make_unique<Tile>(argv[1], values, task, tile);
  });
}
