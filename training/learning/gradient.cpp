// SPDX-License-Identifier: Apache-2.0
#include "training/learning/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/product.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
Gradient<S>::Gradient(std::span<const ParameterShape> shapes) {
  for (const ParameterShape& shape : shapes) matrices_.push_back(Matrix<S>::Zero(shape.rows, shape.cols));
}

template <class S>
void Gradient<S>::accumulate(int parameter, Columns columns, S scale, ConstMatrixRef<S> x, ConstMatrixRef<S> y) {
  NUDGE_EXPECT(parameter >= 0 && parameter < size());
  const bool whole = columns.count == matrices_[static_cast<std::size_t>(parameter)].cols();
  const bool stored = whole && take_unset(parameter);
  Matrix<S>& g = (*this)[parameter];
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= g.cols());
  multiply_outer<S>(x, y, scale, g.middleCols(columns.begin, columns.count), stored ? Store::assign : Store::add);
}

template <class S>
void Gradient<S>::accumulate(int parameter, S scale, ConstMatrixRef<S> gradient) {
  NUDGE_EXPECT(parameter >= 0 && parameter < size());
  const bool stored = take_unset(parameter);
  Matrix<S>& g = (*this)[parameter];
  NUDGE_EXPECT(gradient.rows() == g.rows() && gradient.cols() == g.cols());
  if (stored) {
    g = scale * gradient;
  } else {
    g += scale * gradient;
  }
}

template <class S>
void Gradient<S>::set_zero() {
  for (Matrix<S>& g : matrices_) g.setZero();
  unset_.clear();
}

template <class S>
void Gradient<S>::begin() {
  unset_.assign(matrices_.size(), 1);
}

/// Whether nothing has come to it yet; from now on something has.
template <class S>
bool Gradient<S>::take_unset(int parameter) {
  if (unset_.empty()) return false;
  return std::exchange(unset_[static_cast<std::size_t>(parameter)], char{0}) != 0;
}

template <class S>
void Gradient<S>::fill(int parameter) {
  if (take_unset(parameter)) matrices_[static_cast<std::size_t>(parameter)].setZero();
}

template <class S>
void Gradient<S>::finish() {
  for (int p = 0; p < size(); ++p) fill(p);
  unset_.clear();
}

template <class S>
void Gradient<S>::add(const Gradient& other, S scale) {
  NUDGE_EXPECT(other.size() == size());
  for (int p = 0; p < size(); ++p) (*this)[p] += scale * other[p];
}

template <class S>
void Gradient<S>::scale(S factor) {
  for (Matrix<S>& g : matrices_) g *= factor;
}

template <class S>
double Gradient<S>::squared_norm() const {
  double sum = 0;
  for (const Matrix<S>& g : matrices_) {
    const std::span<const S> all(g.data(), static_cast<std::size_t>(g.size()));
    sum += inner_product_of_row<S>(all, all);
  }
  return sum;
}

template <class S>
double Gradient<S>::norm() const {
  return std::sqrt(squared_norm());
}

template <class S>
bool Gradient<S>::all_finite() const {
  return std::all_of(matrices_.begin(), matrices_.end(), [](const Matrix<S>& g) { return g.allFinite(); });
}

template <class S>
void finish_together(std::span<Gradient<S>> chunks) {
  if (chunks.empty()) return;
  for (int p = 0; p < chunks[0].size(); ++p) {
    if (std::none_of(chunks.begin(), chunks.end(), [p](const Gradient<S>& g) { return g.met(p); })) continue;
    for (Gradient<S>& chunk : chunks) chunk.fill(p);
  }
}

template <class S>
void sum_gradients(std::span<const Gradient<S>> chunks, Gradient<S>& total, int threads) {
  NUDGE_EXPECT(!chunks.empty());
  // Entries are added in pieces of 16 KiB (float), small enough to stay in L1 while all chunks pass by.
  constexpr Index kPiece = 4096;
  struct Piece {
    int parameter;
    Index begin, count;
  };
  std::vector<Piece> pieces;
  std::vector<Matrix<S>>& sums = total.matrices();
  sums.resize(chunks[0].matrices().size());
  for (int p = 0; p < chunks[0].size(); ++p) {
    total[p].resizeLike(chunks[0][p]);
    for (Index begin = 0; begin < total[p].size(); begin += kPiece) {
      pieces.push_back({p, begin, std::min(kPiece, total[p].size() - begin)});
    }
  }
  using Entries = Eigen::Array<S, Eigen::Dynamic, 1>;
  parallel_for(static_cast<Index>(pieces.size()), threads, [&](Index i, int) {
    const Piece piece = pieces[static_cast<std::size_t>(i)];
    Eigen::Map<Entries> sum(total[piece.parameter].data() + piece.begin, piece.count);
    if (!chunks[0].met(piece.parameter)) {
      sum.setZero();
      return;
    }
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      NUDGE_EXPECT(chunks[c][piece.parameter].size() == total[piece.parameter].size());
      const Eigen::Map<const Entries> part(chunks[c][piece.parameter].data() + piece.begin, piece.count);
      if (c == 0) {
        sum = part;
      } else {
        sum += part;
      }
    }
  });
}

template <class S>
Gradient<double> in_double(const Gradient<S>& gradient) {
  std::vector<ParameterShape> shapes;
  for (const Matrix<S>& m : gradient.matrices()) shapes.push_back({m.rows(), m.cols()});
  Gradient<double> out(shapes);
  for (int p = 0; p < gradient.size(); ++p) out[p] = gradient[p].template cast<double>();
  return out;
}

template <class S>
double clip_by_norm(Gradient<S>& gradient, double max_norm) {
  const double norm = gradient.norm();
  if (max_norm > 0 && std::isfinite(norm) && norm > max_norm) gradient.scale(static_cast<S>(max_norm / norm));
  return norm;
}

#define NUDGE_INSTANTIATE(S)                                                       \
  template class Gradient<S>;                                                      \
  template void finish_together<S>(std::span<Gradient<S>>);                        \
  template void sum_gradients<S>(std::span<const Gradient<S>>, Gradient<S>&, int); \
  template Gradient<double> in_double<S>(const Gradient<S>&);                      \
  template double clip_by_norm<S>(Gradient<S>&, double);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
