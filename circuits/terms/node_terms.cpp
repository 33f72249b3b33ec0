// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"

#include <numeric>
#include <span>

#include "circuits/terms/convolution.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
NodeBias<S>::NodeBias(const LinkEnd& at, int parameter, const LinearMap<S>& map, Part part)
    : at_(at), parameter_(parameter), map_(&map), part_(part) {
  NUDGE_EXPECT(map.inputs() == 1 && at.columns.count % map.outputs() == 0 && part != Part::all);
}

template <class S>
TermTraits NodeBias<S>::traits() const {
  return {.name = "node_bias",
          .conservative = part_ == Part::conservative,
          .nonconservative = part_ == Part::nonconservative,
          .sources = {identity() ? Term<S>::kInput : at_.node},
          .targets = {at_.node},
          .takes_difference = part_ != Part::conservative || identity(),
          .noisy = map_->noisy()};
}

template <class S>
class NodeBias<S>::System final : public TermSystem<S> {
 public:
  System(const NodeBias& term, Index rows, Index max_copies)
      : term_(&term),
        at_(term.at_, rows * max_copies),
        at0_(term.at_, rows),
        ones_(Matrix<S>::Ones(rows * max_copies * positions(), 1)),
        read_(rows * max_copies * positions(), term.map_->outputs()),
        bias_(rows * max_copies, term.at_.columns.count),
        bias0_(rows, term.at_.columns.count) {}

  void bind(const Matrix<S>& /*input*/) override { affine_given_ = false; }

  bool add_affine_part(MatrixRef<S> drive, MatrixRef<S> /*load*/, ReadContext& read) override {
    if (!term_->identity() || !term_->map_->plain()) return false;
    auto b = bias_.topRows(drive.rows());
    bias(b, read);
    own(drive) += b;
    return affine_given_ = true;
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (affine_given_ || !term_->has(part)) return;
    auto b = bias_.topRows(z.rows());
    bias(b, read);
    at_.set(z);
    at_.add_gated(b, S(1), own(f));
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    at0_.set(z);
    at0_.set_curvature();
    if (affine_given_) return;
    bias(bias0_, read);
    at0_.add_gated(bias0_, S(1), own(term_->part_ == Part::conservative ? conservative : rest));
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (term_->has(part)) at0_.add_curved(own(v), bias0_, scale, own(f));
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (term_->has(part)) at0_.add_curved(own(u), bias0_, S(1), own(f));
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> /*input_gradient*/, MatrixRef<S> f,
                  ReadContext& read) override {
    auto w = bias_.topRows(u.rows());
    at0_.gate(own(u), w);
    correlate(w, scale, sink, read);
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    at_.set(z);
    const Index rows = z.rows() / static_cast<Index>(scales.size());
    for (std::size_t k = 0; k < scales.size(); ++k) {
      correlate(at_.value(z).middleRows(static_cast<Index>(k) * rows, rows), scales[k], sink, read);
    }
    return true;
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override {
    ReadContext context = read;
    auto b = bias_.topRows(z.rows());
    bias(b, context);
    at_.set(z);
    return -inner_product<S>(b, at_.value(z));
  }

 private:
  Index positions() const { return term_->at_.columns.count / term_->map_->outputs(); }
  MatrixRef<S> own(MatrixRef<S> f) const { return f.middleCols(term_->at_.columns.begin, term_->at_.columns.count); }
  Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>> own(ConstMatrixRef<S> z) const {
    return z.middleCols(term_->at_.columns.begin, term_->at_.columns.count);
  }

  /// Computes b of every row, (n, width).
  void bias(MatrixRef<S> b, ReadContext& read) {
    const LinearMap<S>& map = *term_->map_;
    const Index rows = b.rows() * positions();
    if (positions() == 1) return map.forward(ones_.topRows(rows), b, map.all_columns(), Store::assign, read);
    auto by_position = read_.topRows(rows);
    map.forward(ones_.topRows(rows), by_position, map.all_columns(), Store::assign, read);
    b.setZero();
    add_positions<S>(map.outputs(), by_position, b);
  }

  /// Adds Σ of w over rows, and positions, times scale to the sink.
  void correlate(ConstMatrixRef<S> w, S scale, GradientSink<S>& sink, ReadContext& read) {
    const LinearMap<S>& map = *term_->map_;
    const Index rows = w.rows() * positions();
    const auto ones = ones_.topRows(rows);
    if (positions() == 1) {
      return map.correlate(ReadDirection::forward, ones, w, map.all_columns(), scale, term_->parameter_, sink, read);
    }
    auto by_position = read_.topRows(rows);
    to_positions<S>(map.outputs(), w, by_position);
    map.correlate(ReadDirection::forward, ones, by_position, map.all_columns(), scale, term_->parameter_, sink, read);
  }

  const NodeBias* term_;
  ActivatedNode<S> at_, at0_;
  Matrix<S> ones_, read_, bias_, bias0_;
  bool affine_given_ = false;
};

template <class S>
std::unique_ptr<TermSystem<S>> NodeBias<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

NUDGE_BOTH_PRECISIONS_OF(NodeBias)

template <class S>
NodeDiodes<S>::NodeDiodes(int node, Columns columns, Index above, const DiodeLaw& law)
    : UnitForce<S>("node_diodes", {node}, columns), columns_(columns), above_(above), law_(law) {
  NUDGE_EXPECT(above >= 0 && above <= columns.count && law.saturation > 0 && law.thermal > 0);
}

template <class S>
TermTraits NodeDiodes<S>::traits() const {
  TermTraits traits = UnitForce<S>::traits();
  traits.takes_difference = true;
  return traits;
}

/// Without its diode the unit would rest at z + (f − I(z))/D.
template <class S>
bool NodeDiodes<S>::solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) const {
  if (columns.begin != columns_.begin || columns.count != columns_.count) return false;
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < columns_.count; ++i) {
      const Index at = columns_.begin + i;
      const auto share = static_cast<double>(inverse(0, at));
      if (share == 0) continue;
      const auto v = static_cast<double>(z(row, at));
      const double push = static_cast<double>(f(row, at)) - law_.current(v, sign(i));
      z(row, at) = static_cast<S>(law_.settle(v + share * push, 1 / share, sign(i)));
    }
  }
  return true;
}

