// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "circuits/circuit_point.hpp"
#include "circuits/leaky_step.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
CircuitDynamics<S>::CircuitDynamics(const Circuit<S>& circuit, Index rows, Index max_copies)
    : circuit_(&circuit),
      rows_(rows),
      max_rows_(rows * max_copies),
      input_(rows, circuit.inputs()),
      input_gradient_(rows, circuit.inputs()) {
  for (const auto& term : circuit.terms()) {
    systems_.push_back(term->make_system(rows, max_copies));
    constant_.push_back(term->constant());
    split_.push_back(term->splits());
  }
  splits_ = std::find(split_.begin(), split_.end(), true) != split_.end();
  has_drives_ = splits_ || std::find(constant_.begin(), constant_.end(), true) != constant_.end();
  std::vector<typename Box<S>::Range> ranges;
  for (const Node& node : circuit.nodes()) {
    if (!node.bounded()) continue;
    const S lower = static_cast<S>(node.lower), upper = static_cast<S>(node.upper);
    const Index straight = node.columns.count - node.turned;
    if (straight > 0) ranges.push_back({{node.columns.begin, straight}, lower, upper});
    if (node.turned > 0) ranges.push_back({{node.columns.begin + straight, node.turned}, -upper, -lower});
  }
  if (has_drives_) nowhere_ = Matrix<S>::Zero(rows, cols());
  if (!ranges.empty()) box_.emplace(std::move(ranges));
  point_ = std::make_unique<Point>(*this);
}

template <class S>
CircuitDynamics<S>::~CircuitDynamics() = default;

template <class S>
void CircuitDynamics<S>::bind(ConstMatrixRef<S> input, const ReadContext& read) {
  NUDGE_EXPECT(input.rows() == rows_ && input.cols() == circuit_->inputs());
  input_ = input;
  input_gradient_.setZero();
  read_ = read;
  noisy_ = circuit_->noisy();
  keeps_points_ = circuit_->keeps_points();
  loads_known_ = drives_known_ = conservative_known_ = false;
  memory_.clear();
  read_.memory = &memory_;
  for (auto& system : systems_) system->bind(input_);
}

template <class S>
const Matrix<S>* CircuitDynamics<S>::loads() {
  if (!loads_known_) has_loads_ = circuit_->loads(loads_);
  loads_known_ = true;
  return has_loads_ ? &loads_ : nullptr;
}

template <class S>
void CircuitDynamics<S>::balance(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) {
  const auto& terms = circuit_->terms();
  const auto bends = [&](const auto& term) { return term->balance(z, f, inverse, columns); };
  if (std::none_of(terms.begin(), terms.end(), bends)) Dynamics<S>::balance(z, f, inverse, columns);
}

/// What drives the nodes, without the constant terms; and held_.
template <class S>
void CircuitDynamics<S>::begin_drive(Matrix<S>& drive) {
  drive.setZero(rows_, cols());
  held_.resize(1, cols());
  for (const Node& node : circuit_->nodes()) {
    held_.middleCols(node.columns.begin, node.columns.count).setConstant(static_cast<S>(circuit_->leak(node)));
    if (node.driven) drive.middleCols(node.columns.begin, node.columns.count) = input_;
  }
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (!split_[i]) continue;
    circuit_->terms()[i]->add_load(held_);
    systems_[i]->add_drive(drive, read_);
  }
}

/// The drives of the present example: constant terms are formed once.
template <class S>
void CircuitDynamics<S>::know_drives() {
  if (std::exchange(drives_known_, true)) return;
  begin_drive(drive_);
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (constant_[i]) systems_[i]->force(nowhere_, drive_, Part::all, read_);
  }
}

template <class S>
void CircuitDynamics<S>::know_conservative_drives() {
  if (std::exchange(conservative_known_, true)) return;
  begin_drive(conservative_drive_);
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (!constant_[i] || !circuit_->terms()[i]->has(Part::conservative)) continue;
    systems_[i]->force(nowhere_, conservative_drive_, Part::conservative, read_);
  }
}

