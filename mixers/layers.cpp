// SPDX-License-Identifier: Apache-2.0
#include "mixers/layers.hpp"

#include <cmath>

#include "mixers/ops/operations.hpp"

namespace nudge {

std::vector<Field> feed_forward_fields(const std::string& prefix, Index width, Index inner) {
  const double narrow = 1.0 / std::sqrt(static_cast<double>(width));
  const double wide = 1.0 / std::sqrt(static_cast<double>(inner));
  return {{prefix + "n2", {width}, 1},
          {prefix + "Wg", {width, inner}, 0, narrow},
          {prefix + "Wu", {width, inner}, 0, narrow},
          {prefix + "Wd", {inner, width}, 0, wide}};
}

template <class S>
Value<S> feed_forward(Value<S> x, const NamedValues<S>& parameters, const std::string& prefix) {
  const auto w = [&](const char* name) { return parameters[prefix + name]; };
  const Value<S> h = rms_norm(x) * w("n2");
  return product(apply(Function::silu, product(h, w("Wg"))) * product(h, w("Wu")), w("Wd"));
}

template <class S>
Value<S> tied_read(Value<S> x, Value<S> table) {
  return affine(product_nt(x, table), 1.0 / std::sqrt(static_cast<double>(x.cols())));
}

#define NUDGE_LAYERS(S)                                                                   \
  template Value<S> feed_forward<S>(Value<S>, const NamedValues<S>&, const std::string&); \
  template Value<S> tied_read<S>(Value<S>, Value<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_LAYERS)

}  // namespace nudge
