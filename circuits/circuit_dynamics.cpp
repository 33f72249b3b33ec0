// SPDX-License-Identifier: Apache-2.0
// Nodes of a circuit in their bath: a draw is a pure function of the seed and of which read of which example it is.
#include "circuits/circuit_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "circuits/circuit_point.hpp"
#include "circuits/leaky_step.hpp"
#include "circuits/terms/layer_energy.hpp"
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
  for (const auto& term : circuit.terms()) systems_.push_back(term->make_system(rows, max_copies));
  if (systems_.size() == 1) {
    direct_ = dynamic_cast<Direct<S>*>(systems_.front().get());
    inertia_ = dynamic_cast<Inertia<S>*>(systems_.front().get());
  }
  std::vector<typename Box<S>::Range> ranges;
  for (const Node& node : circuit.nodes()) {
    node_columns_.push_back(node.columns);
    if (!node.bounded()) continue;
    for (Index j = 0; node.units != nullptr && j < node.columns.count; ++j) {
      ranges.push_back(
          {{node.columns.begin + j, 1}, static_cast<S>(node.lower_of(j)), static_cast<S>(node.upper_of(j))});
    }
    if (node.units != nullptr) continue;
    const S lower = static_cast<S>(node.lower), upper = static_cast<S>(node.upper);
    const Index straight = node.columns.count - node.turned;
    if (straight > 0) ranges.push_back({{node.columns.begin, straight}, lower, upper});
    if (node.turned > 0) ranges.push_back({{node.columns.begin + straight, node.turned}, -upper, -lower});
  }
  bath_ = in_bath();
  if (!ranges.empty()) box_.emplace(std::move(ranges));
  point_ = std::make_unique<Point>(*this);
}

template <class S>
CircuitDynamics<S>::~CircuitDynamics() = default;

template <class S>
void CircuitDynamics<S>::bind(ConstMatrixRef<S> input, const ReadContext& read) {
  const Index inputs = circuit_->inputs();
  NUDGE_EXPECT(input.rows() == rows_ && input.cols() >= inputs && input.cols() % std::max<Index>(inputs, 1) == 0);
  frames_ = inputs > 0 ? input.cols() / inputs : 1;
  shown_ = 0;
  if (frames_ > 1) series_ = input;
  input_ = input.leftCols(inputs);
  input_gradient_.setZero();
  read_ = read;
  noisy_ = circuit_->noisy();
  keeps_points_ = circuit_->keeps_points() && frames_ == 1;
  loads_known_ = false;
  memory_.clear();
  read_.memory = &memory_;
  clamp();
}

template <class S>
void CircuitDynamics<S>::clamp() {
  for (auto& system : systems_) system->bind(input_);
  gather_affine_parts();
}

template <class S>
void CircuitDynamics<S>::show(Index frame) {
  NUDGE_EXPECT(frame >= 0 && frame < frames_);
  if (frame == shown_ || frames_ == 1) return;
  shown_ = frame;
  input_ = series_.middleCols(frame * input_.cols(), input_.cols());
  clamp();
}

template <class S>
const Matrix<S>* CircuitDynamics<S>::loads() {
  if (!loads_known_) has_loads_ = circuit_->loads(loads_);
  loads_known_ = true;
  return has_loads_ ? &loads_ : nullptr;
}

template <class S>
void CircuitDynamics<S>::solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) {
  const auto& terms = circuit_->terms();
  const auto bends = [&](const auto& term) { return term->solve_node(z, f, inverse, columns); };
  if (std::none_of(terms.begin(), terms.end(), bends)) Layered<S>::solve_node(z, f, inverse, columns);
}

/// Sums the affine parts of the force: clamps and leaks of the nodes, and those of the terms.
template <class S>
void CircuitDynamics<S>::gather_affine_parts() {
  drive_.setZero(rows_, cols());
  held_.resize(1, cols());
  for (const Node& node : circuit_->nodes()) {
    held_.middleCols(node.columns.begin, node.columns.count).setConstant(static_cast<S>(circuit_->leak(node)));
    if (node.driven) drive_.middleCols(node.columns.begin, node.columns.count) = input_;
  }
  has_rest_ = false;
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    const bool conservative = circuit_->traits(i).conservative;
    if (!conservative && !has_rest_) rest_drive_.setZero(rows_, cols());
    const bool given = systems_[i]->add_affine_part(conservative ? drive_ : rest_drive_, held_, read_);
    has_rest_ = has_rest_ || (given && !conservative);
  }
  if (has_rest_) all_drive_ = drive_ + rest_drive_;
  uniform_ = true;
  for (const Node& node : circuit_->nodes()) {
    const auto held = held_.middleCols(node.columns.begin, node.columns.count);
    uniform_ = uniform_ && (held.array() == static_cast<S>(circuit_->leak(node))).all();
  }
}