/// f = drive − L z, L that of held_.
template <class S>
void CircuitDynamics<S>::start(const Node& node, const Matrix<S>& drive, ConstMatrixRef<S> z, MatrixRef<S> f) const {
  const S leak = static_cast<S>(circuit_->leak(node));
  const auto [begin, count] = node.columns;
  for (Index row = 0; row < z.rows(); row += rows_) {
    auto out = f.middleCols(begin, count).middleRows(row, rows_);
    const auto in = z.middleCols(begin, count).middleRows(row, rows_);
    if (splits_) {
      out.array() =
          drive.middleCols(begin, count).array() - in.array().rowwise() * held_.row(0).segment(begin, count).array();
    } else {
      out = drive.middleCols(begin, count) - leak * in;
    }
  }
}

/// f = x_in − L z.
template <class S>
void CircuitDynamics<S>::start(const Node& node, ConstMatrixRef<S> z, MatrixRef<S> f) const {
  const S leak = static_cast<S>(circuit_->leak(node));
  const auto [begin, count] = node.columns;
  for (Index row = 0; row < z.rows(); row += rows_) {
    auto out = f.middleCols(begin, count).middleRows(row, rows_);
    const auto in = z.middleCols(begin, count).middleRows(row, rows_);
    if (node.driven) {
      out = input_ - leak * in;
    } else {
      out = -leak * in;
    }
  }
}

template <class S>
void CircuitDynamics<S>::start(ConstMatrixRef<S> z, MatrixRef<S> f) const {
  for (const Node& node : circuit_->nodes()) start(node, z, f);
}

/// The conductance of clamp and damping, L C/τ, is as warm as the devices: white noise of strength node_noise √L per √τ,
/// with which the leak alone holds every node at kT/C.
template <class S>
void CircuitDynamics<S>::add_node_noise(const Node& node, MatrixRef<S> f) {
  const auto [begin, count] = node.columns;
  node_noise_.resize(f.rows(), count);
  const std::uint64_t place = (static_cast<std::uint64_t>(read_.sequence) << 32) | read_.step;
  fill_normal<S>({read_.seed, Purpose::node_noise, 0}, place, (read_.phase << 24U) + read_.read++,
                 std::span<S>(node_noise_.data(), static_cast<std::size_t>(node_noise_.size())));
  const double sigma = circuit_->node_noise() * std::sqrt(circuit_->leak(node) / read_.reads()) * read_.noise_scale();
  f.middleCols(begin, count) += static_cast<S>(sigma) * node_noise_;
}

template <class S>
void CircuitDynamics<S>::add_node_noise(MatrixRef<S> f) {
  if (circuit_->node_noise() == 0 || !read_.noisy()) return;
  for (const Node& node : circuit_->nodes()) add_node_noise(node, f);
}

template <class S>
void CircuitDynamics<S>::node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) {
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= max_rows_);
  if (node == 0) read_.pass();
  const Node& at = circuit_->nodes()[node];
  if (has_drives_) {
    know_drives();
    start(at, drive_, z, f);
  } else {
    start(at, z, f);
  }
  if (circuit_->node_noise() != 0 && read_.noisy()) add_node_noise(at, f);
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (!circuit_->acts_on(i, node) || constant_[i]) continue;
    if (split_[i]) {
      systems_[i]->add_products(z, f, static_cast<int>(node), read_);
    } else {
      systems_[i]->node_force(z, f, static_cast<int>(node), read_);
    }
  }
}

/// What the terms make of z first, then leak, drive, box and norms in one pass over it.
template <class S>
NodeMove CircuitDynamics<S>::node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) {
  const Node& at = circuit_->nodes()[node];
  const auto bounds = box_ ? box_->bounds(at.columns) : std::optional(typename Box<S>::Bounds{});
  if (!bounds || splits_ || (circuit_->node_noise() != 0 && read_.noisy())) {
    return Dynamics<S>::node_step(z, f, node, epsilon);
  }
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= max_rows_);
  if (node == 0) read_.pass();
  if (has_drives_) know_drives();
  auto coupling = f.middleCols(at.columns.begin, at.columns.count);
  bool begun = false;
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (!circuit_->acts_on(i, node) || constant_[i]) continue;
    const int number = static_cast<int>(node);
    if (!begun && systems_[i]->assign_node_force(z, f, number, read_)) {
      begun = true;
      continue;
    }
    if (!std::exchange(begun, true)) coupling.setZero();
    systems_[i]->node_force(z, f, number, read_);
  }
  if (!begun) coupling.setZero();
  const LeakyDrive<S> drive{has_drives_ ? drive_.data() + at.columns.begin : (at.driven ? input_.data() : nullptr),
                            has_drives_ ? drive_.cols() : input_.cols(), rows_, static_cast<S>(circuit_->leak(at))};
  return leaky_step<S>(z.middleCols(at.columns.begin, at.columns.count), coupling, drive, *bounds, epsilon);
}

