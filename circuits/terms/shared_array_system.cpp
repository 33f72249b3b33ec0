// SPDX-License-Identifier: Apache-2.0
// The terms of a shared array evaluated together: forces, derivatives, correlations, and the laws of the nudged phase.
#include "circuits/terms/shared_array_system.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
SharedArray<S>::System::System(const SharedArray& array, Index rows, Index max_copies)
    : array_(&array),
      rows_(rows),
      max_copies_(max_copies),
      h_(max_copies * rows, array.input().outputs()),
      g_(h_.rows(), h_.cols()),
      dh_(h_.rows(), h_.cols()),
      z0_(rows, array.at().count),
      h0_(rows, h_.cols()),
      g0_(rows, h_.cols()),
      points_(make_points()) {}

template <class S>
typename SharedArray<S>::System::Points SharedArray<S>::System::make_points() const {
  Points points;
  for (const auto& placed : array_->terms()) points.push_back(placed.term->make_point(rows_, max_copies_));
  return points;
}

/// The smallest range of columns that covers the chosen terms.
template <class S>
template <class Chosen>
Columns SharedArray<S>::System::span_of(Chosen chosen) const {
  Index begin = array_->input().outputs();
  Index end = 0;
  for (const auto& placed : array_->terms()) {
    if (!chosen(placed.traits)) continue;
    begin = std::min(begin, placed.columns.begin);
    end = std::max(end, placed.columns.end());
  }
  return end > begin ? Columns{begin, end - begin} : Columns{0, 0};
}

template <class S>
Columns SharedArray<S>::System::driven(Part part) const {
  return span_of([part](const auto& t) { return t.in(part); });
}

/// The columns that chosen terms send their force back through.
template <class S>
Columns SharedArray<S>::System::returning(Part part) const {
  return span_of([part](const auto& t) { return t.in(part) && t.returns_through_input; });
}

template <class S>
void SharedArray<S>::System::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
                                   ReadContext& read) {
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= h_.rows());
  const Columns columns = driven(part);
  if (columns.count == 0) return;
  auto h = h_.topRows(z.rows());
  auto g = g_.topRows(z.rows());
  auto f_own = own(f);
  array_->input().forward(own(z), h.middleCols(columns.begin, columns.count), columns, Store::assign, read);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    if (!traits.in(part)) continue;
    term->force(h.middleCols(at.begin, at.count), nothing_, g.middleCols(at.begin, at.count), f_own, *points_[i], read);
  }
  const Columns back = returning(part);
  if (back.count > 0) {
    array_->input().transposed(g.middleCols(back.begin, back.count), f_own, back, Store::add, read);
  }
}

template <class S>
void SharedArray<S>::System::linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest,
                                       ReadContext& read) {
  NUDGE_EXPECT(z.rows() == rows_);
  const LinearMap<S>& input = array_->input();
  z0_ = own(z);
  auto f_conservative = own(conservative);
  auto f_rest = own(rest);
  input.forward(z0_, h0_, input.all_columns(), Store::assign, read);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, columns, traits] = array_->terms()[i];
    auto f = traits.conservative ? f_conservative : f_rest;
    term->linearize(h0_.middleCols(columns.begin, columns.count), g0_.middleCols(columns.begin, columns.count), f,
                    *points_[i], read);
  }
  for (const Part part : {Part::conservative, Part::nonconservative}) {
    const Columns back = returning(part);
    if (back.count == 0) continue;
    auto f = part == Part::conservative ? f_conservative : f_rest;
    input.transposed(g0_.middleCols(back.begin, back.count), f, back, Store::add, read);
  }
}

template <class S>
void SharedArray<S>::System::jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) {
  if (scale != S(1)) {  // it is linear; the laws, which subtract it, are fused below
    scaled_ = scale * v;
    return jvp(scaled_, S(1), f, part, read);
  }
  const Columns columns = driven(part);
  if (columns.count == 0) return;
  auto dh = dh_.topRows(v.rows());
  auto g = g_.topRows(v.rows());
  auto f_own = own(f);
  array_->input().derivative(ReadDirection::forward, Derivative::jvp, z0_, own(v),
                             dh.middleCols(columns.begin, columns.count), columns, Store::assign, read);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    if (!traits.in(part)) continue;
    term->jvp(dh.middleCols(at.begin, at.count), g.middleCols(at.begin, at.count), f_own, *points_[i], read);
  }
  const Columns back = returning(part);
  if (back.count == 0) return;
  array_->input().derivative(ReadDirection::transposed, Derivative::jvp, g0_.middleCols(back.begin, back.count),
                             g.middleCols(back.begin, back.count), f_own, back, Store::add, read);
}

