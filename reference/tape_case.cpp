// SPDX-License-Identifier: Apache-2.0
#include "reference/tape_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mixers/mixer.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Tolerances of the cases' README for float64.
constexpr double kForward = 1e-12;
constexpr double kDerivative = 1e-10;
// Gradients that are zero in exact arithmetic are measured against this share of the case's largest gradient.
constexpr double kZeroGradient = 1e-3;

Index count(const H5Shape& shape) {
  Index n = 1;
  for (const Index size : shape) n *= size;
  return n;
}

}  // namespace

TapeCase::Sizes TapeCase::sizes(const H5Reader& file, const std::string& input, std::size_t dimensions) {
  const H5Shape shape = file.shape(input);
  if (shape.size() != dimensions || *std::min_element(shape.begin(), shape.end()) < 1) {
    file.fail(input, fmt::format("shape {} (must be (batch, tokens, ...) with {} positive sizes)", to_string(shape),
                                 dimensions));
  }
  return {shape[0], shape[1]};
}

TapeCase::TapeCase(const H5Reader& file, Index batch) : file_(&file), batch_(batch) {
  // What is computed has these: a file that says otherwise means something else.
  static const std::pair<const char*, double> fixed[] = {
      {"sign", -1}, {"pre_ln", 1}, {"ln_eps", 1e-5}, {"rms_eps", 1e-6}};
  for (const auto& [name, value] : fixed) {
    if (!file.has_attribute(name)) continue;
    const double stated = finite_real(file, name);
    if (std::abs(stated - value) > 1e-6 * std::abs(value)) {  // float attributes carry seven digits
      file.fail(std::string("attribute ") + name, fmt::format("{} (must be {})", stated, value));
    }
  }
  if (file.has_attribute("gelu") && file.text_attribute("gelu") != "erf") {
    file.fail("attribute gelu", fmt::format("\"{}\" (must be erf)", file.text_attribute("gelu")));
  }
}

void TapeCase::parameter(const std::string& name, const H5Shape& shape) {
  Array array{name, shape, CaseSpread::shared};
  array.values = file_->reals<double>("params/" + name, shape, NonFinite::rejected);
  array.rows = count(shape) / (shape.empty() ? 1 : shape.back());
  if (file_->has("tan/params/" + name)) {
    array.direction = file_->reals<double>("tan/params/" + name, shape, NonFinite::rejected);
  }
  array.result.assign(array.values.size(), 0.0);
  parameters_.push_back(std::move(array));
}

void TapeCase::input(const std::string& name, const H5Shape& shape, Index rows) {
  Array array{name, shape, CaseSpread::per_sequence, rows};
  array.values = file_->reals<double>("inputs/" + name, shape, NonFinite::rejected);
  array.direction = file_->reals<double>("tan/inputs/" + name, shape, NonFinite::rejected);
  array.result.assign(array.values.size(), 0.0);
  inputs_.push_back(std::move(array));
}

void TapeCase::output(const std::string& name, const H5Shape& shape, CaseSpread spread) {
  Array array{name, shape, spread};
  array.direction = file_->reals<double>("cot/" + name, shape, NonFinite::rejected);
  array.values.assign(static_cast<std::size_t>(count(shape)), 0.0);
  array.result = array.values;
  outputs_.push_back(std::move(array));
}

Index TapeCase::share(const Array& array) const {
  return count(array.shape) / (array.spread == CaseSpread::per_sequence ? batch_ : 1);
}

Matrix<double> TapeCase::slice(const Array& array, const std::vector<double>& values, Index sequence) const {
  const Index n = share(array);
  const Index at = array.spread == CaseSpread::per_sequence ? sequence * n : 0;
  return Eigen::Map<const Matrix<double>>(values.data() + at, array.rows, n / array.rows);
}

void TapeCase::keep_observed(Call& call) {
  for (const auto& each : call.observed.all()) {
    const std::string& name = each.first;
    const Matrix<double>& m = each.second.matrix();
    auto found = std::find_if(observed_.begin(), observed_.end(), [&](const Array& a) { return a.name == name; });
    if (found == observed_.end()) {
      H5Shape shape{batch_, m.rows()};
      if (name.rfind("energy", 0) != 0) shape.push_back(m.cols());
      observed_.push_back({name, shape, CaseSpread::per_sequence, m.rows()});
      found = observed_.end() - 1;
    }
    found->values.insert(found->values.end(), m.data(), m.data() + m.size());
  }
}

void TapeCase::run_sequence(Index sequence, const std::function<void(Call&)>& forward) {
  Tape<double> tape;
  Call call{tape, sequence, {}, {}};
  std::vector<std::pair<Array*, Value<double>>> leaves;
  for (Array& array : inputs_) {
    leaves.emplace_back(&array, tape.input(slice(array, array.values, sequence)));
    call.inputs.add(array.name, leaves.back().second);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    leaves.emplace_back(&parameters_[i], tape.parameter(parameter_values_[i]));
    call.parameters.add(parameters_[i].name, leaves.back().second);
  }
  forward(call);
  keep_observed(call);
  for (const auto& [array, leaf] : leaves) {
    if (array->direction) tape.set_tangent(leaf, slice(*array, *array->direction, sequence));
  }
  tape.push_forward();
  const auto add = [this, sequence](const Array& array, const Matrix<double>& m, std::vector<double>& to) {
    const Index at = array.spread == CaseSpread::per_sequence ? sequence * share(array) : 0;
    for (Index i = 0; i < m.size(); ++i) to[static_cast<std::size_t>(at + i)] += m.data()[i];
  };
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Array& array = outputs_[i];
    const Matrix<double>& y = call.outputs[i].matrix();
    NUDGE_EXPECT(y.size() == share(array));
    array.rows = y.rows();
    add(array, y, array.values);
    add(array, tape.tangent(call.outputs[i]), array.result);
    tape.add_cotangent(call.outputs[i], slice(array, *array.direction, sequence));
  }
  tape.pull_back();
  for (const auto& [array, leaf] : leaves) add(*array, tape.cotangent(leaf), array->result);
}

