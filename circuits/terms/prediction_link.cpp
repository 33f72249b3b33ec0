// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/prediction_link.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
PredictionLink<S>::PredictionLink(const LinkEnd& from, const LinkEnd& to, const LinkWeights<S>& weights,
                                  const LinkWeights<S>& bias, Predictions predictions)
    : from_(from), to_(to), weights_(weights), bias_(bias), predictions_(predictions) {
  NUDGE_EXPECT(weights.inputs() == from.columns.count && weights.outputs() == to.columns.count);
  NUDGE_EXPECT(bias.inputs() == 1 && bias.outputs() == to.columns.count && !weights.convolution);
  NUDGE_EXPECT(from.activation == NodeActivation::identity);
}

template <class S>
TermTraits PredictionLink<S>::traits() const {
  TermTraits all{.name = "prediction_link",
                 .conservative = !fixed(),
                 .nonconservative = fixed(),
                 .sources = {from_.node},
                 .targets = {to_.node},
                 .takes_difference = fixed(),
                 .noisy = weights_.map->noisy() || bias_.map->noisy()};
  if (drives_from()) {
    all.sources.push_back(to_.node);
    all.targets.push_back(from_.node);
  }
  return all;
}

/// The two arms of the link: predictions up, errors down. What ends in 0 belongs to the linearised point.
template <class S>
class PredictionLink<S>::System final : public TermSystem<S> {
 public:
  System(const PredictionLink& term, Index rows, Index max_copies)
      : term_(&term),
        rows_(rows),
        up_(term.weights_),
        bias_(term.bias_),
        f_(bend(term), rows * max_copies),
        f0_(bend(term), rows),
        ones_(Matrix<S>::Ones(rows * max_copies, 1)),
        drive_(rows * max_copies, term.to_.columns.count),
        error_(rows * max_copies, term.to_.columns.count),
        pull_(rows * max_copies, term.to_.columns.count),
        below_(rows * max_copies, term.from_.columns.count),
        source0_(rows, term.from_.columns.count),
        drive0_(rows, term.to_.columns.count),
        error0_(rows, term.to_.columns.count),
        gated0_(rows, term.to_.columns.count) {}

