// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/argmax_read.hpp"

#include <cmath>

#include "mixers/checks.hpp"
#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/ops/arithmetic.hpp"
#include "mixers/ops/free_energy_read.hpp"
#include "mixers/ops/function.hpp"
#include "mixers/ops/layout.hpp"
#include "mixers/ops/product.hpp"

namespace nudge {

std::vector<Field> argmax_fields(const ArgmaxShape& s) {
  require_divides("heads", s.heads, "width", s.width);
  constexpr double deviation = 0.02;  // of the published code; the reference runs start there
  std::vector<Field> fields = {{"Wq", {s.width, s.width}, 0, deviation}, {"Wk", {s.width, s.width}, 0, deviation}};
  if (!s.free_energy) return fields;
  fields.push_back({"Wl", {s.width, s.width}, 0, deviation});
  fields.push_back({"bl", {s.width}});
  fields.push_back({"xb", {s.width}});
  return fields;
}

template <class S>
Value<S> argmax_read(const ArgmaxShape& s, Value<S> v, const NamedValues<S>& p, const std::string& beta_name) {
  const Value<S> x = rows(v, v.rows() - 1, 1);
  const Value<S> q = product(x, p["Wq"]);
  const Index m = s.width / s.heads;
  // The mean alone needs no β; the read gives both, so that branch gets β = 1.
  const Value<S> beta =
      s.free_energy ? inverse_temperature(p["xb"], beta_name) : v.tape->constant(Matrix<S>::Ones(1, s.width));
  std::vector<Value<S>> means;
  std::vector<Value<S>> energies;
  for (Index h = 0; h < s.heads; ++h) {
    // q_h·k_i = (Wk_h q_h)·v_i: no keys for all tokens.
    const Value<S> direction = product_nt(columns(q, h * m, m), columns(p["Wk"], h * m, m));
    const Value<S> scores = affine(product_nt(direction, v), 1.0 / std::sqrt(static_cast<double>(m)));
    const Value<S> both =
        free_energy_read(scores, columns(v, h * m, m), columns(beta, h * m, m), Mask::full(1, v.rows()));
    means.push_back(columns(both, 0, m));
    energies.push_back(columns(both, m, m));
  }
  const Branches<S> branches{join_columns(means), join_columns(energies)};
  if (!s.free_energy) return branches.mean;
  const Value<S> lambda = apply(Function::sigmoid, product(x, p["Wl"]) + p["bl"]);
  return gated_read<S>(branches, &lambda, nullptr);
}

template <class S>
Value<S> argmax_error(Value<S> prediction, Value<S> largest, double scale) {
  return affine(total(apply(Function::square, prediction - largest)), scale);
}

#define NUDGE_INSTANTIATE(S)                                                                                 \
  template Value<S> argmax_read<S>(const ArgmaxShape&, Value<S>, const NamedValues<S>&, const std::string&); \
  template Value<S> argmax_error<S>(Value<S>, Value<S>, double);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
