// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_system.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "python/src/python_calls.hpp"

namespace nudge::python {
namespace {

/// Shape of an array of any dimensions as a matrix: all dimensions but the last are rows, a vector is one row.
ParameterShape matrix_of(const std::vector<std::size_t>& shape) {
  ParameterShape out{1, shape.empty() ? 1 : static_cast<Index>(shape.back())};
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) out.rows *= static_cast<Index>(shape[i]);
  return out;
}

/// True if the attribute, a collection of names, has this name; for None returns `none`.
bool names(const nb::object& object, const char* attribute, const std::string& name, bool none) {
  const nb::object listed = object.attr(attribute);
  if (listed.is_none()) return none;
  return nb::cast<bool>(listed.attr("__contains__")(name));
}

class OwnPlan final : public NetworkPlan {
 public:
  OwnPlan(std::shared_ptr<const OwnSystem> system, Index rows, Index inputs)
      : system_(std::move(system)), rows_(rows), inputs_(inputs) {}

  std::string_view kind() const override { return "own"; }
  Index rows() const override { return rows_; }
  bool couples_rows() const override { return false; }
  Index inputs() const override { return inputs_; }
  std::vector<Node> nodes() const override {
    const Columns out = system_->output;
    std::vector<Node> all;
    const auto add = [&](const char* name, Columns columns) {
      if (columns.count > 0) all.push_back({.name = name, .columns = columns, .leak = system_->leak});
    };
    add("before", {0, out.begin});
    add("output", out);
    add("behind", {out.end(), system_->cols - out.end()});
    return all;
  }
  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (const OwnParameter& one : system_->parameters) {
      all.push_back({.name = one.name,
                     .shape = one.matrix,
                     .on_devices = one.on_devices,
                     .conductance = one.conductance});
    }
    return all;
  }
  std::vector<ParameterGroup> groups() const override {
    std::vector<ParameterGroup> all;
    for (const OwnParameter& one : system_->parameters) {
      all.push_back({one.name, static_cast<int>(all.size()), {0, one.matrix.cols}});
    }
    return all;
  }
  Embedding embedding() const override { return {-1, -1}; }
  StartState start() const override { return StartState::rest; }
  NodeReadout readout() const override {
    return {.parameter = -1, .node = system_->output.begin > 0 ? 1 : 0};
  }
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override { draw(seed, weights); }
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override { draw(seed, weights); }
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override { return made(maps); }
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override { return made(maps); }

 private:
  template <class S>
  void draw(std::uint64_t seed, std::vector<Matrix<S>>& weights) const {
    weights.clear();
    for (const Matrix<double>& one : system_->initial(seed)) weights.push_back(one.template cast<S>());
  }

  template <class S>
  std::vector<std::unique_ptr<Term<S>>> made(const Maps<S>& maps) const {
    std::vector<const LinearMap<S>*> own;
    for (const auto& map : maps) own.push_back(map.get());
    std::vector<std::unique_ptr<Term<S>>> all;
    all.push_back(std::make_unique<OwnTerm<S>>(system_, std::move(own), static_cast<int>(nodes().size())));
    return all;
  }

  std::shared_ptr<const OwnSystem> system_;
  Index rows_, inputs_;
};

}  // namespace

OwnSystem::OwnSystem(const nb::object& object) : object_(object) {
  const nb::gil_scoped_acquire held;
  cols = nb::cast<Index>(object.attr("cols"));
  conservative = nb::cast<bool>(object.attr("conservative"));
  contrastive = nb::cast<bool>(object.attr("contrastive"));
  solves = nb::cast<bool>(object.attr("solves"));
  leak = nb::cast<double>(object.attr("leak"));
  const nb::object out = object.attr("_output_columns")();
  output = {nb::cast<Index>(out[0]), nb::cast<Index>(out[1]) - nb::cast<Index>(out[0])};
  for (const auto& [name, value] : nb::cast<nb::dict>(object.attr("parameters"))) {
    OwnParameter one;
    one.name = nb::cast<std::string>(name);
    for (const nb::handle n : nb::module_::import_("numpy").attr("shape")(value)) {
      one.shape.push_back(nb::cast<std::size_t>(n));
    }
    one.matrix = matrix_of(one.shape);
    one.conductance = names(object, "conductances", one.name, false);
    one.on_devices = names(object, "on_devices", one.name, true);
    parameters.push_back(std::move(one));
  }
}

OwnSystem::~OwnSystem() { release(object_); }

nb::object OwnSystem::copy() const {
  const nb::gil_scoped_acquire held;
  return nb::module_::import_("copy").attr("copy")(object_);
}

std::vector<Matrix<double>> OwnSystem::initial(std::uint64_t seed) const {
  const nb::gil_scoped_acquire held;
  const nb::object rng = nb::module_::import_("numpy").attr("random").attr("default_rng")(seed);
  const nb::object drawn = object_.attr("_initial")(rng);
  std::vector<Matrix<double>> out;
  for (const OwnParameter& one : parameters) {
    out.push_back(taken(drawn[one.name.c_str()], "initial", one.matrix.rows, one.matrix.cols));
    if (!out.back().allFinite()) throw UserError(fmt::format("initial: {} holds a number that is not finite", one.name));
    if (one.conductance && out.back().minCoeff() < 0) {
      throw UserError(fmt::format("initial: {} is a conductance and has a number below 0", one.name));
    }
  }
  return out;
}

std::shared_ptr<const NetworkPlan> own_plan(const nb::object& system, Index rows, Index inputs, Index outputs) {
  auto own = std::make_shared<const OwnSystem>(system);
  if (own->output.count != outputs) {
    throw UserError(fmt::format("the output of the system has {} columns, the data {} {} (output = (begin, end) of the "
                                "columns of its state that the cost reads)",
                                own->output.count, outputs, outputs == 1 ? "value" : "classes or values"));
  }
  return std::make_shared<OwnPlan>(std::move(own), rows, inputs);
}

}  // namespace nudge::python
