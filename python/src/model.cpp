// SPDX-License-Identifier: Apache-2.0
#include "python/src/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/check/choices.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge::python {

template <class S>
Model<S>::Model(const Config& config, std::shared_ptr<const OwnParts> own)
    : Model(config, std::move(own), circuit_parts(config)) {}

template <class S>
Model<S>::Model(const Config& config, std::shared_ptr<const OwnParts> own, RunParts parts)
    : config_(chosen_bandwidth(config, parts)),
      own_(std::move(own)),
      task_(std::move(parts.task)),
      plan_(std::move(parts.plan)),
      network_(make_network<S>(config_, plan_, Weights::configured)),
      groups_(plan_->groups()) {
}

template <class S>
const ParameterGroup& Model<S>::group(const std::string& name) const {
  std::vector<std::string> names;
  for (const ParameterGroup& one : groups_) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw UserError(fmt::format("the network has no parameter {} ({})", name, did_you_mean(name, names)));
}

/// Fills the maps that the groups belong to, with these numbers in the places of the groups; empty: none of a map's
/// groups is given.
template <class S>
std::vector<Matrix<S>> Model<S>::changed(const std::map<std::string, Matrix<S>>& values, bool from_zero) const {
  std::vector<Matrix<S>> out(static_cast<std::size_t>(network_->parameters()));
  for (const auto& [name, value] : values) {
    const ParameterGroup& at = group(name);
    const Matrix<S>& now = network_->map(at.parameter).weights();
    if (value.rows() != now.rows() || value.cols() != at.columns.count) {
      const bool turned = value.rows() == at.columns.count && value.cols() == now.rows();
      throw UserError(fmt::format("parameter {}: shape ({}, {}) expected (inputs, outputs), found ({}, {}){}", name,
                                  now.rows(), at.columns.count, value.rows(), value.cols(),
                                  turned ? ": the transpose; PyTorch's Linear holds (outputs, inputs)" : ""));
    }
    if (!value.allFinite()) throw UserError(fmt::format("parameter {}: holds a number that is not finite", name));
    Matrix<S>& map = out[static_cast<std::size_t>(at.parameter)];
    if (map.size() == 0) map = from_zero ? Matrix<S>(Matrix<S>::Zero(now.rows(), now.cols())) : now;
    map.middleCols(at.columns.begin, at.columns.count) = value;
  }
  return out;
}

template <class S>
void Model<S>::program(const std::map<std::string, Matrix<S>>& values) {
  const std::vector<Matrix<S>> targets = changed(values, false);
  for (int p = 0; p < network_->parameters(); ++p) {
    const Matrix<S>& target = targets[static_cast<std::size_t>(p)];
    if (target.size() > 0) network_->map(p).program(target);
  }
}

template <class S>
void Model<S>::update(const std::map<std::string, Matrix<S>>& changes) {
  const std::vector<Matrix<S>> deltas = changed(changes, true);
  for (int p = 0; p < network_->parameters(); ++p) {
    const Matrix<S>& delta = deltas[static_cast<std::size_t>(p)];
    if (delta.size() == 0) continue;
    LinearMap<S>& map = network_->map(p);
    map.apply({.direction = &delta, .kind = map.takes_factors() ? UpdateKind::immediate : UpdateKind::learning});
  }
}

template <class S>
void Model<S>::advance_time(double seconds, double reading_s) {
  if (!(reading_s >= 0 && seconds >= reading_s)) {
    throw UserError(fmt::format("advance_time: {} s, reading {} s (must be 0 or more, and at most the time)", seconds,
                                reading_s));
  }
  for (int p = 0; p < network_->parameters(); ++p) network_->map(p).advance_time({seconds, reading_s}, times_);
  ++times_;
}

