// SPDX-License-Identifier: Apache-2.0
#include "training/models/hopfield/hopfield_config.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/config/choice_lists.hpp"
#include "training/data/labelled_data.hpp"

namespace nudge {
namespace {

std::vector<Index> sizes_of(const Config& config, const char* key) {
  std::vector<Index> sizes;
  for (const std::int64_t size : config.integers(key)) sizes.push_back(static_cast<Index>(size));
  return sizes;
}

/// The entry of layer l of a list that has one for all or one for each.
Index entry(const std::vector<Index>& list, std::size_t layer) { return list.size() == 1 ? list[0] : list[layer]; }

/// Channels, height and width of a sample.
Convolution image(const TaskSizes& task) {
  const std::vector<Index>& shape = task.shape;
  if (shape.size() == 2) return {1, shape[0], shape[1]};
  if (shape.size() == 3) return {shape[0], shape[1], shape[2]};
  throw UserError(
      fmt::format("network.kind = convolutional: data.shape = {} is no image (must be [height, width] or [channels, "
                  "height, width]; set data.shape, or take network.kind = hopfield)",
                  shape_text(shape)));
}

std::vector<Convolution> convolutions(const Config& config, const TaskSizes& task) {
  const std::vector<Index> maps = sizes_of(config, "convolutional.maps");
  const std::vector<Index> kernels = sizes_of(config, "convolutional.kernel");
  const std::vector<Index> pools = sizes_of(config, "convolutional.pool");
  std::vector<Convolution> all;
  Convolution next = image(task);
  for (std::size_t l = 0; l < maps.size(); ++l) {
    next.maps = maps[l];
    next.kernel = entry(kernels, l);
    next.pool = entry(pools, l);
    if (next.height % next.pool != 0 || next.width % next.pool != 0) {
      throw UserError(
          fmt::format("convolutional.pool: blocks of {0} x {0} do not divide the {1} x {2} image of layer {3}",
                      next.pool, next.height, next.width, l + 1));
    }
    all.push_back(next);
    next = {next.maps, next.height / next.pool, next.width / next.pool};
  }
  return all;
}

std::shared_ptr<const NetworkPlan> plan(const Config& config, const TaskSizes& task,
                                        std::vector<Convolution> convolutions) {
  check_hopfield(config);
  HopfieldShape shape;
  shape.widths.push_back(task.features);
  for (const Convolution& each : convolutions) shape.widths.push_back(each.outputs());
  shape.convolutions = std::move(convolutions);
  for (const Index width : sizes_of(config, "hopfield.hidden")) shape.widths.push_back(width);
  if (config.text("hopfield.cost") == "squared_error") {
    shape.widths.push_back(task.classes > 0 ? task.classes : task.values);
  } else {
    shape.classes = task.classes;
  }
  shape.activation = node_activation(config.text("hopfield.activation"));
  shape.output = node_activation(config.text("hopfield.output_activation"));
  shape.form = hopfield_forms.of(config, "hopfield.form");
  shape.asymmetric = config.text("hopfield.feedback") == "separate";
  shape.feed_forward = hopfield_feeds_forward(config);
  shape.rows = task.rows;
  return std::make_shared<HopfieldPlan>(shape, config.real("hopfield.gain"));
}

}  // namespace

void check_hopfield(const Config& config) {
  if (config.text("hopfield.cost") != "cross_entropy") return;
  if (config.text("task.kind") == "regression") {
    throw UserError(
        "hopfield.cost = cross_entropy (must be squared_error for task.kind = regression, which has no classes)");
  }
  const bool convolves =
      config.text("network.kind") == "convolutional" && !config.integers("convolutional.maps").empty();
  if (config.integers("hopfield.hidden").empty() && !convolves) {
    throw UserError(
        "hopfield.cost = cross_entropy (must be squared_error where hopfield.hidden is empty: its read-out needs a "
        "layer "
        "to read)");
  }
}

std::shared_ptr<const NetworkPlan> hopfield_plan(const Config& config, const TaskSizes& task) {
  return plan(config, task, {});
}

std::shared_ptr<const NetworkPlan> convolutional_plan(const Config& config, const TaskSizes& task) {
  return plan(config, task, convolutions(config, task));
}

double hopfield_leak(const Config& /*config*/, double /*damping*/) { return 1; }

bool hopfield_contrasts(const Config& config) { return config.text("hopfield.feedback") == "transpose"; }

bool hopfield_feeds_forward(const Config& config) { return config.text("hopfield.feedback") == "none"; }

}  // namespace nudge