/// Computes f = drive − held ∘ z of one node, for the terms of `part`.
template <class S>
void CircuitDynamics<S>::leak_and_drive(const Node& node, Part part, ConstMatrixRef<S> z, MatrixRef<S> f) const {
  const auto [begin, count] = node.columns;
  const S leak = static_cast<S>(circuit_->leak(node));
  for (Index row = 0; row < z.rows(); row += rows_) {
    auto out = f.middleCols(begin, count).middleRows(row, rows_);
    const auto in = z.middleCols(begin, count).middleRows(row, rows_);
    if (part == Part::nonconservative) {
      out = rest_drive_.middleCols(begin, count);
    } else if (uniform_) {
      out = drive(part).middleCols(begin, count) - leak * in;
    } else {
      out.array() = drive(part).middleCols(begin, count).array() -
                    in.array().rowwise() * held_.row(0).segment(begin, count).array();
    }
  }
}

template <class S>
void CircuitDynamics<S>::leak_and_drive(Part part, ConstMatrixRef<S> z, MatrixRef<S> f) const {
  if (part == Part::nonconservative && !has_rest_) return f.setZero(), void();
  for (const Node& node : circuit_->nodes()) leak_and_drive(node, part, z, f);
}

/// Adds the noise of a node. The conductance that holds a node, L C/τ of clamp and damping or the resistors that load it, is as warm as
/// the devices: white noise of strength node_noise √L per √τ, with which it holds the node at kT/C. Steps of ε follow a leak exactly
/// (sim/read_timing.hpp), a load D as z′ = (1 − εD) z: they gather the variance of the circuit where σ² is taken (1 − εD/2) times.
template <class S>
void CircuitDynamics<S>::add_node_noise(const Node& node, MatrixRef<S> f) {
  const auto [begin, count] = node.columns;
  node_noise_.resize(f.rows(), count);
  const std::uint64_t place = (static_cast<std::uint64_t>(read_.sequence) << 32) | read_.step;
  fill_normal<S>({read_.seed, Purpose::node_noise, 0}, place, (read_.phase << 24U) + read_.read++,
                 std::span<S>(node_noise_.data(), static_cast<std::size_t>(node_noise_.size())));
  const double unit = node.scale * circuit_->node_noise() * read_.noise_scale() / std::sqrt(read_.reads());
  const double leak = circuit_->leak(node);
  auto out = f.middleCols(begin, count);
  if (leak > 0) {
    out += static_cast<S>(unit * std::sqrt(leak)) * node_noise_;
  } else if (const Matrix<S>* load = loads()) {
    const auto held = load->row(0).segment(begin, count).array();
    const S half = static_cast<S>(read_.relaxes() ? read_.interval() / 2 : 0.0);
    out.array() +=
        static_cast<S>(unit) * (node_noise_.array().rowwise() * (held * (S(1) - half * held).max(S(0))).sqrt());
  }
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
  leak_and_drive(at, Part::all, z, f);
  if (circuit_->node_noise() != 0 && read_.noisy()) add_node_noise(at, f);
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (circuit_->acts_on(i, node)) systems_[i]->force(z, f, Part::all, static_cast<int>(node), Store::add, read_);
  }
}

/// Takes a step of a node: first the force of the terms at z, then leak, drive, box and norms in one pass over it.
template <class S>
NodeMove CircuitDynamics<S>::node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) {
  const Node& at = circuit_->nodes()[node];
  const auto bounds = box_ ? box_->bounds(at.columns) : std::optional(typename Box<S>::Bounds{});
  if (!bounds || !uniform_ || (circuit_->node_noise() != 0 && read_.noisy())) {
    return step_of_node<S>(*this, box_ ? &*box_ : nullptr, z, f, node, epsilon);
  }
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= max_rows_);
  if (node == 0) read_.pass();
  auto coupling = f.middleCols(at.columns.begin, at.columns.count);
  const int number = static_cast<int>(node);
  std::size_t first = 0;  // one that spares the others a state of zeros
  while (first < systems_.size() && !(circuit_->acts_on(first, node) && circuit_->traits(first).assigns)) ++first;
  if (first < systems_.size()) {
    systems_[first]->force(z, f, Part::all, number, Store::assign, read_);
  } else {
    coupling.setZero();
  }
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (i != first && circuit_->acts_on(i, node)) systems_[i]->force(z, f, Part::all, number, Store::add, read_);
  }
  const Matrix<S>& all = drive(Part::all);
  const LeakyDrive<S> standing{all.data() + at.columns.begin, all.cols(), rows_, static_cast<S>(circuit_->leak(at))};
  return leaky_step<S>(z.middleCols(at.columns.begin, at.columns.count), coupling, standing, *bounds, epsilon);
}

