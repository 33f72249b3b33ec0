// SPDX-License-Identifier: Apache-2.0
#include "training/learning/gradient.hpp"

#include <algorithm>
#include <cmath>

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

/// Returns true if no contribution has come to the parameter yet, and marks that one has.
template <class S>
bool Gradient<S>::take_unset(int parameter) {
  if (unset_.empty()) return false;
  return std::exchange(unset_[static_cast<std::size_t>(parameter)], char{0}) != 0;
}

template <class S>
std::pair<Matrix<S>&, bool> Gradient<S>::meet(int parameter) {
  const bool unset = take_unset(parameter);
  return {matrices_[static_cast<std::size_t>(parameter)], unset};
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
  for (int p = 0; p < size(); ++p) {
    if (met(p)) matrices_[static_cast<std::size_t>(p)] *= factor;
  }
}

template <class S>
double Gradient<S>::squared_norm() const {
  double sum = 0;
  for (int p = 0; p < size(); ++p) {
    if (!met(p)) continue;
    const Matrix<S>& g = (*this)[p];
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
  for (int p = 0; p < size(); ++p) {
    if (met(p) && !(*this)[p].allFinite()) return false;
  }
  return true;
}

template <class S>
std::vector<char> met_by_any(std::span<const Gradient<S>> chunks, int parameters) {
  std::vector<char> met;
  for (int p = 0; p < parameters; ++p) {
    met.push_back(std::any_of(chunks.begin(), chunks.end(), [p](const Gradient<S>& g) { return g.met(p); }) ? 1 : 0);
  }
  return met;
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
  total.begin();
  for (int p = 0; p < chunks[0].size(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    sums[at].resizeLike(chunks[0].matrices()[at]);
    if (!chunks[0].met(p)) continue;
    total.meet(p);
    for (Index begin = 0; begin < sums[at].size(); begin += kPiece) {
      pieces.push_back({p, begin, std::min(kPiece, sums[at].size() - begin)});
    }
  }
  using Entries = Eigen::Array<S, Eigen::Dynamic, 1>;
  parallel_for(static_cast<Index>(pieces.size()), threads, [&](Index i, int) {
    const Piece piece = pieces[static_cast<std::size_t>(i)];
    Matrix<S>& whole = sums[static_cast<std::size_t>(piece.parameter)];
    Eigen::Map<Entries> sum(whole.data() + piece.begin, piece.count);
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      NUDGE_EXPECT(chunks[c][piece.parameter].size() == whole.size());
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

double clip_factor(double norm, double max_norm) {
  return max_norm > 0 && std::isfinite(norm) && norm > max_norm ? max_norm / norm : 1;
}

template <class S>
double clip_by_norm(Gradient<S>& gradient, double max_norm) {
  const double norm = gradient.norm();
  const double factor = clip_factor(norm, max_norm);
  if (factor < 1) gradient.scale(static_cast<S>(factor));
  return norm;
}

#define NUDGE_GRADIENT(S)                                                          \
  template class Gradient<S>;                                                      \
  template std::vector<char> met_by_any<S>(std::span<const Gradient<S>>, int);     \
  template void sum_gradients<S>(std::span<const Gradient<S>>, Gradient<S>&, int); \
  template Gradient<double> in_double<S>(const Gradient<S>&);                      \
  template double clip_by_norm<S>(Gradient<S>&, double);
NUDGE_BOTH_PRECISIONS(NUDGE_GRADIENT)

}  // namespace nudge
