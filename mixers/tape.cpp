// SPDX-License-Identifier: Apache-2.0
#include "mixers/tape.hpp"

#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Contract that weights which are read are used only in reads. Checked in every build, not by NUDGE_EXPECT: an operation on
/// their nominal values would compute as if the devices were perfect, and nobody would notice.
void expect_read(bool read) {
  if (!read)
    contract_violated("weights held by a reader are only read, by product(x, weights) or product_nt", __FILE__,
                      __LINE__);
}

}  // namespace

template <class S>
Value<S> Tape<S>::add(Node node) {
  nodes_.push_back(std::move(node));
  return {this, static_cast<int>(nodes_.size()) - 1};
}

template <class S>
typename Tape<S>::Node& Tape<S>::node(Value<S> value) {
  NUDGE_EXPECT(value.tape == this && value.id >= 0 && value.id < static_cast<int>(nodes_.size()));
  return nodes_[static_cast<std::size_t>(value.id)];
}

template <class S>
const typename Tape<S>::Node& Tape<S>::node(Value<S> value) const {
  NUDGE_EXPECT(value.tape == this && value.id >= 0 && value.id < static_cast<int>(nodes_.size()));
  return nodes_[static_cast<std::size_t>(value.id)];
}

template <class S>
Value<S> Tape<S>::input(Matrix<S> value) {
  Node leaf;
  leaf.value = std::move(value);
  leaf.depends = static_cast<std::uint8_t>(Leaves::inputs);
  return add(std::move(leaf));
}

template <class S>
Value<S> Tape<S>::parameter(const Matrix<S>& value) {
  Node leaf;
  leaf.external = &value;
  leaf.depends = static_cast<std::uint8_t>(Leaves::parameters);
  return add(std::move(leaf));
}

template <class S>
Value<S> Tape<S>::weights(const Matrix<S>& nominal, WeightReader<S>& reader) {
  const Value<S> leaf = parameter(nominal);
  node(leaf).reader = &reader;
  return leaf;
}

template <class S>
Value<S> Tape<S>::constant(Matrix<S> value) {
  Node leaf;
  leaf.value = std::move(value);
  return add(std::move(leaf));
}

template <class S>
void Tape<S>::evaluate(Node& node) {
  arguments_.clear();
  for (const int id : node.arguments) arguments_.push_back(&nodes_[static_cast<std::size_t>(id)].matrix());
  node.operation->forward(arguments_, node.value);
}

template <class S>
Value<S> Tape<S>::record(std::unique_ptr<Operation<S>> operation, std::initializer_list<Value<S>> arguments) {
  return record(std::move(operation), std::span<const Value<S>>(arguments.begin(), arguments.size()));
}

template <class S>
Value<S> Tape<S>::record(std::unique_ptr<Operation<S>> operation, std::span<const Value<S>> arguments) {
  Node result;
  result.operation = std::move(operation);
  for (const Value<S>& argument : arguments) {
    const Node& found = node(argument);
    expect_read(found.reader == nullptr || result.operation->reads(result.arguments.size()));
    result.arguments.push_back(argument.id);
    result.depends = static_cast<std::uint8_t>(result.depends | found.depends);
  }
  evaluate(result);
  return add(std::move(result));
}

template <class S>
const Matrix<S>& Tape<S>::matrix(Value<S> value) const {
  return node(value).matrix();
}

template <class S>
Value<S> Tape<S>::weight_rows(Value<S> weights, Index first, Index count) {
  const Node& whole = node(weights);
  expect_read(whole.reader != nullptr && first >= 0 && first + count <= whole.matrix().rows());
  Node leaf;
  leaf.value = whole.matrix().middleRows(first, count);  // for its shape: the reader has the values
  leaf.depends = static_cast<std::uint8_t>(Leaves::parameters);
  leaf.reader = whole.reader;
  leaf.first_row = whole.first_row + first;
  return add(std::move(leaf));
}

template <class S>
WeightPart Tape<S>::part(Value<S> value) const {
  const Node& found = node(value);
  return {found.first_row, found.matrix().rows(), false};
}

template <class S>
WeightReader<S>* Tape<S>::reader(Value<S> value) const {
  return node(value).reader;
}

template <class S>
Matrix<S>& Tape<S>::leaf(Value<S> value) {
  Node& found = node(value);
  NUDGE_EXPECT(!found.operation && found.external == nullptr);
  return found.value;
}

template <class S>
void Tape<S>::run() {
  for (Node& step : nodes_) {
    if (step.operation) evaluate(step);
  }
}

