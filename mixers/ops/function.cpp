// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

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

/// Slope of silu, σ + y (1 − σ) with y = x σ(x): off by some (1 + |y|) roundings at most, where 1 − σ is small beside σ.
template <class Sigma, class Y>
auto silu_slope(const Sigma& sigma, const Y& y) {
  return sigma + y * (1 - sigma);
}

template <class S>
S slope(Function function, S x, S y) {
  switch (function) {
    case Function::relu: return x > S(0) ? S(1) : S(0);
    case Function::sigmoid: return y * sigmoid(-x);
    case Function::softplus: return sigmoid(x);
    case Function::silu: return silu_slope(sigmoid(x), y);
    case Function::gelu:
      return normal_cdf(x) + x * std::exp(-x * x / S(2)) * static_cast<S>(0.39894228040143267794);  // 1/√(2π)
    case Function::exponential: return y;
    case Function::logarithm: return S(1) / x;
    case Function::sine: return std::cos(x);
    case Function::square: return S(2) * x;
    case Function::inverse_root: return S(-0.5) * y / x;
    case Function::squared_relu: return S(2) * std::max(x, S(0));
    case Function::bit_information: return x * sigmoid(x) * sigmoid(-x);
  }
  return S(0);
}

template <class S>
using Numbers = Eigen::Array<S, Eigen::Dynamic, 1>;

/// Count of numbers that stay in the nearest cache while a derivative is put together.
constexpr Index kPiece = 1024;
template <class S>
using Piece = Eigen::Array<S, Eigen::Dynamic, 1, Eigen::ColMajor, kPiece, 1>;

/// Sigmoid of an array, as vector code: 1/(1 + e⁻ˣ) is accurate on both sides, and the exponential saturates.
template <class X>
auto sigmoid_of(const X& x) {
  return (1 + (-x).exp()).inverse();
}

/// Evaluates whole arrays at a time, for the functions that training spends its time in; false: one number at a time.
template <class S, class X, class Y>
bool evaluate_all(Function function, const X& x, Y& y) {
  switch (function) {
    case Function::relu: y = x.max(S(0)); return true;
    case Function::sigmoid: y = sigmoid_of(x); return true;
    case Function::softplus: y = x.max(S(0)) + (-x.abs()).exp().log1p(); return true;
    case Function::silu: y = x * sigmoid_of(x); return true;
    case Function::exponential: y = x.exp(); return true;
    case Function::logarithm: y = x.log(); return true;
    case Function::sine: y = x.sin(); return true;
    case Function::square: y = x.square(); return true;
    case Function::inverse_root: y = x.sqrt().inverse(); return true;
    case Function::squared_relu: y = x.max(S(0)).square(); return true;
    case Function::gelu:
    case Function::bit_information: return false;
  }
  return false;
}

/// Adds f'(x) · d to out, with y = f(x), whole arrays of at most kPiece numbers at a time; false: one number at a time.
template <class S, class X, class Y>
bool add_slope_all(Function function, const X& x, const X& y, const X& d, Y& out) {
  switch (function) {
    case Function::relu: out += (x > S(0)).select(d, S(0)); return true;
    case Function::sigmoid: out += d * y * sigmoid_of(-x); return true;
    case Function::softplus: out += d * sigmoid_of(x); return true;
    case Function::silu: {
      const Piece<S> sigma = sigmoid_of(x);
      out += d * silu_slope(sigma, y);
      return true;
    }
    case Function::exponential: out += d * y; return true;
    case Function::logarithm: out += d / x; return true;
    case Function::sine: out += d * x.cos(); return true;
    case Function::square: out += S(2) * d * x; return true;
    case Function::inverse_root: out += S(-0.5) * d * y / x; return true;
    case Function::squared_relu: out += S(2) * d * x.max(S(0)); return true;
    case Function::gelu:
    case Function::bit_information: return false;
  }
  return false;
}

/// Target for code that adds: an addition replaces the content.
template <class Y>
struct Replaced {
  Y to;
  template <class X>
  void operator+=(const X& x) {
    to = x;
  }
};

template <class S>
class Elementwise final : public Operation<S> {
 public:
  explicit Elementwise(Function function) : function_(function) {}
  std::string_view name() const override { return "function"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(x[0]->rows(), x[0]->cols());
    auto out = flat(y);
    if (evaluate_all<S>(function_, flat(*x[0]), out)) return;
    for (Index n = 0; n < y.size(); ++n) y.data()[n] = evaluate(function_, x[0]->data()[n]);
  }
  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    add_slope(*x[0], y, *dx[0], dy, Store::assign);
  }
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    const Store store = dx[0].take();
    add_slope(*x[0], y, dy, *dx[0], store);
  }

 private:
  static auto flat(const Matrix<S>& m) { return Eigen::Map<const Numbers<S>>(m.data(), m.size()); }
  static auto flat(Matrix<S>& m) { return Eigen::Map<Numbers<S>>(m.data(), m.size()); }
  /// Puts f'(x) · d into out (=, +=: `store`), with y = f(x), piece by piece.
  void add_slope(const Matrix<S>& x, const Matrix<S>& y, const Matrix<S>& d, Matrix<S>& out, Store store) const {
    bool done = true;
    for (Index n = 0; n < y.size() && done; n += kPiece) {
      const Index count = std::min(kPiece, y.size() - n);
      const auto piece = [n, count](auto& m) { return flat(m).segment(n, count); };
      auto sum = piece(out);
      if (store == Store::assign) {
        Replaced<decltype(sum)> replaced{sum};
        done = add_slope_all<S>(function_, piece(x), piece(y), piece(d), replaced);
      } else {
        done = add_slope_all<S>(function_, piece(x), piece(y), piece(d), sum);
      }
    }
    if (done) return;
    if (store == Store::assign) out.setZero();
    for (Index n = 0; n < y.size(); ++n) {
      out.data()[n] += slope(function_, x.data()[n], y.data()[n]) * d.data()[n];
    }
  }

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
    case Function::sine: return std::sin(x);
    case Function::square: return x * x;
    case Function::inverse_root: return S(1) / std::sqrt(x);
    case Function::squared_relu: return std::max(x, S(0)) * std::max(x, S(0));
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

#define NUDGE_FUNCTION(S)                         \
  template Value<S> apply<S>(Function, Value<S>); \
  template S evaluate<S>(Function, S);
NUDGE_BOTH_PRECISIONS(NUDGE_FUNCTION)

}  // namespace nudge