template <class S>
void CircuitDynamics<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= max_rows_);
  read_.pass();
  const bool driven = has_drives_ && part != Part::nonconservative;
  if (part == Part::nonconservative) {
    f.setZero();
  } else if (driven) {
    part == Part::all ? know_drives() : know_conservative_drives();
    const Matrix<S>& drive = part == Part::all ? drive_ : conservative_drive_;
    for (const Node& node : circuit_->nodes()) start(node, drive, z, f);
  } else {
    start(z, f);
  }
  if (part != Part::nonconservative) add_node_noise(f);
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (!circuit_->terms()[i]->has(part) || (driven && constant_[i])) continue;
    if (driven && split_[i]) {
      systems_[i]->add_products(z, f, TermSystem<S>::kAllNodes, read_);
    } else {
      systems_[i]->force(z, f, part, read_);
    }
  }
}

template <class S>
Linearization<S>& CircuitDynamics<S>::linearize(ConstMatrixRef<S> z) {
  const ReadingAs stored(read_, ReadClass::stored);
  point_->set(z);
  return *point_;
}

template <class S>
bool CircuitDynamics<S>::remember(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t number) {
  if (!keeps_points_) return false;
  point_->set(z);
  f = point_->unmasked_force();
  point_->exchange(number);
  return true;
}

template <class S>
Linearization<S>& CircuitDynamics<S>::recall(std::size_t number) {
  point_->exchange(number);
  return *point_;
}

template <class S>
std::optional<double> CircuitDynamics<S>::energy(ConstMatrixRef<S> z) {
  double total = 0;
  for (const Node& node : circuit_->nodes()) {
    const auto in = z.middleCols(node.columns.begin, node.columns.count);
    const double rest = node.leak - (node.driven ? 1.0 : 0.0) + (node.damped ? circuit_->damping().total() : 0.0);
    if (node.driven) total += 0.5 * (in - input_).template cast<double>().squaredNorm();
    total += 0.5 * rest * inner_product<S>(in, in);
  }
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (!circuit_->terms()[i]->has(Part::conservative)) continue;
    const auto energy = systems_[i]->energy(z, read_);
    if (!energy) return std::nullopt;
    total += *energy;
  }
  return total;
}

template <class S>
bool CircuitDynamics<S>::accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales,
                                                    GradientSink<S>& sink) {
  NUDGE_EXPECT(z.rows() == rows_ * static_cast<Index>(scales.size()) && z.rows() <= max_rows_);
  for (const auto& term : circuit_->terms()) {
    if (term->has(Part::nonconservative)) return false;
  }
  const ReadingAs correlation(read_, ReadClass::correlation);
  bool all = true;
  std::vector<bool> done(systems_.size());
  for (std::size_t k = 0; k < scales.size(); ++k) {
    read_.pass();
    const auto copy = z.middleRows(static_cast<Index>(k) * rows_, rows_);
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      if (k == 0 && scales.size() > 1) done[i] = systems_[i]->accumulate_energy_contrast(z, scales, sink, read_);
      if (!done[i]) all = systems_[i]->accumulate_energy_gradient(copy, scales[k], sink, read_) && all;
    }
  }
  return all;
}

template <class S>
void CircuitDynamics<S>::nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  if (part == Part::conservative && circuit_->nudged_drive() == NudgedDrive::difference) {
    point_->nearby_force(z, f);
  } else {
    force(z, f, part);
  }
}

template class CircuitDynamics<float>;
template class CircuitDynamics<double>;

}  // namespace nudge
