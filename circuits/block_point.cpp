// SPDX-License-Identifier: Apache-2.0
// The block linearised at a point: its derivatives, its local correlation, and the laws of the nudged phase.
#include "circuits/block_point.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void BlockDynamics<S>::Point::set(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() == owner_->tokens_);
  BlockDynamics& d = *owner_;
  const LinearMap<S>& input = d.block_->input();
  z0_ = z;
  auto g = d.g_.topRows(d.tokens_);
  const ReadingAs stored(d.read_, ReadClass::stored);
  d.read_.pass();
  input.forward(z, h0_, input.all_columns(), Store::assign, d.read_);
  d.add_leak(z, f0_conservative_);
  f0_.setZero();  // the non-conservative force first; the sum in the end
  d.for_state_terms(Part::all, [&](const auto& term, TermPoint& point) { term.linearize(z, f0_, point); });
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    const auto& [term, columns] = d.block_->terms()[i];
    term->linearize(h0_.middleCols(columns.begin, columns.count), g.middleCols(columns.begin, columns.count),
                    term->conservative() ? f0_conservative_ : f0_, *d.points_[i], d.read_);
  }
  for (const bool conservative : {true, false}) {
    const Columns back = d.span_of(
        [conservative](const auto& t) { return t.returns_through_input() && t.conservative() == conservative; });
    if (back.count == 0) continue;
    input.transposed(g.middleCols(back.begin, back.count), conservative ? f0_conservative_ : f0_, back, Store::add,
                     d.read_);
  }
  f0_ += f0_conservative_;
  const Columns back = returning(Part::all);
  g0_.middleCols(back.begin, back.count) = g.middleCols(back.begin, back.count);
}

/// The columns that chosen terms send their force back through.
template <class S>
Columns BlockDynamics<S>::Point::returning(Part part) const {
  return owner_->span_of([part](const auto& t) { return in_part(t, part) && t.returns_through_input(); });
}

template <class S>
void BlockDynamics<S>::Point::force(MatrixRef<S> f, Part part) {
  if (part == Part::all) {
    f = f0_;
  } else if (part == Part::conservative) {
    f = f0_conservative_;
  } else {
    f = f0_ - f0_conservative_;
  }
}

template <class S>
void BlockDynamics<S>::Point::jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) {
  BlockDynamics& d = *owner_;
  if (part == Part::nonconservative) {
    out.setZero();
  } else {
    out = -static_cast<S>(d.block_->leak().total()) * v;
  }
  d.for_state_terms(part, [&](const auto& term, TermPoint& point) { term.jvp(v, S(1), out, point); });
  const Columns driven = d.span_of([part](const auto& t) { return in_part(t, part); });
  if (driven.count == 0) return;
  auto dh = dh_.topRows(v.rows());
  auto g = d.g_.topRows(v.rows());
  d.block_->input().forward_jvp(z0_, v, dh.middleCols(driven.begin, driven.count), driven, Store::assign, d.read_);
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    const auto& [term, columns] = d.block_->terms()[i];
    if (!in_part(*term, part)) continue;
    term->jvp(dh.middleCols(columns.begin, columns.count), g.middleCols(columns.begin, columns.count), out,
              *d.points_[i], d.read_);
  }
  const Columns back = returning(part);
  if (back.count == 0) return;
  d.block_->input().transposed_jvp(g0_.middleCols(back.begin, back.count), g.middleCols(back.begin, back.count), out,
                                   back, Store::add, d.read_);
}

/// Fills g_ with what must drive the array's columns so that the rows receive Jᵀ u of the chosen terms.
template <class S>
void BlockDynamics<S>::Point::drive_of_adjoint(ConstMatrixRef<S> u, Part part) {
  BlockDynamics& d = *owner_;
  auto hu = dh_.topRows(u.rows());
  auto g = d.g_.topRows(u.rows());
  const Columns driven = d.span_of([part](const auto& t) { return in_part(t, part) && t.vjp_reads_input(); });
  if (driven.count > 0) {
    d.block_->input().transposed_vjp(g0_.middleCols(driven.begin, driven.count), u,
                                     hu.middleCols(driven.begin, driven.count), driven, Store::assign, d.read_);
  }
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    const auto& [term, columns] = d.block_->terms()[i];
    if (!in_part(*term, part)) continue;
    term->vjp(u, hu.middleCols(columns.begin, columns.count), g.middleCols(columns.begin, columns.count), *d.points_[i],
              d.read_);
  }
}

