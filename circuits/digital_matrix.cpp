// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_matrix.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

template <class S>
void DigitalMatrix<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                            ReadContext& context) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= this->outputs());
  ++context.read;
  const auto w = weights_.middleCols(columns.begin, columns.count);
  if (way == ReadDirection::forward) {
    multiply<S>(x, w, out, store);
  } else {
    multiply_transposed<S>(x, w, out, store);
  }
}

template <class S>
void DigitalMatrix<S>::apply(const WeightUpdate<S>& update) {
  if (update.direction != nullptr) {
    NUDGE_EXPECT(update.direction->rows() == this->inputs() && update.direction->cols() == this->outputs());
    weights_ += update.scale * *update.direction;
    return;
  }
  for (const FactorPair<S>& f : update.factors) {
    NUDGE_EXPECT(f.columns.begin >= 0 && f.columns.end() <= this->outputs());
    multiply_outer<S>(f.x, f.y, update.scale * f.scale, weights_.middleCols(f.columns.begin, f.columns.count),
                      Store::add);
  }
}

template <class S>
void DigitalMatrix<S>::program(const Matrix<S>& target) {
  NUDGE_EXPECT(target.rows() == this->inputs() && target.cols() == this->outputs());
  weights_ = target;
}

template <class S>
std::unique_ptr<LinearMap<double>> DigitalMatrix<S>::noise_free() const {
  return std::make_unique<DigitalMatrix<double>>(weights_.template cast<double>(), unit_heat_J_);
}

template <class S>
std::vector<StateArray<S>> DigitalMatrix<S>::state() {
  return {{"weights", "1", "weight matrix (inputs, outputs)", &weights_}};
}

NUDGE_BOTH_PRECISIONS_OF(DigitalMatrix)

/// Choice of sums that a pass over conductances makes.
enum class PassSums { columns, rows_and_columns };

namespace detail {

/// Passes columns j to j + Lanes of N rows from row i on; the sums of the columns are read and written once for all rows.
/// totals: sums of the rows over these lanes.
template <int Lanes, int N, PassSums kSums, class S, class Change>
void pass_columns(S* g, Index cols, Index i, Index j, const Change& change, Eigen::Array<S, Lanes, 1>* totals,
                  S* column_sums) {
  using Numbers = Eigen::Array<S, Lanes, 1>;
  const auto changed = change.template at<Lanes>(j);
  Eigen::Map<Numbers> sums(column_sums + j);
  Numbers column = sums;
  for (int n = 0; n < N; ++n) {
    Eigen::Map<Numbers> row(g + (i + n) * cols + j);
    const Numbers next = changed(i + n, row);
    row = next;
    if constexpr (kSums == PassSums::rows_and_columns) totals[n] += next;
    column += next;
  }
  sums = column;
}

template <int N, PassSums kSums, class S, class Change>
void pass_rows(S* g, Index cols, Index i, const Change& change, S* row_sums, S* column_sums) {
  constexpr int kLanes = 32 / sizeof(S), kHalf = kLanes / 2;
  Eigen::Array<S, kLanes, 1> totals[N];
  Eigen::Array<S, kHalf, 1> halves[N];
  Eigen::Array<S, 1, 1> rest[N];
  for (int n = 0; n < N; ++n) {
    totals[n].setZero();
    halves[n].setZero();
    rest[n].setZero();
  }
  Index j = 0;
  for (; j + kLanes <= cols; j += kLanes) pass_columns<kLanes, N, kSums>(g, cols, i, j, change, totals, column_sums);
  if (j + kHalf <= cols) {
    pass_columns<kHalf, N, kSums>(g, cols, i, j, change, halves, column_sums);
    j += kHalf;
  }
  for (; j < cols; ++j) pass_columns<1, N, kSums>(g, cols, i, j, change, rest, column_sums);
  if constexpr (kSums == PassSums::columns) return;
  for (int n = 0; n < N; ++n) row_sums[i + n] = totals[n].sum() + halves[n].sum() + rest[n].sum();
}

}  // namespace detail

/// Makes one pass over the conductances g (inputs, outputs): g_ij ← change(i, j, g_ij), and the sums of the new conductances,
/// of every column (outputs) and, where kSums says so, of every row (inputs). `change.at<Lanes>(j)` is the function (i, g) →
/// new g of columns j to j + Lanes of row i, with Eigen arrays of Lanes numbers.
template <PassSums kSums, class S, class Change>
void pass_conductances(Matrix<S>& g, const Change& change, S* row_sums, S* column_sums) {
  constexpr int kTogether = kSums == PassSums::columns ? 8 : 4;  // rows whose totals stay in registers
  Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>>(column_sums, g.cols()).setZero();
  Index i = 0;
  for (; i + kTogether <= g.rows(); i += kTogether) {
    detail::pass_rows<kTogether, kSums>(g.data(), g.cols(), i, change, row_sums, column_sums);
  }
  for (; i < g.rows(); ++i) detail::pass_rows<1, kSums>(g.data(), g.cols(), i, change, row_sums, column_sums);
}

/// Raises conductances below 0 to 0; NaN stays NaN and is noticed.
template <class Numbers>
Numbers at_least_zero(const Numbers& g) {
  return g.max(typename Numbers::Scalar(0));
}

namespace {

/// Change that keeps conductances as they are.
template <class S>
struct Kept {
  template <int Lanes>
  auto at(Index /*j*/) const {
    return [](Index /*i*/, const Eigen::Array<S, Lanes, 1>& g) { return g; };
  }
};

template <class S>
struct Floored {
  template <int Lanes>
  auto at(Index /*j*/) const {
    return [](Index /*i*/, const Eigen::Array<S, Lanes, 1>& g) { return at_least_zero(g); };
  }
};

/// Change g_ij ← max(0, g_ij + scale d_ij).
template <class S>
struct Stepped {
  const Matrix<S>* direction;
  S scale;
  template <int Lanes>
  auto at(Index j) const {
    using Numbers = Eigen::Array<S, Lanes, 1>;
    return [d = direction->data() + j, stride = direction->cols(), by = scale](Index i, const Numbers& g) {
      return at_least_zero(Numbers(g + by * Eigen::Map<const Numbers>(d + i * stride)));
    };
  }
};

template <class S, class Change>
void renew(Matrix<S>& weights, WeightSums<S>& sums, const Change& change) {
  sums.of_columns.resize(1, weights.cols());
  sums.of_rows.resize(1, weights.rows());
  pass_conductances<PassSums::rows_and_columns>(weights, change, sums.of_rows.data(), sums.of_columns.data());
}

}  // namespace

template <class S>
DigitalConductances<S>::DigitalConductances(Matrix<S> weights) : DigitalMatrix<S>(std::move(weights)) {
  state_restored();
}

template <class S>
void DigitalConductances<S>::apply(const WeightUpdate<S>& update) {
  if (update.direction != nullptr) {
    NUDGE_EXPECT(update.direction->rows() == this->inputs() && update.direction->cols() == this->outputs());
    return renew(this->values(), sums_, Stepped<S>{update.direction, update.scale});
  }
  DigitalMatrix<S>::apply(update);
  renew(this->values(), sums_, Floored<S>{});
}

template <class S>
void DigitalConductances<S>::program(const Matrix<S>& target) {
  DigitalMatrix<S>::program(target);
  state_restored();
}

template <class S>
void DigitalConductances<S>::state_restored() {
  renew(this->values(), sums_, Kept<S>{});
}

NUDGE_BOTH_PRECISIONS_OF(DigitalConductances)

}  // namespace nudge
