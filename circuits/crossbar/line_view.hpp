// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Array with one number per line.
template <class S>
using LineValues = Eigen::Array<S, 1, Eigen::Dynamic>;

/// Slow noise of the devices that moves from read to read: for every time constant an Ornstein–Uhlenbeck process with this
/// variance at every cross point.
template <class S>
struct MovingNoise {
  std::vector<double> times_s;       ///< time constants
  Matrix<S> variance;                ///< (N, M): of a cross point, over k²
  LineValues<S> reference_variance;  ///< (N): variance of the reference devices; empty: none
};

/// View that the lines of an array of N rows and M columns have of its devices, wires included. Everything is conductance
/// over k, the siemens per unit of weight: a current I is the number I/(k V_read).
template <class S>
struct LineView {
  Matrix<S> weights;   ///< (N, M): net conductance, the factor of a read
  Matrix<S> backward;  ///< (N, M): net conductance over the path of a transposed read; empty: as `weights`
  Matrix<S> total;     ///< (N, M): sum of all devices at a cross point; empty unless shot noise asks for it
  Matrix<S> variance;  ///< (N, M): state-dependent variance of the conductance of a cross point per τ, over k²;
                       ///< empty: none. Of the devices themselves: wires are not seen.
  LineValues<S> reference_variance;  ///< (N): state-dependent variance of the reference devices
  LineValues<S> column_load;         ///< (M): sum over all devices of a column line
  LineValues<S> row_load;            ///< (N): sum over all devices of a row line, its reference device included
  LineValues<S> reference;           ///< (N): the reference device of each row; empty: none
  S reference_load = 0;              ///< sum of the reference devices
  S pedestal = 0;  ///< conductance that `weights` lacks at every cross point: taken off digitally after the converter
  std::vector<MovingNoise<S>> moving = {};  ///< slow noise of the devices themselves, as `variance`

  /// Gives the amplifiers `gain` times their gain and makes k smaller: numbers over k grow with the gain, numbers over k²
  /// with its square.
  void amplify(S gain);

  const Matrix<S>& transposed_weights() const { return backward.size() > 0 ? backward : weights; }

  /// View in other arithmetic, without `moving`: for reads without noise.
  template <class T>
  LineView<T> cast() const {
    return {weights.template cast<T>(),
            backward.template cast<T>(),
            total.template cast<T>(),
            variance.template cast<T>(),
            reference_variance.template cast<T>(),
            column_load.template cast<T>(),
            row_load.template cast<T>(),
            reference.template cast<T>(),
            static_cast<T>(reference_load),
            static_cast<T>(pedestal),
            {}};
  }
};

/// Computes weights, loads (and `total` if wanted) of pairs: (G⁺ − G⁻)/k. One pass over both arrays.
template <class S>
void view_pairs(const Matrix<S>& plus, const Matrix<S>& minus, S k, bool want_total, LineView<S>& view);

/// Computes weights, loads (and `total` if wanted) of single devices against a baseline b_i per row, (G_ij − b_i)/k; b in
/// siemens, one per row.
template <class S>
void view_single(const Matrix<S>& g, const LineValues<S>& baseline, S k, bool want_total, LineView<S>& view);

}  // namespace nudge
