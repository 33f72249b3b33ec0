// SPDX-License-Identifier: Apache-2.0
#include "mixers/read_out.hpp"

#include <cmath>

#include "mixers/ops/arithmetic.hpp"
#include "mixers/ops/product.hpp"

namespace nudge {

template <class S>
Value<S> tied_read(Value<S> x, Value<S> table) {
  return affine(product_nt(x, table), 1.0 / std::sqrt(static_cast<double>(x.cols())));
}

template Value<float> tied_read<float>(Value<float>, Value<float>);
template Value<double> tied_read<double>(Value<double>, Value<double>);

}  // namespace nudge