std::vector<CaseDataset> TapeCase::compute(const std::function<void(Call&)>& forward) {
  for (const Array& array : parameters_) parameter_values_.push_back(slice(array, array.values, 0));
  try {
    for (Index b = 0; b < batch_; ++b) run_sequence(b, forward);
  } catch (const UserError& problem) {
    throw UserError(file_->name() + ": " + problem.what());
  }
  return datasets();
}

std::vector<CaseDataset> TapeCase::datasets() const {
  double largest = 0;
  for (const auto* leaves : {&parameters_, &inputs_}) {
    for (const Array& array : *leaves) largest = std::max(largest, euclidean_norm(array.result));
  }
  std::vector<CaseDataset> all;
  const auto add = [&](const std::string& group, const Array& array, const std::vector<double>& values,
                       double tolerance) {
    all.push_back({group + array.name, array.shape, values, tolerance});
    all.back().least_scale = kZeroGradient * largest;
  };
  for (const Array& array : outputs_) add("out/", array, array.values, kForward);
  for (const Array& array : inputs_) add("vjp/inputs/", array, array.result, kDerivative);
  for (const Array& array : parameters_) add("vjp/params/", array, array.result, kDerivative);
  for (const Array& array : outputs_) add("jvp/", array, array.result, kDerivative);
  for (const Array& array : observed_) add("aux/", array, array.values, kForward);
  return all;
}

void check_sizes(const H5Reader& file, const std::vector<SizeAttribute>& sizes) {
  for (const char* name : {"B", "T", "D", "d", "dh", "dk", "H", "window"}) {
    if (file.has_attribute(name)) static_cast<void>(positive_size(file, name));
  }
  for (const auto& [name, size] : sizes) {
    if (!file.has_attribute(name)) continue;
    if (const Index stated = positive_size(file, name); stated != size) {
      file.fail("attribute " + name, fmt::format("{} (the shapes say {})", stated, size));
    }
  }
}

void fail_option(const H5Reader& file, const std::string& problem) {
  static const std::pair<const char*, const char*> origins[] = {
      {"heads", "attribute H"},
      {"gate_groups", "attribute g_groups"},
      {"keys", "params/W_q"},
      {"values", "params/W_v"},
      {"decays", "params/W_dec"},
      {"groups", "params/W_k"},
      {"temperature", "attribute T_temp"},
      {"ridge", "attribute eps"},
      {"epsilon", "attribute eps"},
      {"layers", "attribute L"},
      {"head_width", "params/Wq"},
  };
  for (const auto& [option, object] : origins) {
    if (problem.rfind(option, 0) == 0) file.fail(object, problem);
  }
  throw UserError(file.name() + ": " + problem);
}

Mask read_mask(const H5Reader& file, Index queries, Index keys) {
  std::vector<std::uint8_t> attended;
  for (const std::int64_t each : file.integers("inputs/mask", H5Shape{queries, keys})) {
    if (each != 0 && each != 1) file.fail("inputs/mask", fmt::format("{} (must be 0 or 1)", each));
    attended.push_back(static_cast<std::uint8_t>(each));
  }
  try {
    return Mask::from_bytes(queries, keys, std::move(attended));
  } catch (const UserError& problem) {
    file.fail("inputs/mask", problem.what());
  }
}

std::vector<CaseDataset> compute_mixer_case(const H5Reader& file, const std::string& kind,
                                            const MixerOptions& options) {
  const MixerKind<double>& mixer = mixer_kind<double>(kind);
  MixerSpec spec;
  try {
    spec = mixer.spec(options);
  } catch (const UserError& problem) {
    fail_option(file, problem.what());
  }
  const auto [batch, tokens] = TapeCase::sizes(file, "inputs/" + spec.inputs[0].name, 3);
  const Index batch_count = batch;  // clang 14 cannot capture structured bindings
  const Index token_count = tokens;
  check_sizes(file, {{"B", batch_count}, {"T", token_count}});
  TapeCase task(file, batch_count);
  for (const Field& field : spec.inputs) {
    H5Shape shape{batch_count, token_count};
    if (field.cols() > 1) shape.push_back(field.cols());
    task.input(field.name, shape, token_count);
  }
  for (const Field& field : spec.parameters) task.parameter(field.name, field.shape);
  for (const Field& field : spec.outputs) task.output(field.name, {batch_count, token_count, field.cols()});
  const Mask mask = spec.attends ? read_mask(file, token_count, token_count) : Mask::causal(token_count);
  return task.compute([&](TapeCase::Call& call) {
    MixerCall<double> mixing{options, call.inputs, call.parameters, mask};
    mixer.forward(mixing);
    call.outputs = mixing.outputs;
    call.observed = mixing.observed;
  });
}

}  // namespace nudge
