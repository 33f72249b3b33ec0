// SPDX-License-Identifier: Apache-2.0
#include "circuits/block_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "circuits/block_point.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

template <class S>
BlockDynamics<S>::BlockDynamics(const EquilibriumBlock<S>& block, Index tokens, Index max_copies)
    : block_(&block),
      tokens_(tokens),
      drive_(tokens, block.channels()),
      drive_gradient_(tokens, block.channels()),
      h_(max_copies * tokens, block.input().outputs()),
      g_(max_copies * tokens, block.input().outputs()) {
  for (const auto& placed : block.terms()) points_.push_back(placed.term->make_point(tokens, max_copies));
  for (const auto& term : block.state_terms()) state_points_.push_back(term->make_point(tokens));
  linearization_ = std::make_unique<Point>(*this, block.input().outputs());
}

template <class S>
BlockDynamics<S>::~BlockDynamics() = default;

template <class S>
void BlockDynamics<S>::bind(ConstMatrixRef<S> drive, const ReadContext& read) {
  NUDGE_EXPECT(drive.rows() == tokens_ && drive.cols() == cols());
  drive_ = drive;
  drive_gradient_.setZero();
  read_ = read;
  noisy_ = block_->noisy();
  memory_.clear();
  read_.memory = &memory_;
}

template <class S>
void BlockDynamics<S>::add_leak(ConstMatrixRef<S> z, MatrixRef<S> f) const {
  const S leak = static_cast<S>(block_->leak().total());
  for (Index row = 0; row < z.rows(); row += tokens_) {
    f.middleRows(row, tokens_) = drive_ - leak * z.middleRows(row, tokens_);
  }
}

/// The conductance of clamp and damping, L C/τ, is as warm as the devices: white noise of strength node_noise √L per √τ,
/// with which the leak alone holds every node at kT/C.
template <class S>
void BlockDynamics<S>::add_node_noise(MatrixRef<S> f) {
  if (block_->node_noise() == 0 || !read_.noisy()) return;
  node_noise_.resize(f.rows(), f.cols());
  const std::uint64_t place = (static_cast<std::uint64_t>(read_.sequence) << 32) | read_.step;
  fill_normal<S>({read_.seed, Purpose::node_noise, 0}, place, (read_.phase << 24U) + read_.read++,
                 std::span<S>(node_noise_.data(), static_cast<std::size_t>(node_noise_.size())));
  const double sigma = block_->node_noise() * std::sqrt(leak() / read_.reads()) * read_.noise_scale();
  f += static_cast<S>(sigma) * node_noise_;
}

template <class S>
void BlockDynamics<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  NUDGE_EXPECT(z.rows() % tokens_ == 0 && z.rows() <= h_.rows());
  read_.pass();
  if (part == Part::nonconservative) {
    f.setZero();
  } else {
    add_leak(z, f);
    add_node_noise(f);
  }
  for_state_terms(part, [&](const auto& term, TermPoint& point) { term.force(z, f, point); });
  const Columns driven = span_of([part](const auto& t) { return in_part(t, part); });
  if (driven.count == 0) return;
  auto h = h_.topRows(z.rows());
  auto g = g_.topRows(z.rows());
  block_->input().forward(z, h.middleCols(driven.begin, driven.count), driven, Store::assign, read_);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, columns] = block_->terms()[i];
    if (!in_part(*term, part)) continue;
    term->force(h.middleCols(columns.begin, columns.count), g.middleCols(columns.begin, columns.count), f, *points_[i],
                read_);
  }
  const Columns back = span_of([part](const auto& t) { return in_part(t, part) && t.returns_through_input(); });
  if (back.count > 0) {
    block_->input().transposed(g.middleCols(back.begin, back.count), f, back, Store::add, read_);
  }
}

template <class S>
Linearization<S>& BlockDynamics<S>::linearize(ConstMatrixRef<S> z) {
  linearization_->set(z);
  return *linearization_;
}

template <class S>
std::optional<double> BlockDynamics<S>::energy(ConstMatrixRef<S> z) {
  const double damping = block_->leak().gain * block_->leak().damping;
  double total = 0.5 * (z - drive_).template cast<double>().squaredNorm() +
                 0.5 * damping * z.template cast<double>().squaredNorm();
  for (const auto& [term, columns] : block_->terms()) {
    if (!term->conservative()) continue;
    auto h = h_.topRows(tokens_).middleCols(columns.begin, columns.count);
    ReadContext quiet = read_;
    quiet.kind = ReadClass::monitor;  // known from the model: no circuit sums it up
    quiet.policy = ReadPolicy::all_ideal();
    block_->input().forward(z, h, columns, Store::assign, quiet);
    const auto energy = term->energy(h);
    if (!energy) return std::nullopt;
    total += *energy;
  }
  return total;
}

template <class S>
void BlockDynamics<S>::nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  if (part == Part::conservative && block_->nudged_drive() == NudgedDrive::difference) {
    linearization_->nearby_force(z, f);
  } else {
    force(z, f, part);
  }
}

template class BlockDynamics<float>;
template class BlockDynamics<double>;

}  // namespace nudge
