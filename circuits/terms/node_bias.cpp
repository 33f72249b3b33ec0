// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"

#include "circuits/terms/convolution.hpp"
#include "sim/base/errors.hpp"
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

}  // namespace nudge
