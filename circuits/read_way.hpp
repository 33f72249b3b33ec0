// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// Forward drives the rows of an array (its inputs) and senses the columns; transposed the other way round, through the same
/// devices.
enum class ReadDirection { forward, transposed };

/// Of a read at its operating point, D = ∂out/∂drive: out = D v, or out = Dᵀ u.
enum class Derivative { jvp, vjp };

/// The way that a small signal takes through an array: derivatives of a product W are products with W or Wᵀ again.
inline ReadDirection way_of(ReadDirection read, Derivative derivative) {
  if (derivative == Derivative::jvp) return read;
  return read == ReadDirection::forward ? ReadDirection::transposed : ReadDirection::forward;
}

}  // namespace nudge
