// SPDX-License-Identifier: Apache-2.0
#include "circuits/block_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

template <class S>
bool in_part(const ForceTerm<S>& term, Part part) {
  return part == Part::all || term.conservative() == (part == Part::conservative);
}

}  // namespace

/// The cached point z₀: its projections h₀ in h0_, the terms' own caches in the dynamics' TermPoints.
template <class S>
class BlockDynamics<S>::Point final : public Linearization<S> {
 public:
  Point(BlockDynamics& owner, Index columns)
      : owner_(&owner),
        z0_(owner.tokens_, owner.cols()),
        f0_(owner.tokens_, owner.cols()),
        f0_conservative_(owner.tokens_, owner.cols()),
        h0_(owner.tokens_, columns),
        g0_(owner.tokens_, columns),
        v_(owner.g_.rows(), owner.cols()),
        dh_(owner.g_.rows(), columns) {}

  void set(ConstMatrixRef<S> z);
  void force(MatrixRef<S> f, Part part) override;
  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override;
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override;
  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) override;
  void nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f);
  void corrected_force(ConstMatrixRef<S> z, MatrixRef<S> f) override;
  void transposed_force(ConstMatrixRef<S> z, MatrixRef<S> f) override;

 private:
  void drive_of_adjoint(ConstMatrixRef<S> u, Part part);
  Columns returning(Part part) const;
  void displacement(ConstMatrixRef<S> z);
  bool by_difference() const { return owner_->block_->nudged_drive() == NudgedDrive::difference; }
  void drive_conservative(ConstMatrixRef<S> z, MatrixRef<S> f);

  BlockDynamics* owner_;
  Matrix<S> z0_, f0_, f0_conservative_, h0_;
  Matrix<S> g0_;  ///< what the terms that return through the input array drive its columns with at z₀
  Matrix<S> v_, dh_;
};

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

/// The smallest range of columns that covers the chosen terms.
template <class S>
template <class Chosen>
Columns BlockDynamics<S>::span_of(Chosen chosen) const {
  Index begin = block_->input().outputs();
  Index end = 0;
  for (const auto& placed : block_->terms()) {
    if (!chosen(*placed.term)) continue;
    begin = std::min(begin, placed.columns.begin);
    end = std::max(end, placed.columns.end());
  }
  return end > begin ? Columns{begin, end - begin} : Columns{0, 0};
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
template <class Act>
void BlockDynamics<S>::for_state_terms(Part part, Act act) {
  if (part == Part::conservative) return;
  for (std::size_t i = 0; i < state_points_.size(); ++i) act(*block_->state_terms()[i], *state_points_[i]);
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

template <class S>
void BlockDynamics<S>::nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  if (part == Part::conservative && block_->nudged_drive() == NudgedDrive::difference) {
    linearization_->nearby_force(z, f);
  } else {
    force(z, f, part);
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

template class BlockDynamics<float>;
template class BlockDynamics<double>;

}  // namespace nudge
