// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/causal_attention.hpp"

#include "circuits/terms/shared_array.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

template <class S>
TermTraits CausalAttention<S>::traits() const {
  return {.name = "attention",
          .nonconservative = true,
          .sources = {SharedArray<S>::kProjections},
          .targets = {SharedArray<S>::kState},
          .noisy = output_->noisy(),
          .keeps_points = output_->plain()};
}

template <class S>
class CausalAttention<S>::System final : public TermSystem<S> {
 public:
  System(const CausalAttention& term, Index rows, Index max_copies)
      : term_(&term), rows_(rows), mixed_(max_copies * rows, channels()), point_(make_point()) {}

  void force(ConstMatrixRef<S> x, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (part != Part::conservative) drive(x, x.topRows(0), f, read);
  }

  void linearize(ConstMatrixRef<S> x, MatrixRef<S> /*conservative*/, MatrixRef<S> rest, ReadContext& read) override {
    point_.core.linearize(projections(x), point_.drive);
    work(read, point_.core.forward_operations());
    point_.drive *= term_->gain_;
    output().forward(point_.drive, rest.leftCols(channels()), output().all_columns(), Store::add, read);
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (part == Part::conservative) return;
    auto o = mixed_.topRows(v.rows());
    for (Index row = 0; row < v.rows(); row += rows_) {
      point_.core.jvp(projections(v).middleRows(row, rows_), o.middleRows(row, rows_), false);
    }
    work(read, copies(v) * point_.core.derivative_operations());
    o *= scale * term_->gain_;
    output().derivative(ReadDirection::forward, Derivative::jvp, point_.drive, o, f.leftCols(channels()),
                        output().all_columns(), Store::add, read);
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (part == Part::conservative) return;
    auto w = mixed_.topRows(u.rows());
    output().derivative(ReadDirection::forward, Derivative::vjp, point_.drive, u.leftCols(channels()), w,
                        output().all_columns(), Store::assign, read);
    w *= term_->gain_;
    for (Index row = 0; row < u.rows(); row += rows_) {
      point_.core.vjp(w.middleRows(row, rows_), projections(f).middleRows(row, rows_));
    }
    work(read, copies(u) * point_.core.derivative_operations());
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> /*input_gradient*/, MatrixRef<S> f,
                  ReadContext& read) override {
    output().correlate(ReadDirection::forward, point_.drive, u.leftCols(channels()), output().all_columns(), scale,
                       term_->output_parameter_, sink, read);
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }

  void swap_point(std::size_t number) override {
    while (kept_.size() <= number) kept_.push_back(make_point());
    std::swap(point_, kept_[number]);
  }

  /// Adds the law by one drive of W_o: F(z) − J v where the law has both.
  void law(NudgedForm form, ConstMatrixRef<S> x, ConstMatrixRef<S> v, NudgedDrive /*drive*/, MatrixRef<S> f,
           ReadContext& read) override {
    if (form == NudgedForm::conservative) return;
    if (form == NudgedForm::corrected) drive(x, v, f, read);
    vjp(v, f, Part::nonconservative, read);
  }

  const AttentionCore<S>& core() const { return point_.core; }

 private:
  struct Point {
    AttentionCore<S> core;
    Matrix<S> drive;  ///< s·o, the drive of W_o there
  };
  Point make_point() const {
    return {{rows_, channels(), term_->heads_, term_->spread_}, Matrix<S>(rows_, channels())};
  }

  /// Counts digital operations if numbers multiply; circuits that multiply do no digital work.
  void work(ReadContext& read, double operations) const {
    if (!term_->spread_) read.work(operations);
  }

  Index channels() const { return term_->at_.count / 3; }
  const LinearMap<S>& output() const { return *term_->output_; }
  template <class Ref>
  auto projections(Ref&& x) const {
    return x.middleCols(term_->at_.begin, term_->at_.count);
  }
  double copies(ConstMatrixRef<S> x) const { return static_cast<double>(x.rows()) / static_cast<double>(rows_); }

  /// Adds F(x) to f, or F(x) − J v unless v is empty.
  void drive(ConstMatrixRef<S> x, ConstMatrixRef<S> v, MatrixRef<S> f, ReadContext& read) {
    auto o = mixed_.topRows(x.rows());
    const bool derivative = v.size() > 0;
    for (Index row = 0; row < x.rows(); row += rows_) {
      point_.core.forward(projections(x).middleRows(row, rows_), o.middleRows(row, rows_));
      if (derivative) point_.core.jvp(projections(v).middleRows(row, rows_), o.middleRows(row, rows_), true);
    }
    work(read, copies(x) * (point_.core.forward_operations() + (derivative ? point_.core.derivative_operations() : 0)));
    o *= term_->gain_;
    output().forward(o, f.leftCols(channels()), output().all_columns(), Store::add, read);
  }

  const CausalAttention* term_;
  Index rows_;
  Matrix<S> mixed_;  ///< attention outputs before W_o, or their adjoints
  Point point_;
  std::vector<Point> kept_;
};

template <class S>
std::unique_ptr<TermSystem<S>> CausalAttention<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

template <class S>
const Matrix<S>& CausalAttention<S>::probabilities(const TermSystem<S>& system, Index head) {
  return dynamic_cast<const System&>(system).core().probabilities(head);
}

NUDGE_BOTH_PRECISIONS_OF(CausalAttention)

namespace {

/// Number from which on these cells are numbered; smaller ones belong to units of nodes.
constexpr std::uint32_t kCells = 1u << 16U;

/// Draws for every head a matrix of σ times standard normal numbers; nothing if σ is 0. lane: stream of the numbers.
std::vector<Matrix<double>> drawn_heads(double sigma, Index tokens, Index heads, const RngKey& key,
                                        std::uint32_t lane) {
  std::vector<Matrix<double>> all;
  for (Index head = 0; sigma > 0 && head < heads; ++head) {
    Matrix<double>& one = all.emplace_back(tokens, tokens);
    fill_normal<double>(key, static_cast<std::uint64_t>(head), lane,
                        {one.data(), static_cast<std::size_t>(one.size())});
    one *= sigma;
  }
  return all;
}

template <class S>
std::vector<Matrix<S>> factors(const std::vector<Matrix<double>>& deviations) {
  std::vector<Matrix<S>> all;
  for (const Matrix<double>& one : deviations) {
    all.push_back((1 + one.array().max(-0.5).min(0.5)).matrix().template cast<S>());
  }
  return all;
}

}  // namespace

template <class S>
std::shared_ptr<const AttentionSpread<S>> drawn_attention(const AttentionErrors& errors, Index tokens, Index heads,
                                                          std::uint32_t number) {
  if (!errors.analog) return nullptr;
  const RngKey key{errors.seed, Purpose::unit_spread, kCells + number};
  auto spread = std::make_shared<AttentionSpread<S>>();
  spread->score_gain = factors<S>(drawn_heads(errors.gain_spread, tokens, heads, key, 0));
  spread->value_gain = factors<S>(drawn_heads(errors.gain_spread, tokens, heads, key, 1));
  for (const Matrix<double>& one : drawn_heads(errors.offset_spread, tokens, heads, key, 2)) {
    spread->score_offset.push_back(one.cast<S>());
  }
  return spread;
}

template std::shared_ptr<const AttentionSpread<float>> drawn_attention<float>(const AttentionErrors&, Index, Index,
                                                                              std::uint32_t);
template std::shared_ptr<const AttentionSpread<double>> drawn_attention<double>(const AttentionErrors&, Index, Index,
                                                                                std::uint32_t);

}  // namespace nudge
