// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Optional capability of a Dynamics (Capabilities::driven) whose input changes in time: F(z, t). The input is a row of frames, each of
/// which stands still while it is shown. Such a system has a trajectory in place of an equilibrium.
template <class S>
class Driven {
 public:
  virtual ~Driven() = default;

  virtual Index frames() const = 0;
  /// Shows a frame, for all evaluations until another is shown.
  virtual void show(Index frame) = 0;

  /// Shows what belongs to step n (from 0) of a phase of so many steps: each frame lasts as many.
  void show_at(Index n, Index steps) { show(n * frames() / steps); }
};

}  // namespace nudge