/// Fills g_ with what must drive the array's columns so that the rows receive Jᵀ u of the chosen terms.
template <class S>
void SharedArray<S>::System::drive_of_adjoint(ConstMatrixRef<S> u, Part part, ReadContext& read) {
  auto hu = dh_.topRows(u.rows());
  auto g = g_.topRows(u.rows());
  const Columns reads = span_of([part](const auto& t) { return t.in(part) && t.vjp_reads_input; });
  if (reads.count > 0) {
    array_->input().derivative(ReadDirection::transposed, Derivative::vjp, g0_.middleCols(reads.begin, reads.count), u,
                               hu.middleCols(reads.begin, reads.count), reads, Store::assign, read);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    if (!traits.in(part)) continue;
    term->vjp(u, hu.middleCols(at.begin, at.count), g.middleCols(at.begin, at.count), *points_[i], read);
  }
}

template <class S>
void SharedArray<S>::System::vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) {
  const Columns columns = driven(part);
  if (columns.count == 0) return;
  drive_of_adjoint(own(u), part, read);
  auto f_own = own(f);
  array_->input().derivative(ReadDirection::forward, Derivative::vjp, z0_,
                             g_.topRows(u.rows()).middleCols(columns.begin, columns.count), f_own, columns, Store::add,
                             read);
}

/// What correlates with u, whose drive is in g_.
template <class S>
void SharedArray<S>::System::correlate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, ReadContext& read) {
  const LinearMap<S>& input = array_->input();
  input.correlate(ReadDirection::forward, z0_, g_.topRows(u.rows()), input.all_columns(), scale, array_->parameter(),
                  sink, read);
  const Columns back = returning(Part::all);
  if (back.count > 0) {
    input.correlate(ReadDirection::transposed, g0_.middleCols(back.begin, back.count), u, back, scale,
                    array_->parameter(), sink, read);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    array_->terms()[i].term->accumulate(u, scale, *points_[i], sink, read);
  }
}

template <class S>
void SharedArray<S>::System::accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink,
                                        MatrixRef<S> /*input_gradient*/, MatrixRef<S> f, ReadContext& read) {
  const LinearMap<S>& input = array_->input();
  const auto u_own = own(u);
  drive_of_adjoint(u_own, Part::all, read);
  correlate(u_own, scale, sink, read);
  if (f.size() == 0) return;
  auto f_own = own(f);  // after the correlation: f may be u
  input.derivative(ReadDirection::forward, Derivative::vjp, z0_, g_.topRows(u.rows()), f_own, input.all_columns(),
                   Store::add, read);
}

/// h₀ stays: the laws of the nudged phase alone read it.
template <class S>
void SharedArray<S>::System::exchange_point(std::size_t number) {
  if (kept_.size() <= number) kept_.resize(number + 1);
  Kept& kept = kept_[number];
  if (kept.points.empty()) kept = {Matrix<S>(z0_.rows(), z0_.cols()), Matrix<S>(g0_.rows(), g0_.cols()), make_points()};
  z0_.swap(kept.z0);
  g0_.swap(kept.g0);
  points_.swap(kept.points);
}

template <class S>
std::optional<double> SharedArray<S>::System::energy(ConstMatrixRef<S> z, const ReadContext& read) {
  double total = 0;
  for (const auto& [term, columns, traits] : array_->terms()) {
    if (!traits.conservative) continue;
    auto h = h_.topRows(rows_).middleCols(columns.begin, columns.count);
    ReadContext quiet = read;
    quiet.kind = ReadClass::monitor;  // known from the model: no circuit sums it up
    quiet.policy = ReadPolicy::all_ideal();
    array_->input().forward(own(z), h, columns, Store::assign, quiet);
    const auto energy = term->energy(h);
    if (!energy) return std::nullopt;
    total += *energy;
  }
  return total;
}

template <class S>
bool SharedArray<S>::System::has_layer_energy() const {
  const auto& all = array_->terms();
  return std::all_of(all.begin(), all.end(),
                     [](const auto& one) { return one.traits.conservative && one.traits.returns_through_input; });
}

template <class S>
void SharedArray<S>::System::accumulate_layer_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink,
                                                     ReadContext& read) {
  const LinearMap<S>& input = array_->input();
  if (input.outputs() == 0) return;
  auto h = h_.topRows(rows_);
  auto g = g_.topRows(rows_);
  input.forward(own(z), h, input.all_columns(), Store::assign, read);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    term->force(h.middleCols(at.begin, at.count), nothing_, g.middleCols(at.begin, at.count), g, *points_[i], read);
  }
  input.correlate(ReadDirection::forward, own(z), g, input.all_columns(), -scale, array_->parameter(), sink, read);
}