template <class S>
void BlockDynamics<S>::Point::vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) {
  BlockDynamics& d = *owner_;
  if (part == Part::nonconservative) {
    out.setZero();
  } else {
    out = -static_cast<S>(d.block_->leak().total()) * u;
  }
  d.for_state_terms(part, [&](const auto& term, TermPoint& point) { term.vjp(u, out, point); });
  const Columns driven = d.span_of([part](const auto& t) { return in_part(t, part); });
  if (driven.count == 0) return;
  drive_of_adjoint(u, part);
  d.block_->input().forward_vjp(z0_, d.g_.topRows(u.rows()).middleCols(driven.begin, driven.count), out, driven,
                                Store::add, d.read_);
}

template <class S>
void BlockDynamics<S>::Point::accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) {
  BlockDynamics& d = *owner_;
  d.drive_gradient_ += scale * u;
  const ReadingAs correlation(d.read_, ReadClass::correlation);
  d.read_.pass();
  const LinearMap<S>& input = d.block_->input();
  drive_of_adjoint(u, Part::all);
  input.correlate_forward(z0_, d.g_.topRows(u.rows()), input.all_columns(), scale, d.block_->input_parameter(), sink,
                          d.read_);
  const Columns back = returning(Part::all);
  if (back.count > 0) {
    input.correlate_transposed(g0_.middleCols(back.begin, back.count), u, back, scale, d.block_->input_parameter(),
                               sink, d.read_);
  }
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    d.block_->terms()[i].term->accumulate(u, scale, *d.points_[i], sink, d.read_);
  }
  d.for_state_terms(Part::all, [&](const auto& term, TermPoint& point) { term.accumulate(u, scale, point, sink); });
}

/// v_ = z − z₀, copy by copy.
template <class S>
void BlockDynamics<S>::Point::displacement(ConstMatrixRef<S> z) {
  for (Index row = 0; row < z.rows(); row += owner_->tokens_) {
    v_.middleRows(row, owner_->tokens_) = z.middleRows(row, owner_->tokens_) - z0_;
  }
}

// One forward product, one with W_o each way, and one transposed product carry F, J v and Jᵀ v: projections are linear,
// so h(z) − h(z₀) replaces the projections of v, and everything that returns through the array returns at once.
template <class S>
void BlockDynamics<S>::Point::corrected_force(ConstMatrixRef<S> z, MatrixRef<S> f) {
  BlockDynamics& d = *owner_;
  const LinearMap<S>& input = d.block_->input();
  auto h = d.h_.topRows(z.rows());
  auto dh = dh_.topRows(z.rows());
  auto g = d.g_.topRows(z.rows());
  displacement(z);
  auto v = v_.topRows(z.rows());
  d.add_leak(z, f);
  d.add_node_noise(f);
  d.for_state_terms(Part::all, [&](const auto& term, TermPoint& point) {
    term.force(z, f, point);
    term.jvp(v, S(-1), f, point);
    term.vjp(v, f, point);
  });
  input.forward(z, h, input.all_columns(), Store::assign, d.read_);
  const Columns asymmetric = d.span_of([](const auto& t) { return !t.conservative(); });
  for (Index row = 0; row < z.rows(); row += d.tokens_) {
    dh.middleCols(asymmetric.begin, asymmetric.count).middleRows(row, d.tokens_) =
        h.middleCols(asymmetric.begin, asymmetric.count).middleRows(row, d.tokens_) -
        h0_.middleCols(asymmetric.begin, asymmetric.count);
  }
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    const auto& [term, at] = d.block_->terms()[i];
    term->corrected_force(h.middleCols(at.begin, at.count), dh.middleCols(at.begin, at.count), v,
                          g.middleCols(at.begin, at.count), f, *d.points_[i], d.read_);
  }
  input.transposed(g, f, input.all_columns(), Store::add, d.read_);
}