template <class S>
void CircuitDynamics<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= max_rows_);
  read_.pass();
  leak_and_drive(part, z, f);
  if (part != Part::nonconservative) add_node_noise(f);
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (circuit_->traits(i).has(part)) systems_[i]->force(z, f, part, kAllNodes, Store::add, read_);
  }
}

template <class S>
Linearization<S>& CircuitDynamics<S>::linearize(ConstMatrixRef<S> z) {
  const ReadingAs stored(read_, ReadClass::stored);
  point_->set(z);
  return *point_;
}

template <class S>
void CircuitDynamics<S>::remember(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t number) {
  point_->set(z);
  f = point_->unmasked_force();
  point_->swap(number);
}

template <class S>
Linearization<S>& CircuitDynamics<S>::recall(std::size_t number) {
  point_->swap(number);
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
    if (!circuit_->traits(i).conservative) continue;
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
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (circuit_->traits(i).nonconservative) return false;
  }
  const ReadingAs correlation(read_, ReadClass::correlation);
  for (std::size_t k = 0; k < scales.size(); ++k) read_.pass();
  bool all = true;
  for (auto& system : systems_) all = system->accumulate_energy_gradient(z, scales, sink, read_) && all;
  return all;
}

template <class S>
bool CircuitDynamics<S>::accumulate_layer_energies(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
  NUDGE_EXPECT(z.rows() == rows_);
  std::vector<LayerEnergy<S>*> own;
  for (auto& system : systems_) {
    own.push_back(dynamic_cast<LayerEnergy<S>*>(system.get()));
    if (own.back() != nullptr && !own.back()->has_layer_energy()) return false;
  }
  const ReadingAs correlation(read_, ReadClass::correlation);
  read_.pass();
  const S down = -scale;
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (own[i] != nullptr) {
      own[i]->accumulate_layer_energy(z, scale, sink, read_);
    } else if (!systems_[i]->accumulate_energy_gradient(z, std::span<const S>(&down, 1), sink, read_)) {
      return false;
    }
  }
  return true;
}

NUDGE_BOTH_PRECISIONS_OF(CircuitDynamics)

template <class S>
bool CircuitDynamics<S>::in_bath() const {
  for (const Node& node : circuit_->nodes()) {
    if (node.temperature > 0) return true;
  }
  return false;
}

template <class S>
bool CircuitDynamics<S>::binary(std::size_t node) const {
  return circuit_->nodes()[node].bits != nullptr;
}

template <class S>
void CircuitDynamics<S>::move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step, std::span<const S> added) {
  const Node& at = circuit_->nodes()[node];
  const auto [begin, count] = at.columns;
  auto state = z.middleCols(begin, count);
  const auto push = f.middleCols(begin, count);
  const std::uint32_t pass = (read_.phase << 24U) + read_.read++;
  node_noise_.resize(z.rows(), count);
  if (at.bits != nullptr) {
    const Matrix<S> drive = push / static_cast<S>(at.temperature);
    at.bits->template sample<S>(drive, node_noise_, (read_.step << 32U) | pass,
                                read_.sequence * static_cast<std::uint32_t>(max_rows_));
    state = node_noise_;
    return;
  }
  const std::uint64_t place = (static_cast<std::uint64_t>(read_.sequence) << 32U) | read_.step;
  fill_normal<S>({read_.seed, Purpose::sde, static_cast<std::uint32_t>(node)}, place, pass,
                 std::span<S>(node_noise_.data(), static_cast<std::size_t>(node_noise_.size())));
  const auto epsilon = static_cast<double>(step);
  state += step * push;
  const std::size_t copies = std::max<std::size_t>(1, added.size());
  const Index rows = z.rows() / static_cast<Index>(copies);
  for (std::size_t k = 0; k < copies; ++k) {
    const double load = circuit_->leak(at) + (added.empty() ? 0.0 : static_cast<double>(added[k]));
    const double spread = at.temperature * epsilon * std::max(0.0, 2 - epsilon * load);  // 0: steps that overshoot
    const Index first = static_cast<Index>(k) * rows;
    state.middleRows(first, rows) += static_cast<S>(std::sqrt(spread)) * node_noise_.middleRows(first, rows);
  }
}

#define NUDGE_CIRCUIT_BATH(S)                                  \
  template bool CircuitDynamics<S>::in_bath() const;           \
  template bool CircuitDynamics<S>::binary(std::size_t) const; \
  template void CircuitDynamics<S>::move(MatrixRef<S>, ConstMatrixRef<S>, std::size_t, S, std::span<const S>);
NUDGE_BOTH_PRECISIONS(NUDGE_CIRCUIT_BATH)

}  // namespace nudge