// One forward product, one with W_o each way, and one transposed product carry F, J v and Jᵀ v: projections are linear,
// so h(z) − h(z₀) replaces the projections of v, and everything that returns through the array returns at once.
template <class S>
void SharedArray<S>::System::corrected(ConstMatrixRef<S> z, ConstMatrixRef<S> v, MatrixRef<S> f, ReadContext& read) {
  const LinearMap<S>& input = array_->input();
  if (input.outputs() == 0) return;
  auto h = h_.topRows(z.rows());
  auto dh = dh_.topRows(z.rows());
  auto g = g_.topRows(z.rows());
  auto f_own = own(f);
  const auto v_own = own(v);
  input.forward(own(z), h, input.all_columns(), Store::assign, read);
  const Columns asymmetric = driven(Part::nonconservative);
  for (Index row = 0; row < z.rows(); row += rows_) {
    dh.middleCols(asymmetric.begin, asymmetric.count).middleRows(row, rows_) =
        h.middleCols(asymmetric.begin, asymmetric.count).middleRows(row, rows_) -
        h0_.middleCols(asymmetric.begin, asymmetric.count);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    auto own_g = g.middleCols(at.begin, at.count);
    const auto own_dh = dh.middleCols(at.begin, at.count);
    if (traits.conservative) {  // symmetric: J − Jᵀ = 0
      drive_of_force(i, h, g, f_own, read);
    } else {
      term->force(h.middleCols(at.begin, at.count), own_dh, own_g, f_own, *points_[i], read);
      term->vjp(v_own, own_dh, own_g, *points_[i], read);
    }
  }
  input.transposed(g, f_own, input.all_columns(), Store::add, read);
}

/// The force of a conservative term at its columns of h: into its columns of g, or, where it does not return through the array,
/// added to f, and they are 0.
template <class S>
void SharedArray<S>::System::drive_of_force(std::size_t i, ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f,
                                            ReadContext& read) {
  const auto& [term, at, traits] = array_->terms()[i];
  auto own_g = g.middleCols(at.begin, at.count);
  if (!traits.returns_through_input) own_g.setZero();
  term->force(h.middleCols(at.begin, at.count), nothing_, own_g, f, *points_[i], read);
}

/// Drives the conservative terms (by z, or by v = z − z₀ on top of what is stored) and writes what they return, or its change,
/// into g_.
template <class S>
void SharedArray<S>::System::drive_conservative(ConstMatrixRef<S> z, NudgedDrive drive, MatrixRef<S> f,
                                                ReadContext& read) {
  const bool difference = drive == NudgedDrive::difference;
  auto h = h_.topRows(z.rows());
  auto g = g_.topRows(z.rows());
  const Columns columns = driven(Part::conservative);
  if (columns.count > 0) {
    array_->input().forward(z, h.middleCols(columns.begin, columns.count), columns, Store::assign, read);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    if (!traits.conservative) continue;
    auto own_h = h.middleCols(at.begin, at.count);
    auto own_g = g.middleCols(at.begin, at.count);
    NUDGE_EXPECT(traits.returns_through_input || !difference);  // with a return array of its own it is not stored at z₀
    for (Index row = 0; difference && row < z.rows(); row += rows_) {
      own_h.middleRows(row, rows_) += h0_.middleCols(at.begin, at.count);
    }
    drive_of_force(i, h, g, f, read);
    for (Index row = 0; difference && row < z.rows(); row += rows_) {
      own_g.middleRows(row, rows_) -= g0_.middleCols(at.begin, at.count);
    }
  }
}

template <class S>
void SharedArray<S>::System::law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive,
                                 MatrixRef<S> f, ReadContext& read) {
  switch (form) {
    case NudgedForm::corrected: return corrected(z, v, f, read);
    case NudgedForm::transposed: return transposed(z, v, drive, f, read);
    case NudgedForm::conservative: break;
  }
  auto f_own = own(f);
  drive_conservative(drive == NudgedDrive::difference ? own(v) : own(z), drive, f_own, read);
  const Columns back = returning(Part::conservative);
  if (back.count == 0) return;
  array_->input().transposed(g_.topRows(v.rows()).middleCols(back.begin, back.count), f_own, back, Store::add, read);
}

template <class S>
void SharedArray<S>::System::transposed(ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
                                        ReadContext& read) {
  const LinearMap<S>& input = array_->input();
  if (input.outputs() == 0) return;
  auto h = h_.topRows(z.rows());
  auto g = g_.topRows(z.rows());
  auto f_own = own(f);
  const auto v_own = own(v);
  drive_conservative(drive == NudgedDrive::difference ? v_own : own(z), drive, f_own, read);
  const Columns reads = span_of([](const auto& t) { return !t.conservative && t.vjp_reads_input; });
  if (reads.count > 0) input.forward(v_own, h.middleCols(reads.begin, reads.count), reads, Store::assign, read);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto& [term, at, traits] = array_->terms()[i];
    if (traits.conservative) continue;
    term->vjp(v_own, h.middleCols(at.begin, at.count), g.middleCols(at.begin, at.count), *points_[i], read);
  }
  input.transposed(g, f_own, input.all_columns(), Store::add, read);
}

template class SharedArray<float>::System;
template class SharedArray<double>::System;

}  // namespace nudge
