// SPDX-License-Identifier: Apache-2.0
// The circuit linearised at a point: its derivatives, its local correlation, and the laws of the nudged phase.
#include "circuits/circuit_point.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void CircuitDynamics<S>::Point::set(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() == owner_->rows_);
  CircuitDynamics& d = *owner_;
  z0_ = z;
  d.read_.pass();
  d.leak_and_drive(Part::conservative, z, f0_conservative_);
  d.leak_and_drive(Part::nonconservative, z, f0_);  // the rest first; the sum in the end
  for (auto& system : d.systems_) system->linearize(z, f0_conservative_, f0_, d.read_);
  f0_ += f0_conservative_;
  if (!d.box_) return;
  moving_.setOnes();
  d.box_->hold(z, f0_, moving_, {0, z.cols()});
}

template <class S>
void CircuitDynamics<S>::Point::swap(std::size_t number) {
  for (auto& system : owner_->systems_) system->swap_point(number);
  if (!owner_->box_) return;
  if (kept_moving_.size() <= number) kept_moving_.resize(number + 1);
  if (kept_moving_[number].size() == 0) kept_moving_[number].resizeLike(moving_);
  moving_.swap(kept_moving_[number]);
}

/// Masks x ← m ⊙ x in all copies.
template <class S>
void CircuitDynamics<S>::Point::mask(MatrixRef<S> x) const {
  if (!owner_->box_) return;
  for (Index row = 0; row < x.rows(); row += owner_->rows_) x.middleRows(row, owner_->rows_).array() *= moving_.array();
}

template <class S>
void CircuitDynamics<S>::Point::force(MatrixRef<S> f, Part part) {
  if (part == Part::all) {
    f = f0_;
  } else if (part == Part::conservative) {
    f = f0_conservative_;
  } else {
    f = f0_ - f0_conservative_;
  }
  mask(f);
}

/// Sets out = −L v, or 0 for a part without the leaks.
template <class S>
void CircuitDynamics<S>::Point::leak(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) const {
  if (part == Part::nonconservative) {
    out.setZero();
    return;
  }
  for (const Node& node : owner_->circuit_->nodes()) {
    const auto [begin, count] = node.columns;
    out.middleCols(begin, count) = -static_cast<S>(owner_->circuit_->leak(node)) * v.middleCols(begin, count);
  }
}

template <class S>
void CircuitDynamics<S>::Point::jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) {
  with_moving(v, [&](ConstMatrixRef<S> x) {
    leak(x, out, part);
    for_terms(part, [&](TermSystem<S>& system) { system.jvp(x, S(1), out, part, owner_->read_); });
  });
  mask(out);
}

template <class S>
void CircuitDynamics<S>::Point::vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) {
  with_moving(u, [&](ConstMatrixRef<S> x) {
    leak(x, out, part);
    for_terms(part, [&](TermSystem<S>& system) { system.vjp(x, out, part, owner_->read_); });
  });
  mask(out);
}

/// Adds the part of u that nodes pass to the input that drives them.
template <class S>
void CircuitDynamics<S>::Point::correlate_input(ConstMatrixRef<S> u, S scale) {
  CircuitDynamics& d = *owner_;
  if (d.input_gradient_.size() == 0) return;
  for (const Node& node : d.circuit_->nodes()) {
    if (node.driven) d.input_gradient_ += scale * u.middleCols(node.columns.begin, node.columns.count);
  }
}

template <class S>
void CircuitDynamics<S>::Point::accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> pulled) {
  CircuitDynamics& d = *owner_;
  with_moving(u, [&](ConstMatrixRef<S> x) {
    correlate_input(x, scale);
    if (pulled.size() > 0) leak(x, pulled, Part::all);
    const ReadingAs correlation(d.read_, ReadClass::correlation);
    d.read_.pass();
    for (auto& system : d.systems_) system->accumulate(x, scale, sink, d.input_gradient_, pulled, d.read_);
  });
  if (pulled.size() > 0) mask(pulled);
}

/// Sets v_ = z − z₀, copy by copy.
template <class S>
void CircuitDynamics<S>::Point::displacement(ConstMatrixRef<S> z) {
  for (Index row = 0; row < z.rows(); row += owner_->rows_) {
    v_.middleRows(row, owner_->rows_) = z.middleRows(row, owner_->rows_) - z0_;
  }
}

/// Sets the columns of one node in v_ = z − z₀.
template <class S>
void CircuitDynamics<S>::Point::displacement(ConstMatrixRef<S> z, Columns of) {
  const auto [begin, count] = of;
  for (Index row = 0; row < z.rows(); row += owner_->rows_) {
    v_.middleCols(begin, count).middleRows(row, owner_->rows_) =
        z.middleCols(begin, count).middleRows(row, owner_->rows_) - z0_.middleCols(begin, count);
  }
}