template <class S>
void NodeDiodes<S>::add_force(ConstMatrixRef<S> z, MatrixRef<S> f) const {
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < z.cols(); ++i) {
      f(row, i) += static_cast<S>(law_.current(static_cast<double>(z(row, i)), sign(i)));
    }
  }
}

template <class S>
void NodeDiodes<S>::slope(ConstMatrixRef<S> z, MatrixRef<S> slope) const {
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < z.cols(); ++i) {
      slope(row, i) = -static_cast<S>(law_.slope(static_cast<double>(z(row, i)), sign(i)));
    }
  }
}

template <class S>
double NodeDiodes<S>::energy(ConstMatrixRef<S> z) const {
  double sum = 0;
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < z.cols(); ++i) sum += law_.energy(static_cast<double>(z(row, i)), sign(i));
  }
  return sum;
}

/// I(z₀ + v) − I(z₀), whatever drives the unit.
template <class S>
void NodeDiodes<S>::add_difference(ConstMatrixRef<S> z0, ConstMatrixRef<S> v, MatrixRef<S> f) const {
  for (Index row = 0; row < v.rows(); ++row) {
    for (Index i = 0; i < v.cols(); ++i) {
      const auto at = static_cast<double>(z0(row, i)), moved = at + static_cast<double>(v(row, i));
      f(row, i) += static_cast<S>(law_.current(moved, sign(i)) - law_.current(at, sign(i)));
    }
  }
}

NUDGE_BOTH_PRECISIONS_OF(NodeDiodes)

template <class S>
LeakSpread<S>::LeakSpread(Matrix<S> deviations, std::size_t nodes) : deviations_(std::move(deviations)), nodes_(nodes) {
  NUDGE_EXPECT(deviations_.rows() == 1);
  std::iota(nodes_.begin(), nodes_.end(), 0);
}

template <class S>
TermTraits LeakSpread<S>::traits() const {
  return {.name = "leak_spread",
          .conservative = true,
          .sources = nodes_,
          .targets = nodes_,
          .takes_difference = true,
          .keeps_points = true};
}

/// All of its force is affine: the circuit adds it to its own leaks.
template <class S>
class LeakSpread<S>::System final : public WeightlessSystem<S> {
 public:
  explicit System(const LeakSpread& term) : term_(&term) {}

  bool add_affine_part(MatrixRef<S> /*drive*/, MatrixRef<S> load, ReadContext& /*read*/) override {
    return term_->add_load(load);
  }

  void force(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, Part /*part*/, int /*node*/, Store /*store*/,
             ReadContext& /*read*/) override {}
  void linearize(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*conservative*/, MatrixRef<S> /*rest*/,
                 ReadContext& /*read*/) override {}

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    f.array() -= scale * (v.array().rowwise() * term_->deviations_.row(0).array());
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    const auto weighted = z.array().square().rowwise() * term_->deviations_.row(0).array();
    return 0.5 * static_cast<double>(weighted.sum());
  }

  void law(NudgedForm form, ConstMatrixRef<S> /*z*/, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    if (drive == NudgedDrive::difference && form != NudgedForm::corrected) jvp(v, S(1), f, Part::conservative, read);
  }

 private:
  const LeakSpread* term_;
};

template <class S>
std::unique_ptr<TermSystem<S>> LeakSpread<S>::make_system(Index /*rows*/, Index /*max_copies*/) const {
  return std::make_unique<System>(*this);
}

template <class S>
Matrix<S> drawn_deviations(double sigma, Index cols, std::uint64_t seed) {
  Matrix<S> deviations(1, cols);
  fill_normal<S>({seed, Purpose::leak_spread, 0}, 0, 0,
                 std::span<S>(deviations.data(), static_cast<std::size_t>(deviations.size())));
  return (static_cast<S>(sigma) * deviations).cwiseMax(S(-0.5)).cwiseMin(S(0.5));
}

#define NUDGE_LEAK_SPREAD(S)    \
  template class LeakSpread<S>; \
  template Matrix<S> drawn_deviations<S>(double, Index, std::uint64_t);
NUDGE_BOTH_PRECISIONS(NUDGE_LEAK_SPREAD)

}  // namespace nudge