/// Starts f with leak and clamp, drives the conservative terms (by z, or by z − z₀ on top of what is stored) and writes
/// what they return into g_; conservative terms that do not
/// return through the input array add to f and leave g_ at 0.
template <class S>
void BlockDynamics<S>::Point::drive_conservative(ConstMatrixRef<S> z, MatrixRef<S> f) {
  BlockDynamics& d = *owner_;
  auto h = d.h_.topRows(z.rows());
  auto g = d.g_.topRows(z.rows());
  displacement(z);
  auto v = v_.topRows(z.rows());
  const bool difference = by_difference();
  if (difference) {
    for (Index row = 0; row < z.rows(); row += d.tokens_) f.middleRows(row, d.tokens_) = f0_conservative_;
    f -= static_cast<S>(d.block_->leak().total()) * v;
  } else {
    d.add_leak(z, f);
  }
  d.add_node_noise(f);
  const Columns driven = d.span_of([](const auto& t) { return t.conservative(); });
  if (driven.count > 0) {
    d.block_->input().forward(difference ? ConstMatrixRef<S>(v) : z, h.middleCols(driven.begin, driven.count), driven,
                              Store::assign, d.read_);
  }
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    const auto& [term, at] = d.block_->terms()[i];
    if (!term->conservative()) continue;
    auto own_h = h.middleCols(at.begin, at.count);
    auto own_g = g.middleCols(at.begin, at.count);
    if (!term->returns_through_input()) {
      NUDGE_EXPECT(!difference);  // a term with a return array of its own is not stored at z₀
      own_g.setZero();
    }
    for (Index row = 0; difference && row < z.rows(); row += d.tokens_) {
      own_h.middleRows(row, d.tokens_) += h0_.middleCols(at.begin, at.count);
    }
    term->force(own_h, own_g, f, *d.points_[i], d.read_);
    for (Index row = 0; difference && row < z.rows(); row += d.tokens_) {
      own_g.middleRows(row, d.tokens_) -= g0_.middleCols(at.begin, at.count);
    }
  }
}

/// The conservative terms, driven by z − z₀.
template <class S>
void BlockDynamics<S>::Point::nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f) {
  BlockDynamics& d = *owner_;
  drive_conservative(z, f);
  const Columns back = d.span_of([](const auto& t) { return t.conservative() && t.returns_through_input(); });
  if (back.count == 0) return;
  auto g = d.g_.topRows(z.rows());
  d.block_->input().transposed(g.middleCols(back.begin, back.count), f, back, Store::add, d.read_);
}

template <class S>
void BlockDynamics<S>::Point::transposed_force(ConstMatrixRef<S> z, MatrixRef<S> f) {
  BlockDynamics& d = *owner_;
  const LinearMap<S>& input = d.block_->input();
  auto h = d.h_.topRows(z.rows());
  auto g = d.g_.topRows(z.rows());
  drive_conservative(z, f);
  auto v = v_.topRows(z.rows());
  d.for_state_terms(Part::all, [&](const auto& term, TermPoint& point) { term.vjp(v, f, point); });
  const Columns driven = d.span_of([](const auto& t) { return !t.conservative() && t.vjp_reads_input(); });
  if (driven.count > 0) {
    input.forward(v, h.middleCols(driven.begin, driven.count), driven, Store::assign, d.read_);
  }
  for (std::size_t i = 0; i < d.points_.size(); ++i) {
    const auto& [term, at] = d.block_->terms()[i];
    if (term->conservative()) continue;
    term->vjp(v, h.middleCols(at.begin, at.count), g.middleCols(at.begin, at.count), *d.points_[i], d.read_);
  }
  input.transposed(g, f, input.all_columns(), Store::add, d.read_);
}

template class BlockDynamics<float>::Point;
template class BlockDynamics<double>::Point;

}  // namespace nudge