template <class S>
BatchGradientOptions Model<S>::options(const std::string& estimator, const Texts& settings) const {
  Config config = config_;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    static const std::vector<std::string> sections = {"relaxation.", "nudge.", "reads."};
    const auto within = [&](const std::string& section) { return key.starts_with(section); };
    if (key != "beta" && key != "threads" && key != "seed" && std::none_of(sections.begin(), sections.end(), within)) {
      throw UserError(fmt::format(
          "{} is settled when the network is made (a call takes beta, threads, seed, relaxation.*, nudge.*, reads.*)",
          key));
    }
    config.set_from_text(key, setting.substr(equals + 1), "override");
  }
  const std::string name = estimator.empty() ? run_options(config).estimator : estimator;
  const std::vector<std::string> known = estimator_names();
  if (name != own_estimator_name && std::find(known.begin(), known.end(), name) == known.end()) {
    throw UserError(fmt::format("estimator \"{}\" ({})", name, did_you_mean(name, known)));
  }
  if (const std::string misfit = estimator_misfit(config, name); !misfit.empty()) {
    throw UserError(fmt::format("estimator {}: {}", name, misfit));
  }
  if (const auto problems = broken_rules(program_schema(), config); !problems.empty()) {
    throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
  }
  BatchGradientOptions options = gradient_options<S>(config, name);
  options.growth.strength = 0;
  options.phases.step = options.phases.free.step = RelaxationStep(config).of(network_->circuit());
  return options;
}

template <class S>
Batch Model<S>::symbols(const Matrix<int>& x, const Matrix<int>& y) const {
  const TaskSizes sizes = task_->sizes();
  if (plan_->embedding().symbols < 0) throw UserError("x: integers, but the network is fed features (give floats)");
  const auto within = [](const Matrix<int>& m, Index below, const char* name) {
    if (m.size() > 0 && (m.minCoeff() < 0 || m.maxCoeff() >= below)) {
      throw UserError(
          fmt::format("{}: symbols from {} to {} (must be 0 to {})", name, m.minCoeff(), m.maxCoeff(), below - 1));
    }
  };
  if (x.rows() < 1 || x.cols() != plan_->rows()) {
    throw UserError(
        fmt::format("x: shape ({}, {}) (must be (examples, {}): model.tokens)", x.rows(), x.cols(), plan_->rows()));
  }
  if (y.size() > 0 && (y.rows() != x.rows() || y.cols() != x.cols())) {
    throw UserError(
        fmt::format("y: shape ({}, {}) (must be that of x, ({}, {}))", y.rows(), y.cols(), x.rows(), x.cols()));
  }
  within(x, sizes.symbols, "x");
  within(y, sizes.classes > 0 ? sizes.classes : sizes.symbols, "y");
  Batch batch;
  batch.sequences = x.rows();
  batch.tokens = x.cols();
  batch.indices.assign(x.data(), x.data() + x.size());
  if (y.size() > 0) {
    batch.targets.assign(y.data(), y.data() + y.size());
  } else {
    batch.targets.assign(static_cast<std::size_t>(x.size()), Batch::kIgnored);
  }
  return batch;
}

template <class S>
Batch Model<S>::samples(const Matrix<float>& x, const std::vector<int>& labels, const Matrix<float>& values) const {
  const TaskSizes sizes = task_->sizes();
  if (plan_->embedding().symbols >= 0) throw UserError("x: floats, but the network embeds symbols (give integers)");
  if (x.rows() < 1 || x.cols() != plan_->inputs()) {
    throw UserError(fmt::format("x: shape ({}, {}) (must be (samples, {}))", x.rows(), x.cols(), plan_->inputs()));
  }
  const auto rows_of = [&](Index rows, const char* what) {
    if (rows != x.rows()) throw UserError(fmt::format("y: {} {} for {} samples", rows, what, x.rows()));
  };
  Batch batch;
  batch.sequences = x.rows();
  batch.tokens = 1;
  batch.features = x;
  if (values.size() > 0) {
    rows_of(values.rows(), "rows");
    if (values.cols() != sizes.values) {
      throw UserError(fmt::format("y: {} values a sample (must be {})", values.cols(), sizes.values));
    }
    batch.values = values;
  } else if (!labels.empty()) {
    rows_of(static_cast<Index>(labels.size()), "labels");
    const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
    if (*least < 0 || *most >= sizes.classes) {
      throw UserError(fmt::format("y: labels from {} to {} (must be 0 to {})", *least, *most, sizes.classes - 1));
    }
    batch.targets = labels;
  } else {
    batch.targets.assign(static_cast<std::size_t>(x.rows()), Batch::kIgnored);
  }
  return side_by_side(batch, plan_->rows());
}

NUDGE_BOTH_PRECISIONS_OF(Model)

}  // namespace nudge::python