  void bind(const Matrix<S>& input) override { input_ = &input; }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store /*store*/, ReadContext& read) override {
    const auto asked = [node](const LinkEnd& end) { return node == kAllNodes || node == end.node; };
    const bool up = asked(term_->to_), down = term_->drives_from() && asked(term_->from_);
    if (!term_->has(part) || (!up && !down)) return;
    const MatrixRef<S> error = predict(z, read);
    if (up) on(f, term_->to_) += f_.value(drive_.topRows(z.rows()));
    if (down) up_.read(ReadDirection::transposed, error, on(f, term_->from_), read);
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    if (term_->clamped()) {
      source0_ = *input_;
    } else {
      source0_ = of(z, term_->from_);
    }
    set_drive(z, drive0_, read);
    f0_.set(drive0_);
    f0_.set_curvature();
    const View p = f0_.value(drive0_);
    error0_ = of(z, term_->to_) - p;
    f0_.gate(error0_, gated0_);
    MatrixRef<S>& f = term_->fixed() ? rest : conservative;
    on(f, term_->to_) += p;
    if (term_->drives_from()) up_.read(ReadDirection::transposed, gated0_, on(f, term_->from_), read);
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (!term_->has(part) || term_->clamped()) return;
    auto w = drive_.topRows(v.rows());
    w.setZero();
    up_.derivative(ReadDirection::forward, Derivative::jvp, source0_, of(v, term_->from_), w, read);
    if (term_->drives_from()) {
      auto below = below_.topRows(v.rows());
      below.setZero();
      up_.derivative(ReadDirection::transposed, Derivative::jvp, gated0_, turned(v, w), below, read);
      on(f, term_->from_) += scale * below;
    }
    f0_.add_gated(w, scale, on(f, term_->to_));
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (term_->has(part)) add_pulled(pulled(u, read), f, read);
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override {
    const MatrixRef<S> q = pulled(u, read);
    up_.correlate(ReadDirection::forward, source0_, q, scale, sink, read);
    bias_.correlate(ReadDirection::forward, ones_.topRows(rows_), q, scale, sink, read);
    if (term_->drives_from()) {
      up_.correlate(ReadDirection::transposed, gated0_, of(u, term_->from_), scale, sink, read);
    }
    if (term_->clamped() && input_gradient.size() > 0) {
      auto below = below_.topRows(rows_);
      below.setZero();
      up_.derivative(ReadDirection::forward, Derivative::vjp, source0_, q, below, read);
      input_gradient += scale * below;
    }
    if (f.size() > 0) add_pulled(q, f, read);
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override {
    if (term_->fixed()) return std::nullopt;
    ReadContext own = read;
    auto h = drive_.topRows(z.rows());
    set_drive(z, h, own);
    f_.set(h);
    const View p = f_.value(h);
    return 0.5 * inner_product<S>(p, p) - inner_product<S>(of(z, term_->to_), p);
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    if (term_->fixed()) return false;
    const MatrixRef<S> error = predict(z, read);
    for (std::size_t k = 0; k < scales.size(); ++k) {
      const auto own = [&](const auto& all) { return all.middleRows(static_cast<Index>(k) * rows_, rows_); };
      const View x = term_->clamped() ? View(*input_) : View(own(of(z, term_->from_)));
      up_.correlate(ReadDirection::forward, x, own(error), scales[k], sink, read);
      bias_.correlate(ReadDirection::forward, ones_.topRows(rows_), own(error), scales[k], sink, read);
    }
    return true;
  }

 private:
  using View = Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>;

  static View of(ConstMatrixRef<S> z, const LinkEnd& end) { return z.middleCols(end.columns.begin, end.columns.count); }
  static MatrixRef<S> on(MatrixRef<S> f, const LinkEnd& end) {
    return f.middleCols(end.columns.begin, end.columns.count);
  }
  /// f of the drive of the layer alone.
  static LinkEnd bend(const PredictionLink& term) {
    LinkEnd end = term.to_;
    end.columns.begin = 0;
    return end;
  }

  /// Computes h of as many copies as z has; a clamped input is read for each of them.
  void set_drive(ConstMatrixRef<S> z, MatrixRef<S> h, ReadContext& read) {
    bias_.read(ReadDirection::forward, ones_.topRows(h.rows()), h, read, Store::assign);
    if (!term_->clamped()) return up_.read(ReadDirection::forward, of(z, term_->from_), h, read);
    for (Index row = 0; row < h.rows(); row += rows_) {
      up_.read(ReadDirection::forward, *input_, h.middleRows(row, rows_), read);
    }
  }

  /// Sets f_ to the predictions at z and returns (z_b − p) ⊙ f'(h).
  MatrixRef<S> predict(ConstMatrixRef<S> z, ReadContext& read) {
    auto h = drive_.topRows(z.rows());
    set_drive(z, h, read);
    f_.set(h);
    auto error = error_.topRows(z.rows());
    error = of(z, term_->to_) - f_.value(h);
    f_.gate(error, error);
    return error;
  }

  /// Change of (z_b − p) ⊙ f' with z_b and h: f' ⊙ (v_b − f' ⊙ w) + (z_b − p) ⊙ f'' ⊙ w, w the change of h. J is symmetric: its
  /// transpose has the same form.
  MatrixRef<S> turned(ConstMatrixRef<S> v, ConstMatrixRef<S> w) {
    auto error = error_.topRows(v.rows());
    auto out = pull_.topRows(v.rows());
    error = of(v, term_->to_);
    f0_.add_gated(w, S(-1), error);
    f0_.gate(error, out);
    f0_.add_curved(w, error0_, S(1), out);
    return out;
  }

  /// Jᵀ u before the reads that bring it down, ∂(F u)/∂h; drive_ then holds what comes through the errors.
  MatrixRef<S> pulled(ConstMatrixRef<S> u, ReadContext& read) {
    auto w = drive_.topRows(u.rows());
    w.setZero();
    if (term_->drives_from()) {
      up_.derivative(ReadDirection::transposed, Derivative::vjp, gated0_, of(u, term_->from_), w, read);
    }
    return turned(u, w);
  }

  /// f += Jᵀ u from q = pulled(u).
  void add_pulled(ConstMatrixRef<S> q, MatrixRef<S> f, ReadContext& read) {
    if (term_->clamped()) return;
    if (term_->drives_from()) f0_.add_gated(drive_.topRows(q.rows()), S(1), on(f, term_->to_));
    up_.derivative(ReadDirection::forward, Derivative::vjp, source0_, q, on(f, term_->from_), read);
  }

  const PredictionLink* term_;
  Index rows_;
  LinkReader<S> up_, bias_;
  const Matrix<S>* input_ = nullptr;
  ActivatedNode<S> f_, f0_;
  Matrix<S> ones_, drive_, error_, pull_, below_;  ///< working memory
  Matrix<S> source0_, drive0_, error0_, gated0_;   ///< z_a, h, z_b − p and (z_b − p) ⊙ f' at the point
};

template <class S>
std::unique_ptr<TermSystem<S>> PredictionLink<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

NUDGE_BOTH_PRECISIONS_OF(PredictionLink)

}  // namespace nudge