template <class S>
double Tape<S>::operations() const {
  double sum = 0;
  std::vector<const Matrix<S>*> arguments;
  for (const Node& step : nodes_) {
    if (!step.operation) continue;
    arguments.clear();
    for (const int id : step.arguments) arguments.push_back(&nodes_[static_cast<std::size_t>(id)].matrix());
    sum += step.operation->operations(arguments, step.value);
  }
  return sum;
}

template <class S>
void Tape<S>::clear_tangents() {
  for (Node& each : nodes_) each.has_tangent = false;
}

template <class S>
void Tape<S>::set_tangent(Value<S> value, const Matrix<S>& tangent) {
  Node& found = node(value);
  expect_read(found.reader == nullptr);
  NUDGE_EXPECT(tangent.rows() == found.matrix().rows() && tangent.cols() == found.matrix().cols());
  found.tangent = tangent;
  found.has_tangent = true;
}

template <class S>
void Tape<S>::push_forward() {
  for (Node& step : nodes_) {
    if (!step.operation) continue;
    arguments_.clear();
    tangents_.clear();
    bool any = false;
    for (const int id : step.arguments) {
      const Node& argument = nodes_[static_cast<std::size_t>(id)];
      arguments_.push_back(&argument.matrix());
      tangents_.push_back(argument.has_tangent ? &argument.tangent : nullptr);
      any = any || argument.has_tangent;
    }
    step.has_tangent = any;
    if (!any) continue;
    step.tangent.resize(step.value.rows(), step.value.cols());
    step.operation->jvp(arguments_, step.value, tangents_, step.tangent);
  }
}

template <class S>
const Matrix<S>& Tape<S>::tangent(Value<S> value) const {
  const Node& found = node(value);
  return found.has_tangent ? found.tangent : empty_;
}

template <class S>
void Tape<S>::clear_cotangents(Leaves kept) {
  for (Node& each : nodes_) {
    const bool keep = !each.operation && (each.depends & static_cast<std::uint8_t>(kept)) != 0;
    each.has_cotangent = each.has_cotangent && keep;
  }
}

template <class S>
void Tape<S>::add_cotangent(Value<S> value, const Matrix<S>& cotangent) {
  Node& found = node(value);
  expect_read(found.reader == nullptr);
  NUDGE_EXPECT(cotangent.rows() == found.matrix().rows() && cotangent.cols() == found.matrix().cols());
  if (found.has_cotangent) {
    found.cotangent += cotangent;
  } else {
    found.cotangent = cotangent;
  }
  found.has_cotangent = true;
}

template <class S>
void Tape<S>::pull_back(Leaves wanted) {
  const auto mask = static_cast<std::uint8_t>(wanted);
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    Node& step = nodes_[n];
    if (!step.operation || !step.has_cotangent || (step.depends & mask) == 0) continue;
    arguments_.clear();
    cotangents_.clear();
    for (const int id : step.arguments) {
      Node& argument = nodes_[static_cast<std::size_t>(id)];
      arguments_.push_back(&argument.matrix());
      if ((argument.depends & mask) == 0) {
        cotangents_.emplace_back();
        continue;
      }
      const bool empty = !argument.has_cotangent && argument.reader == nullptr;
      if (empty) {
        argument.cotangent.resize(argument.matrix().rows(), argument.matrix().cols());
        argument.has_cotangent = true;
      } else {
        // One matrix as two arguments: operations may write them in any order, so both add.
        for (Cotangent<S>& earlier : cotangents_) {
          if (earlier.refers_to(argument.cotangent)) *earlier;
        }
      }
      cotangents_.emplace_back(argument.cotangent, empty);
    }
    step.operation->vjp(arguments_, step.value, step.cotangent, cotangents_);
    for (Cotangent<S>& each : cotangents_) {
      if (each != nullptr) *each;  // zero where nothing arrived
    }
  }
}

template <class S>
const Matrix<S>& Tape<S>::cotangent(Value<S> value) const {
  const Node& found = node(value);
  return found.has_cotangent ? found.cotangent : empty_;
}

template <class S>
void Tape<S>::take_cotangent(Value<S> value, Matrix<S>& out) {
  Node& found = node(value);
  NUDGE_EXPECT(out.rows() == found.matrix().rows() && out.cols() == found.matrix().cols());
  if (found.has_cotangent) {
    out.swap(found.cotangent);
    found.has_cotangent = false;
  } else {
    out.setZero();
  }
}

NUDGE_BOTH_PRECISIONS_OF(Tape)

}  // namespace nudge
