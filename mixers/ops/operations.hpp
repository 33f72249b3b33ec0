// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mixers/tape.hpp"

namespace nudge {

/// Elementwise operation, shape of a; b has the shape of a or is repeated along rows (1, n), columns (m, 1) or both (1, 1).
template <class S>
Value<S> operator+(Value<S> a, Value<S> b);
template <class S>
Value<S> operator-(Value<S> a, Value<S> b);
template <class S>
Value<S> operator*(Value<S> a, Value<S> b);
template <class S>
Value<S> operator/(Value<S> a, Value<S> b);

/// Affine map scale x + shift with constants.
template <class S>
Value<S> affine(Value<S> x, double scale, double shift = 0);

/// Sums of the rows, Σ over the columns, (m, 1).
template <class S>
Value<S> row_sum(Value<S> x);

/// Sum of all entries, (1, 1).
template <class S>
Value<S> total(Value<S> x);

/// Functions of one number, all in forms that neither overflow nor cancel for large |x|.
enum class Function {
  relu,             ///< max(x, 0), slope 0 at 0
  sigmoid,          ///< 1/(1 + e⁻ˣ)
  softplus,         ///< log(1 + eˣ)
  silu,             ///< x sigmoid(x)
  gelu,             ///< x (1 + erf(x/√2))/2
  exponential,      ///< eˣ
  logarithm,        ///< log x, for x > 0
  sine,             ///< sin x
  square,           ///< x²
  inverse_root,     ///< 1/√x, for x > 0
  squared_relu,     ///< max(x, 0)², slope 2 max(x, 0) (So et al., "Primer", arXiv:2109.08668)
  bit_information,  ///< log 2 − H_b(sigmoid(x)): information of a bit with logit x beyond a fair coin, in nats
};

/// Function of every entry, y = f(x).
template <class S>
Value<S> apply(Function function, Value<S> x);

/// Value f(x) of one number, for code that needs no derivative.
template <class S>
S evaluate(Function function, S x);

/// Columns [begin, begin + count).
template <class S>
Value<S> columns(Value<S> x, Index begin, Index count);

/// Rows [begin, begin + count).
template <class S>
Value<S> rows(Value<S> x, Index begin, Index count);

/// Columns of x by index, y_tj = x_t,index[j]; the derivative adds up where columns repeat.
template <class S>
Value<S> gather_columns(Value<S> x, std::vector<int> index);

/// The columns of x, one after the other, as one row.
template <class S>
Value<S> as_row(Value<S> x);

/// Parts side by side; all have the same number of rows.
template <class S>
Value<S> join_columns(const std::vector<Value<S>>& parts);

/// Numbers of rows or classes that the caller may change (not resize) before a tape is run again.
using SharedIndices = std::shared_ptr<const std::vector<int>>;

/// Rows of a table by index, y_t = x_{index[t]}; the derivative adds up where rows repeat.
template <class S>
Value<S> gather_rows(Value<S> x, std::vector<int> index);
template <class S>
Value<S> gather_rows(Value<S> x, SharedIndices index);

/// Product a b; a (n, m), b (m, k). If b are weights that are read (Tape::weights), their reader reads a.
template <class S>
Value<S> product(Value<S> a, Value<S> b);

/// Product a bᵀ; a (n, m), b (k, m).
template <class S>
Value<S> product_nt(Value<S> a, Value<S> b);

/// Product aᵀ b; a (m, n), b (m, k).
template <class S>
Value<S> product_tn(Value<S> a, Value<S> b);

/// Layer norm of each row, (x − mean)/√(var + ε), biased variance, no learned scale or shift.
template <class S>
Value<S> layer_norm(Value<S> x, double epsilon = 1e-5);

/// RMS norm x/√(mean x² + ε) over each of `groups` contiguous blocks of columns of each row, no learned scale.
template <class S>
Value<S> rms_norm(Value<S> x, Index groups = 1, double epsilon = 1e-6);

/// Squared distances D_ti = ‖q_t − k_i‖²; q (queries, m), k (keys, m).
template <class S>
Value<S> squared_distance(Value<S> q, Value<S> k);

/// Choice of the two columns of a block of m that form a pair: (2j, 2j+1), or (j, j + m/2) as in the published code of
/// many language models. The two differ by a permutation of the columns.
enum class RotaryPairs { adjacent, halves };

/// Rotary positions: in each of `heads` blocks of m columns, pair j of row t is turned by the angle (first_position +
/// t)·10000^(−2j/m). Products of rows then depend on the difference of their positions (Su et al., arXiv:2104.09864, eq.
/// 34): (a, b) → (a cos − b sin, a sin + b cos). UserError unless m is even. The published code of the Free Energy Mixer
/// pairs the columns inconsistently, which is not a rotation; this is.
template <class S>
Value<S> rotate_positions(Value<S> x, Index heads, Index first_position = 0, RotaryPairs pairs = RotaryPairs::adjacent);

/// Solution A⁻¹ B; A (n, n) regular, B (n, m). A singular A gives numbers that are not finite.
template <class S>
Value<S> solve(Value<S> a, Value<S> b);

/// Solution x_t = (α I + γ Cov_t)⁻¹ r_t with Cov_t = Σ_i p_ti k_i k_iᵀ − k̄_t k̄_tᵀ and k̄_t = Σ_i p_ti k_i. This is one
/// small system per query. p (queries, keys), k (keys, m), r and x (queries, m).
template <class S>
Value<S> covariance_solve(Value<S> p, Value<S> k, Value<S> r, double alpha, double gamma);

/// Decay matrix y_ti = exp(Σ_{τ=i+1..t} g_τ) for i ≤ t, 0 above the diagonal; g (T, 1), y (T, T). Built row by row from
/// products of decays, never from ratios of cumulative products (which overflow).
template <class S>
Value<S> decay_matrix(Value<S> g);

/// Decayed sum h_t = exp(g_t) h_{t−1} + u_t, h_{−1} = 0, per column; g and u (T, n). With a stream (1, n), h_{−1} is its
/// content (empty: 0), and it is left with h_{T−1}, when recorded (not to be run again).
template <class S>
Value<S> decayed_sum(Value<S> g, Value<S> u, Matrix<S>* stream = nullptr);

}  // namespace nudge