/// Starts f with the leak and drive of a node: at z, or, driven by the difference, with the stored conservative part at z₀ and −L v.
template <class S>
void CircuitDynamics<S>::Point::start_law(NudgedForm form, const Node& node, ConstMatrixRef<S> z, MatrixRef<S> f) {
  CircuitDynamics& d = *owner_;
  if (form == NudgedForm::corrected) return d.leak_and_drive(node, Part::all, z, f);
  if (d.circuit_->nudged_drive() == NudgedDrive::state) return d.leak_and_drive(node, Part::conservative, z, f);
  const auto [begin, count] = node.columns;
  const S leak = static_cast<S>(d.circuit_->leak(node));
  for (Index row = 0; row < z.rows(); row += d.rows_) {
    auto out = f.middleCols(begin, count).middleRows(row, d.rows_);
    out = f0_conservative_.middleCols(begin, count);
    out -= leak * v_.middleCols(begin, count).middleRows(row, d.rows_);
  }
}

template <class S>
bool CircuitDynamics<S>::Point::law(NudgedForm form, ConstMatrixRef<S> z, MatrixRef<S> f, int node) {
  CircuitDynamics& d = *owner_;
  if (node != kAllNodes) {
    if (form != NudgedForm::transposed) return false;
    node_law(z, f, static_cast<std::size_t>(node));
    return true;
  }
  displacement(z);
  for (const Node& at : d.circuit_->nodes()) start_law(form, at, z, f);
  d.add_node_noise(f);
  const auto v = v_.topRows(z.rows());
  const Part part = form == NudgedForm::conservative ? Part::conservative : Part::all;
  for_terms(part, [&](TermSystem<S>& system) { system.law(form, z, v, d.circuit_->nudged_drive(), f, d.read_); });
  return true;
}

/// Adds the transposed law of one node: Jᵀ v of the terms that read it, and the conservative terms that act on it.
template <class S>
void CircuitDynamics<S>::Point::node_law(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) {
  CircuitDynamics& d = *owner_;
  const Node& at = d.circuit_->nodes()[node];
  displacement(z, at.columns);
  start_law(NudgedForm::transposed, at, z, f);
  if (d.circuit_->node_noise() != 0 && d.read_.noisy()) d.add_node_noise(at, f);
  const auto v = v_.topRows(z.rows());
  const NudgedDrive drive = d.circuit_->nudged_drive();
  for (std::size_t i = 0; i < d.systems_.size(); ++i) {
    const TermTraits& traits = d.circuit_->traits(i);
    if (d.circuit_->reads(i, node)) {
      for (const int target : traits.targets) {
        displacement(z, d.circuit_->nodes()[static_cast<std::size_t>(target)].columns);
      }
      d.systems_[i]->law(NudgedForm::transposed, z, v, drive, f, d.read_);
    } else if (d.circuit_->acts_on(i, node) && traits.conservative) {
      d.systems_[i]->law(NudgedForm::conservative, z, v, drive, f, d.read_);
    }
  }
}

template <class S>
void CircuitDynamics<S>::Point::node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node) {
  const Node& at = owner_->circuit_->nodes()[node];
  const Columns own = at.columns;
  with_moving(u, [&](ConstMatrixRef<S> x) {
    out.middleCols(own.begin, own.count) =
        -static_cast<S>(owner_->circuit_->leak(at)) * x.middleCols(own.begin, own.count);
    for (std::size_t i = 0; i < owner_->systems_.size(); ++i) {
      if (owner_->circuit_->reads(i, node)) owner_->systems_[i]->vjp(x, out, Part::all, owner_->read_);
    }
  });
  if (!owner_->box_) return;
  for (Index row = 0; row < out.rows(); row += owner_->rows_) {
    out.middleCols(own.begin, own.count).middleRows(row, owner_->rows_).array() *=
        moving_.middleCols(own.begin, own.count).array();
  }
}

template <class S>
bool CircuitDynamics<S>::Point::node_pullback(MatrixRef<S> u, S scale, GradientSink<S>& sink, std::size_t node) {
  CircuitDynamics& d = *owner_;
  if (!d.circuit_->feed_forward() || d.box_) return false;
  const Node& at = d.circuit_->nodes()[node];
  const ReadingAs correlation(d.read_, ReadClass::correlation);
  if (at.driven && d.input_gradient_.size() > 0)
    d.input_gradient_ += scale * u.middleCols(at.columns.begin, at.columns.count);
  for (std::size_t i = 0; i < d.systems_.size(); ++i) {
    if (d.circuit_->acts_on(i, node)) d.systems_[i]->accumulate(u, scale, sink, d.input_gradient_, u, d.read_);
  }
  return true;
}

template <class S>
void CircuitDynamics<S>::node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node) {
  point_->node_vjp(u, out, node);
}

template <class S>
bool CircuitDynamics<S>::node_pullback(MatrixRef<S> u, S scale, GradientSink<S>& sink, std::size_t node) {
  return point_->node_pullback(u, scale, sink, node);
}

#define NUDGE_CIRCUIT_POINT(S)                                                                     \
  template void CircuitDynamics<S>::node_vjp(ConstMatrixRef<S>, MatrixRef<S>, std::size_t);        \
  template bool CircuitDynamics<S>::node_pullback(MatrixRef<S>, S, GradientSink<S>&, std::size_t); \
  template class CircuitDynamics<S>::Point;
NUDGE_BOTH_PRECISIONS(NUDGE_CIRCUIT_POINT)

}  // namespace nudge
