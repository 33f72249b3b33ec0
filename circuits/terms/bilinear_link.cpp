// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/bilinear_link.hpp"

#include <utility>

#include "circuits/digital_matrix.hpp"
#include "circuits/terms/copies_contrast.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
BilinearLink<S>::BilinearLink(const LinkEnd& from, const LinkEnd& to, const LinkWeights<S>& weights, LinkWay way)
    : from_(from), to_(to), weights_(weights), way_(way) {
  NUDGE_EXPECT(weights.inputs() == from.columns.count && weights.outputs() == to.columns.count);
  NUDGE_EXPECT(!clamped() || way != LinkWay::backward);
}

/// Traits; with ρ' the link reads a node even where it only acts on it.
template <class S>
TermTraits BilinearLink<S>::traits() const {
  TermTraits all{.name = "bilinear_link",
                 .conservative = has(Part::conservative),
                 .nonconservative = has(Part::nonconservative),
                 .sources = {from_.node},
                 .takes_difference = way_ != LinkWay::both,
                 .assigns = assigns(),
                 .noisy = weights_.map->noisy()};
  if (drives_from() || to_.activation != NodeActivation::identity) all.sources.push_back(to_.node);
  if (drives_from()) all.targets.push_back(from_.node);
  if (drives_to()) all.targets.push_back(to_.node);
  return all;
}

template <class S>
bool BilinearLink<S>::cached() const {
  return clamped() && dynamic_cast<const DigitalMatrix<S>*>(weights_.map) != nullptr;
}

/// Two arms of the link, a → b forward and b → a transposed; `at_` is the moving state, `point` the linearised one.
template <class S>
class BilinearLink<S>::System final : public TermSystem<S> {
 public:
  System(const BilinearLink& term, Index rows, Index max_copies)
      : term_(&term),
        rows_(rows),
        reader_(term.weights_),
        from_(term.from_, rows * max_copies),
        to_(term.to_, rows * max_copies),
        from0_(term.from_, rows),
        to0_(term.to_, rows),
        z0_(rows, term.clamped() ? term.to_.columns.end() : std::max(term.from_.columns.end(), term.to_.columns.end())),
        forward0_(rows, term.to_.columns.count),
        backward0_(rows, term.from_.columns.count),
        on_to_(rows * max_copies, term.to_.columns.count),
        on_from_(rows * max_copies, term.from_.columns.count),
        residue_(term.residue()),
        cached_(term.cached()) {}

  void bind(const Matrix<S>& input) override {
    input_ = &input;
    if (term_->clamped()) from0_.set(input);
    known_ = affine_given_ = false;
  }

