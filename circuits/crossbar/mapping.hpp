// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/crossbar/line_view.hpp"
#include "circuits/crossbar/mapping_spec.hpp"

namespace nudge {

/// How two arrays of conductances stand for a weight matrix (N, M): the first has a device per weight, the second what it
/// is compared with. A stateless rule; the devices are those of DevicePairs.
template <class S>
class Mapping {
 public:
  virtual ~Mapping() = default;

  /// Columns of the second array: M, 1 or 0.
  virtual Index second_columns(Index outputs) const = 0;

  /// k w_max: the window g_max − g_min for a pair, half of it for single devices around the middle, g_max for a bare device.
  virtual double reach_S(double g_min_S, double g_max_S) const = 0;

  /// Where the devices of a weight 0 stand.
  virtual double rest_S(double g_min_S, double g_max_S) const { return 0.5 * (g_min_S + g_max_S); }

  /// The least weight that the window can hold, where the largest is w_max.
  virtual double least(double /*g_min_S*/, double /*g_max_S*/, double w_max) const { return -w_max; }

  /// Conductances that hold w: first (N, M), second (N, second_columns), around `rest`.
  virtual void targets(const Matrix<S>& w, S rest, S k, Matrix<S>& first, Matrix<S>& second) const = 0;

  /// Changes of both arrays that change the weight by 1; second_step 0: that array is not updated.
  struct Steps {
    S first, second;
  };
  virtual Steps steps(S k) const = 0;

  /// What the lines see of both arrays; see LineView.
  virtual void view(const Matrix<S>& first, const Matrix<S>& second, S middle, S k, bool want_total,
                    LineView<S>& out) const = 0;

  /// Devices of a cross point that fluctuate independently in a read: 2 or 1. A reference device is counted by the view.
  virtual int devices() const = 0;
};

template <class S>
std::unique_ptr<const Mapping<S>> make_mapping(MappingKind kind);

}  // namespace nudge
