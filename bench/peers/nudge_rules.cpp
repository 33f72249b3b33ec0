// SPDX-License-Identifier: Apache-2.0
// Runs an update rule of nudge on a task from standard input: what aihwkit_rules.py compares with IBM aihwkit. Not part of the build:
// aihwkit_rules.py compiles it with the build's own flags and links it to the build's libraries. Task and answer: rule_task.hpp.
//
//     nudge_rules RATE KEY=VALUE ...      (keys of a config)
#include <memory>
#include <string>
#include <vector>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "rule_task.hpp"
#include "sim/config/config.hpp"

namespace {

class Map final : public rule_task::Array {
 public:
  Map(float rate, const nudge::CrossbarSpec& spec, const rule_task::Task& task, int number)
      : rate_(rate), inputs_(task.inputs), outputs_(task.outputs), batch_(task.batch) {
    const nudge::Matrix<float> zero = nudge::Matrix<float>::Zero(inputs_, outputs_);
    map_ = nudge::make_linear_map<float>(spec, zero, 0, static_cast<std::uint64_t>(1000 + number));
    pair_.resize(1);
    pair_[0].columns = {0, outputs_};
    pair_[0].scale = 1;
  }
  void descend(const float* x, const float* d) override {
    pair_[0].x = Eigen::Map<const nudge::Matrix<float>>(x, batch_, inputs_);
    pair_[0].y = Eigen::Map<const nudge::Matrix<float>>(d, batch_, outputs_);
    nudge::WeightUpdate<float> update;
    update.factors = pair_;
    update.scale = -rate_;
    map_->apply(update);
  }
  void weights(std::vector<float>& w) override {
    Eigen::Map<nudge::Matrix<float>>(w.data(), inputs_, outputs_) = map_->weights();
  }

 private:
  float rate_;
  nudge::Index inputs_, outputs_, batch_;
  std::unique_ptr<nudge::LinearMap<float>> map_;
  std::vector<nudge::FactorPair<float>> pair_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) rule_task::fail("RATE KEY=VALUE ...");
  const float rate = std::stof(argv[1]);
  const std::vector<std::string> settings(argv + 2, argv + argc);
  nudge::ConfigSchema schema{nudge::device_param_rows()};
  for (nudge::ParamRow& row : nudge::crossbar_section().rows()) schema.table.push_back(std::move(row));
  return rule_task::serve("nudge_rules", [&](const rule_task::Task& task, int tile) {
    const auto spec = nudge::crossbar_spec(nudge::parse_config(schema, "nudge_rules", "", settings));
    return std::make_unique<Map>(rate, spec, task, tile);
  });
}
