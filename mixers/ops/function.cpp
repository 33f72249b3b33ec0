// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/function.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

template <class S>
S sigmoid(S x) {
  const S e = std::exp(-std::abs(x));
  return x >= S(0) ? S(1) / (S(1) + e) : e / (S(1) + e);
}

template <class S>
S softplus(S x) {
  return std::max(x, S(0)) + std::log1p(std::exp(-std::abs(x)));
}

/// Φ(x), the normal distribution function.
template <class S>
S normal_cdf(S x) {
  return std::erfc(-x * static_cast<S>(0.70710678118654752440)) / S(2);
}

template <class S>
S slope(Function function, S x, S y) {
  switch (function) {
    case Function::relu: return x > S(0) ? S(1) : S(0);
    case Function::sigmoid: return y * sigmoid(-x);
    case Function::softplus: return sigmoid(x);
    case Function::silu: return sigmoid(x) + y * sigmoid(-x);
    case Function::gelu:
      return normal_cdf(x) + x * std::exp(-x * x / S(2)) * static_cast<S>(0.39894228040143267794);  // 1/√(2π)
    case Function::exponential: return y;
    case Function::logarithm: return S(1) / x;
    case Function::square: return S(2) * x;
    case Function::bit_information: return x * sigmoid(x) * sigmoid(-x);
  }
  return S(0);
}

template <class S>
class Elementwise final : public Operation<S> {
 public:
  explicit Elementwise(Function function) : function_(function) {}
  std::string_view name() const override { return "function"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(x[0]->rows(), x[0]->cols());
    for (Index n = 0; n < y.size(); ++n) y.data()[n] = evaluate(function_, x[0]->data()[n]);
  }
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    for (Index n = 0; n < y.size(); ++n) {
      dy.data()[n] = slope(function_, x[0]->data()[n], y.data()[n]) * dx[0]->data()[n];
    }
  }
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    for (Index n = 0; n < y.size(); ++n) {
      dx[0]->data()[n] += slope(function_, x[0]->data()[n], y.data()[n]) * dy.data()[n];
    }
  }

 private:
  Function function_;
};

}  // namespace

template <class S>
S evaluate(Function function, S x) {
  switch (function) {
    case Function::relu: return std::max(x, S(0));
    case Function::sigmoid: return sigmoid(x);
    case Function::softplus: return softplus(x);
    case Function::silu: return x * sigmoid(x);
    case Function::gelu: return x * normal_cdf(x);
    case Function::exponential: return std::exp(x);
    case Function::logarithm: return std::log(x);
    case Function::square: return x * x;
    // log 2 + σ log σ + (1 − σ) log(1 − σ) with log σ = −softplus(−x), log(1 − σ) = −softplus(x); even in x.
    case Function::bit_information: {
      const S a = std::abs(x);
      return static_cast<S>(0.69314718055994530942) - (sigmoid(-a) * a + std::log1p(std::exp(-a)));
    }
  }
  return S(0);
}

template <class S>
Value<S> apply(Function function, Value<S> x) {
  return x.tape->record(std::make_unique<Elementwise<S>>(function), {x});
}

#define NUDGE_INSTANTIATE(S)                      \
  template Value<S> apply<S>(Function, Value<S>); \
  template S evaluate<S>(Function, S);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
