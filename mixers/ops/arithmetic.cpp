// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/arithmetic.hpp"

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

enum class Kind { add, subtract, multiply, divide };

/// Walks a matrix that is repeated to a larger shape.
template <class M>
struct Repeated {
  M* matrix;
  Index row_stride;
  Index col_stride;
  explicit Repeated(M& m) : matrix(&m), row_stride(m.rows() == 1 ? 0 : m.cols()), col_stride(m.cols() == 1 ? 0 : 1) {}
  auto& at(Index i, Index j) const { return matrix->data()[i * row_stride + j * col_stride]; }
};

template <class S>
class Binary final : public Operation<S> {
 public:
  explicit Binary(Kind kind) : kind_(kind) {}

  std::string_view name() const override { return "elementwise"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& a = *x[0];
    const Repeated b(*x[1]);
    y.resize(a.rows(), a.cols());
    each(y, [&](Index i, Index j) {
      const S s = a(i, j);
      const S t = b.at(i, j);
      switch (kind_) {
        case Kind::add: return s + t;
        case Kind::subtract: return s - t;
        case Kind::multiply: return s * t;
        case Kind::divide: return s / t;
      }
      return S(0);
    });
  }

  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const Matrix<S>& a = *x[0];
    const Repeated b(*x[1]);
    const Matrix<S>* da = dx[0];
    const Repeated db(dx[1] != nullptr ? *dx[1] : *x[1]);
    const bool has_b = dx[1] != nullptr;
    each(dy, [&](Index i, Index j) {
      const S s = da != nullptr ? (*da)(i, j) : S(0);
      const S t = has_b ? db.at(i, j) : S(0);
      switch (kind_) {
        case Kind::add: return s + t;
        case Kind::subtract: return s - t;
        case Kind::multiply: return s * b.at(i, j) + a(i, j) * t;
        case Kind::divide: return (s - y(i, j) * t) / b.at(i, j);
      }
      return S(0);
    });
  }

  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S>& a = *x[0];
    const Repeated b(*x[1]);
    if (dx[0] != nullptr) {
      Matrix<S>& da = *dx[0];
      for (Index i = 0; i < dy.rows(); ++i) {
        for (Index j = 0; j < dy.cols(); ++j) {
          const S u = dy(i, j);
          da(i, j) += kind_ == Kind::multiply ? u * b.at(i, j) : kind_ == Kind::divide ? u / b.at(i, j) : u;
        }
      }
    }
    if (dx[1] == nullptr) return;
    const Repeated db(*dx[1]);
    for (Index i = 0; i < dy.rows(); ++i) {
      for (Index j = 0; j < dy.cols(); ++j) {
        const S u = dy(i, j);
        switch (kind_) {
          case Kind::add: db.at(i, j) += u; break;
          case Kind::subtract: db.at(i, j) -= u; break;
          case Kind::multiply: db.at(i, j) += u * a(i, j); break;
          case Kind::divide: db.at(i, j) -= u * y(i, j) / b.at(i, j); break;
        }
      }
    }
  }

 private:
  template <class F>
  static void each(Matrix<S>& y, F f) {
    for (Index i = 0; i < y.rows(); ++i) {
      for (Index j = 0; j < y.cols(); ++j) y(i, j) = f(i, j);
    }
  }

  Kind kind_;
};

template <class S>
class Affine final : public Operation<S> {
 public:
  Affine(S scale, S shift) : scale_(scale), shift_(shift) {}
  std::string_view name() const override { return "affine"; }
  void forward(Arguments<S> x, Matrix<S>& y) override {
    y = *x[0] * scale_;
    if (shift_ != S(0)) y.array() += shift_;
  }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy = *dx[0] * scale_;
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] != nullptr) *dx[0] += dy * scale_;
  }

 private:
  S scale_;
  S shift_;
};

enum class Over { columns, everything };

template <class S>
class Sum final : public Operation<S> {
 public:
  explicit Sum(Over over) : over_(over) {}
  std::string_view name() const override { return "sum"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { sum(*x[0], y); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    sum(*dx[0], dy);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    for (Index i = 0; i < dx[0]->rows(); ++i) dx[0]->row(i).array() += dy(over_ == Over::columns ? i : 0, 0);
  }

 private:
  void sum(const Matrix<S>& x, Matrix<S>& y) const {
    y.setZero(over_ == Over::columns ? x.rows() : 1, 1);
    for (Index i = 0; i < x.rows(); ++i) y(over_ == Over::columns ? i : 0, 0) += x.row(i).sum();
  }

  Over over_;
};

template <class S>
Value<S> binary(Kind kind, Value<S> a, Value<S> b) {
  NUDGE_EXPECT((b.rows() == a.rows() || b.rows() == 1) && (b.cols() == a.cols() || b.cols() == 1));
  return a.tape->record(std::make_unique<Binary<S>>(kind), {a, b});
}

}  // namespace

template <class S>
Value<S> operator+(Value<S> a, Value<S> b) {
  return binary(Kind::add, a, b);
}
template <class S>
Value<S> operator-(Value<S> a, Value<S> b) {
  return binary(Kind::subtract, a, b);
}
template <class S>
Value<S> operator*(Value<S> a, Value<S> b) {
  return binary(Kind::multiply, a, b);
}
template <class S>
Value<S> operator/(Value<S> a, Value<S> b) {
  return binary(Kind::divide, a, b);
}
template <class S>
Value<S> affine(Value<S> x, double scale, double shift) {
  return x.tape->record(std::make_unique<Affine<S>>(static_cast<S>(scale), static_cast<S>(shift)), {x});
}
template <class S>
Value<S> row_sum(Value<S> x) {
  return x.tape->record(std::make_unique<Sum<S>>(Over::columns), {x});
}
template <class S>
Value<S> total(Value<S> x) {
  return x.tape->record(std::make_unique<Sum<S>>(Over::everything), {x});
}

#define NUDGE_INSTANTIATE(S)                             \
  template Value<S> operator+<S>(Value<S>, Value<S>);    \
  template Value<S> operator-<S>(Value<S>, Value<S>);    \
  template Value<S> operator*<S>(Value<S>, Value<S>);    \
  template Value<S> operator/<S>(Value<S>, Value<S>);    \
  template Value<S> affine<S>(Value<S>, double, double); \
  template Value<S> row_sum<S>(Value<S>);                \
  template Value<S> total<S>(Value<S>);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