  bool add_affine_part(MatrixRef<S> drive, MatrixRef<S> /*load*/, ReadContext& read) override {
    if (!cached_ || !to0_.identity()) return false;
    on(drive, term_->to_) += product(source0(), read);
    return affine_given_ = true;
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store store, ReadContext& read) override {
    if (affine_given_ || !term_->has(part)) return;
    activate(z);
    const auto asked = [node](const LinkEnd& end) { return node == kAllNodes || node == end.node; };
    const bool up = term_->drives_to() && asked(term_->to_), down = term_->drives_from() && asked(term_->from_);
    if (up) act_on_to(z, store, f, read);
    if (down && !up && reader_.chooses()) reader_.choose(source(z), read);
    if (down) act_on_from(z, store, f, read);
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    z0_ = z.leftCols(z0_.cols());
    for (ActivatedNode<S>* end : {&from0_, &to0_}) {
      if (end == &from0_ && term_->clamped()) continue;
      end->set(z);
      end->set_curvature();
    }
    if (affine_given_) return reader_.hold();
    MatrixRef<S>& f = term_->way_ == LinkWay::both ? conservative : rest;
    if (!term_->drives_to() && reader_.chooses()) reader_.choose(source0(), read);
    if (term_->drives_to() && to0_.identity() && residue_ == nullptr) {
      add_drive_to(source0(), on(f, term_->to_), read);
    } else if (term_->drives_to()) {
      drive_to(source0(), 1, forward0_, read);
      if (residue_ != nullptr) take_own(residue_->of_columns, to0_.value(z0_), forward0_);
      to0_.add_gated(forward0_, S(1), on(f, term_->to_));
    }
    reader_.hold();
    if (term_->drives_from() && from0_.identity() && residue_ == nullptr) {
      reader_.read(ReadDirection::transposed, to0_.value(z0_), on(f, term_->from_), read);
    } else if (term_->drives_from()) {
      backward0_.setZero();
      reader_.read(ReadDirection::transposed, to0_.value(z0_), backward0_, read);
      if (residue_ != nullptr) take_own(residue_->of_rows, source0(), backward0_);
      from0_.add_gated(backward0_, S(1), on(f, term_->from_));
    }
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (!term_->has(part)) return;
    auto b = on_to_.topRows(v.rows());
    auto a = on_from_.topRows(v.rows());
    if (term_->drives_to()) {
      if (!term_->clamped()) {
        from0_.gate(of(v, term_->from_), a);
        b.setZero();
        reader_.derivative(ReadDirection::forward, Derivative::jvp, source0(), a, b, read);
        to0_.add_gated(b, scale, on(f, term_->to_));
      }
      to0_.add_curved(of(v, term_->to_), forward0_, scale, on(f, term_->to_));
    }
    if (!term_->drives_from()) return;
    if (residue_ != nullptr) add_own(v, scale, f);
    to0_.gate(of(v, term_->to_), b);
    a.setZero();
    reader_.derivative(ReadDirection::transposed, Derivative::jvp, to0_.value(z0_), b, a, read);
    from0_.add_gated(a, scale, on(f, term_->from_));
    from0_.add_curved(of(v, term_->from_), backward0_, scale, on(f, term_->from_));
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (!term_->has(part)) return;
    auto b = on_to_.topRows(u.rows());
    auto a = on_from_.topRows(u.rows());
    if (term_->drives_to()) {
      if (!term_->clamped()) {
        to0_.gate(of(u, term_->to_), b);
        a.setZero();
        reader_.derivative(ReadDirection::forward, Derivative::vjp, source0(), b, a, read);
        from0_.add_gated(a, S(1), on(f, term_->from_));
      }
      to0_.add_curved(of(u, term_->to_), forward0_, S(1), on(f, term_->to_));
    }
    if (!term_->drives_from()) return;
    if (residue_ != nullptr) add_own(u, S(1), f);
    from0_.gate(of(u, term_->from_), a);
    b.setZero();
    reader_.derivative(ReadDirection::transposed, Derivative::vjp, to0_.value(z0_), a, b, read);
    to0_.add_gated(b, S(1), on(f, term_->to_));
    from0_.add_curved(of(u, term_->from_), backward0_, S(1), on(f, term_->from_));
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override {
    correlate(u, scale, sink, input_gradient, read);
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    activate(z);
    if (cached_) {  // xᵀ Σ_k s_k ρ(z_k): one product for all copies of what drives them alike
      auto b = on_to_.topRows(rows_);
      contrast_copies<S>(to_.value(z), scales, b);
      product(source0(), read);
      reader_.correlate(ReadDirection::forward, source0(), b, S(1), sink, read, 0);
      return true;
    }
    if (reader_.chooses()) reader_.choose(source(z), read);
    for (std::size_t k = 0; k < scales.size(); ++k) {
      const auto own = [&](const View& all) -> View { return all.middleRows(static_cast<Index>(k) * rows_, rows_); };
      const View x = term_->clamped() ? source0() : View(own(from_.value(z)));
      reader_.correlate(ReadDirection::forward, x, own(to_.value(z)), scales[k], sink, read,
                        term_->clamped() ? 0 : static_cast<Index>(k) * rows_);
    }
    return true;
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override {
    if (term_->way_ != LinkWay::both) return std::nullopt;
    activate(z);
    ReadContext own = read;
    auto b = on_to_.topRows(z.rows());
    drive_to(source(z), z.rows() / rows_, b, own);
    if (residue_ == nullptr) return -inner_product<S>(b, to_.value(z));
    const auto loaded = [](const Matrix<S>& left, ConstMatrixRef<S> r) {
      return 0.5 * static_cast<double>((r.array().square().rowwise() * left.row(0).array()).sum());
    };
    return loaded(residue_->of_columns, to_.value(z)) + loaded(residue_->of_rows, from_.value(z)) -
           inner_product<S>(b, to_.value(z));
  }

 private:
  using View = Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>;

  static View of(ConstMatrixRef<S> z, const LinkEnd& end) { return z.middleCols(end.columns.begin, end.columns.count); }
  static MatrixRef<S> on(MatrixRef<S> f, const LinkEnd& end) {
    return f.middleCols(end.columns.begin, end.columns.count);
  }

  void correlate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, ReadContext& read) {
    if (term_->drives_to() && to0_.identity() && input_gradient.size() == 0) {
      reader_.correlate(ReadDirection::forward, source0(), of(u, term_->to_), scale, sink, read);
    } else if (term_->drives_to()) {
      auto b = on_to_.topRows(rows_);
      to0_.gate(of(u, term_->to_), b);
      reader_.correlate(ReadDirection::forward, source0(), b, scale, sink, read);
      if (term_->clamped() && input_gradient.size() > 0) {
        auto a = on_from_.topRows(rows_);
        a.setZero();
        reader_.derivative(ReadDirection::forward, Derivative::vjp, source0(), b, a, read);
        from0_.add_gated(a, scale, input_gradient);
      }
    }
    if (!term_->drives_from()) return;
    auto a = on_from_.topRows(rows_);
    from0_.gate(of(u, term_->from_), a);
    reader_.correlate(ReadDirection::transposed, to0_.value(z0_), a, scale, sink, read);
  }

  void activate(ConstMatrixRef<S> z) {
    if (!term_->clamped()) from_.set(z);
    to_.set(z);
  }
  View source(ConstMatrixRef<S> z) const { return term_->clamped() ? source0() : from_.value(z); }
  View source0() const { return term_->clamped() ? from0_.value(*input_) : from0_.value(z0_); }

  /// Product x M of the example, formed once. Only if it is cached.
  const Matrix<S>& product(ConstMatrixRef<S> r, ReadContext& read) {
    if (std::exchange(known_, true)) return product_;
    product_.resize(rows_, term_->to_.columns.count);
    reader_.read(ReadDirection::forward, r, product_, read, Store::assign);
    return product_;
  }

  /// Adds r_a M of one copy to f.
  void add_drive_to(ConstMatrixRef<S> r, MatrixRef<S> f, ReadContext& read) {
    if (!cached_) return reader_.read(ReadDirection::forward, r, f, read);
    f += product(r, read);
  }

  /// Computes out = r_a M for as many copies; a clamped input is read for each of them, numbers once per example.
  void drive_to(ConstMatrixRef<S> r, Index copies, MatrixRef<S> out, ReadContext& read) {
    if (!cached_) out.setZero();
    if (!term_->clamped()) return reader_.read(ReadDirection::forward, r, out, read);
    for (Index copy = 0; copy < copies; ++copy) {
      auto own = out.middleRows(copy * rows_, rows_);
      if (cached_) {
        own = product(r, read);
      } else {
        reader_.read(ReadDirection::forward, r, own, read);
      }
    }
  }

  /// Subtracts the part of a line's read that comes from its own drive.
  static void take_own(const Matrix<S>& left, ConstMatrixRef<S> driven, MatrixRef<S> sensed) {
    sensed.array() -= driven.array().rowwise() * left.row(0).array();
  }

  /// Subtracts scale · ρ'² δ v from f at both ends: diagonal, so its own transpose.
  void add_own(ConstMatrixRef<S> v, S scale, MatrixRef<S> f) {
    const auto at = [&](const ActivatedNode<S>& node, const LinkEnd& end, const Matrix<S>& left, MatrixRef<S> gated) {
      node.gate(of(v, end), gated);
      gated.array().rowwise() *= left.row(0).array();
      node.add_gated(gated, -scale, on(f, end));
    };
    at(to0_, term_->to_, residue_->of_columns, on_to_.topRows(v.rows()));
    at(from0_, term_->from_, residue_->of_rows, on_from_.topRows(v.rows()));
  }

  /// Counts the heat of an array driven at both ends. Σ G (x ∓ g)² of the pairs is Σ G x² + Σ G g², which the reads of both
  /// ways count, less 2 k Σ g_j (x W)_j.
  void count_facing(ConstMatrixRef<S> sensed, ConstMatrixRef<S> facing, ReadContext& read) {
    if (read.meter == nullptr || read.counted() == 0) return;
    const double heat = 2 * term_->weights_.map->traits().unit_heat_J * inner_product<S>(sensed, facing);
    read.meter->at(read.kind).array_J -= read.counted() * read.duration() * heat;
  }

  void act_on_to(ConstMatrixRef<S> z, Store store, MatrixRef<S> f, ReadContext& read) {
    if (to_.identity() && !term_->clamped() && residue_ == nullptr) {
      return reader_.read(ReadDirection::forward, source(z), on(f, term_->to_), read, store);
    }
    auto b = on_to_.topRows(z.rows());
    drive_to(source(z), z.rows() / rows_, b, read);
    if (residue_ != nullptr) {
      count_facing(b, to_.value(z), read);
      take_own(residue_->of_columns, to_.value(z), b);
    }
    to_.add_gated(b, S(1), on(f, term_->to_));
  }

  void act_on_from(ConstMatrixRef<S> z, Store store, MatrixRef<S> f, ReadContext& read) {
    if (from_.identity() && residue_ == nullptr)
      return reader_.read(ReadDirection::transposed, to_.value(z), on(f, term_->from_), read, store);
    auto a = on_from_.topRows(z.rows());
    a.setZero();
    reader_.read(ReadDirection::transposed, to_.value(z), a, read);
    if (residue_ != nullptr) take_own(residue_->of_rows, from_.value(z), a);
    from_.add_gated(a, S(1), on(f, term_->from_));
  }

  const BilinearLink* term_;
  Index rows_;
  LinkReader<S> reader_;
  const Matrix<S>* input_ = nullptr;
  ActivatedNode<S> from_, to_, from0_, to0_;
  Matrix<S> z0_, forward0_, backward0_;  ///< state, r_a M and r_b Mᵀ at the point
  Matrix<S> on_to_, on_from_;            ///< working memory
  const WeightSums<S>* residue_;         ///< null: the array is driven one way at a time
  bool cached_, known_ = false, affine_given_ = false;
  Matrix<S> product_;  ///< x M of the example, where numbers hold M
};

template <class S>
std::unique_ptr<TermSystem<S>> BilinearLink<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

NUDGE_BOTH_PRECISIONS_OF(BilinearLink)

}  // namespace nudge
