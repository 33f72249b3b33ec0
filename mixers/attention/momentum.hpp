// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/ops/arithmetic.hpp"

namespace nudge {

/// Where a step with momentum evaluates its update U.
enum class LookAhead {
  none,       ///< z: heavy ball
  paper,      ///< z − β p: Ren et al., "Transformers as Intrinsic Optimizers", eq. 10
  sutskever,  ///< z − η β p: consistent with z' = z − η p'; the same for η = 1
};

/// The state and its momentum, (tokens, width) each.
template <class S>
struct Motion {
  Value<S> z;
  Value<S> p;
};

/// p' = β p − U(look-ahead), z' = z − η p'; β and η (1, 1).
template <class S, class Update>
Motion<S> momentum_step(LookAhead look_ahead, Motion<S> at, Value<S> beta, Value<S> eta, Update update) {
  const Value<S> carried = at.p * beta;
  Value<S> point = at.z;
  if (look_ahead == LookAhead::paper) point = at.z - carried;
  if (look_ahead == LookAhead::sutskever) point = at.z - carried * eta;
  const Value<S> p = carried - update(point);
  return {at.z - p * eta, p};
}

}  // namespace nudge
