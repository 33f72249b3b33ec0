// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// Shape of one parameter matrix of a model.
struct ParameterShape {
  Index rows = 0;
  Index cols = 0;
};

/// Gradient of a model, one matrix per parameter, by number; the local learning rule accumulates into it. Matrices
/// start at zero.
template <class S>
class Gradient final : public GradientSink<S> {
 public:
  Gradient() = default;
  explicit Gradient(std::span<const ParameterShape> shapes);

  /// Adds G_p[:, columns] += scale · xᵀ y.
  void accumulate(int parameter, Columns columns, S scale, ConstMatrixRef<S> x, ConstMatrixRef<S> y) override;
  /// Adds G_p += scale · gradient.
  void accumulate(int parameter, S scale, ConstMatrixRef<S> gradient) override;

  void set_zero();
  /// Replaces set_zero() around contributions: call begin() before and finish() after them. The first contribution is
  /// stored if it covers its matrix; other matrices are set to zero when first met. Until something has met() it, or
  /// finish(), a matrix is unwritten: zero to squared_norm() and scale(), and not to be read in other ways.
  void begin();
  void finish();
  bool met(int parameter) const { return unset_.empty() || unset_[static_cast<std::size_t>(parameter)] == 0; }
  /// Sets the matrix of `parameter` to zero if nothing has met it.
  void fill(int parameter);
  /// Marks `parameter` as met. Returns its matrix, and true if it was not met before: then all of it must be assigned.
  std::pair<Matrix<S>&, bool> meet(int parameter);
  void add(const Gradient& other, S scale = S(1));
  void scale(S factor);

  /// Sum Σ g² over all entries, and its root norm(). Both are accumulated in double in the order of the parameters, and
  /// not finite if an entry is not.
  double squared_norm() const;
  double norm() const;
  bool all_finite() const;

  int size() const { return static_cast<int>(matrices_.size()); }
  Matrix<S>& operator[](int parameter) {
    fill(parameter);
    return matrices_[static_cast<std::size_t>(parameter)];
  }
  const Matrix<S>& operator[](int parameter) const {
    NUDGE_EXPECT(met(parameter));
    return matrices_[static_cast<std::size_t>(parameter)];
  }
  std::vector<Matrix<S>>& matrices() { return matrices_; }
  const std::vector<Matrix<S>>& matrices() const { return matrices_; }

 private:
  bool take_unset(int parameter);

  std::vector<Matrix<S>> matrices_;
  std::vector<char> unset_;  ///< one flag per parameter between begin() and finish(); else empty
};

/// Number of chunks of a batch whose gradients are summed in order. It keeps the threads of a large machine busy, and
/// the buffers of the chunks small.
constexpr Index kChunks = 16;

/// Flags for every parameter: 1 if any of the chunks has met it.
template <class S>
std::vector<char> met_by_any(std::span<const Gradient<S>> chunks, int parameters);

/// Sums total = ((chunks[0] + chunks[1]) + chunks[2]) + …, entry by entry: the same bits for any number of threads.
/// Resizes total to the shapes of the chunks. Needs at least one chunk, all of equal shapes. Each parameter must be met
/// by all chunks or by none; then total has not met it either.
template <class S>
void sum_gradients(std::span<const Gradient<S>> chunks, Gradient<S>& total, int threads);

/// Converts a gradient to double.
template <class S>
Gradient<double> in_double(const Gradient<S>& gradient);

/// Factor that scales a gradient of this norm to `max_norm` when it is larger (Pascanu, Mikolov & Bengio 2013,
/// arXiv:1211.5063, algorithm 1). It is 1 for max_norm ≤ 0 and for a norm that is not finite.
double clip_factor(double norm, double max_norm);

/// Scales the gradient by clip_factor(). Returns the norm before clipping.
template <class S>
double clip_by_norm(Gradient<S>& gradient, double max_norm);

}  // namespace nudge
