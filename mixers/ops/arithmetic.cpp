// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

enum class Kind { add, subtract, multiply, divide };

/// Calls f(t, row t of b) for each row of a: a row, or one number for the whole row. b is repeated to a larger shape.
template <class S, class F>
void for_rows(const Matrix<S>& b, Index rows, F f) {
  for (Index t = 0; t < rows; ++t) {
    const Index from = b.rows() == 1 ? 0 : t;
    if (b.cols() == 1) {
      f(t, b(from, 0));
    } else {
      f(t, b.row(from).array());
    }
  }
}

template <class S>
class Binary final : public Operation<S> {
 public:
  explicit Binary(Kind kind) : kind_(kind) {}

  std::string_view name() const override { return "elementwise"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& a = *x[0];
    y.resize(a.rows(), a.cols());
    for_rows(*x[1], a.rows(), [&](Index t, const auto& b) {
      auto out = y.row(t).array();
      const auto in = a.row(t).array();
      switch (kind_) {
        case Kind::add: out = in + b; return;
        case Kind::subtract: out = in - b; return;
        case Kind::multiply: out = in * b; return;
        case Kind::divide: out = in / b; return;
      }
    });
  }

  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override {
    const bool keeps = kind_ == Kind::add || kind_ == Kind::subtract;
    if (dx[0] == nullptr) dy.setZero();
    if (dx[0] != nullptr && keeps) dy = *dx[0];
    if (dx[0] != nullptr && !keeps) scale_by(*x[1], *dx[0], dy, Store::assign);
    if (dx[1] == nullptr) return;
    for_rows(*dx[1], y.rows(), [&](Index t, const auto& db) {
      if (kind_ == Kind::add) dy.row(t).array() += db;
      if (kind_ == Kind::subtract) dy.row(t).array() -= db;
      if (kind_ == Kind::multiply) dy.row(t).array() += x[0]->row(t).array() * db;
      if (kind_ == Kind::divide) dy.row(t).array() -= y.row(t).array() * db / repeated(*x[1], t, y.cols());
    });
  }

  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const bool keeps = kind_ == Kind::add || kind_ == Kind::subtract;
    const bool repeats = x[1]->rows() != y.rows() || x[1]->cols() != y.cols();
    if (dx[0] != nullptr && keeps) dx[0].add(dy);
    if (dx[0] != nullptr && !keeps) {
      const Store store = dx[0].take();
      scale_by(*x[1], dy, *dx[0], store);
    }
    if (dx[1] == nullptr) return;
    if (keeps && !repeats) {
      if (kind_ == Kind::add) return dx[1].add(dy);
      return dx[1].add(-dy);
    }
    for (Index t = 0; t < y.rows(); ++t) {
      const auto u = dy.row(t).array();
      switch (kind_) {
        case Kind::add: add_row(*dx[1], t, u); break;
        case Kind::subtract: add_row(*dx[1], t, -u); break;
        case Kind::multiply: add_row(*dx[1], t, u * x[0]->row(t).array()); break;
        case Kind::divide: add_row(*dx[1], t, -(u * y.row(t).array() / repeated(*x[1], t, y.cols()))); break;
      }
    }
  }

 private:
  /// Puts d ∘ b or d / b into out: the derivative with respect to the first argument, its own transpose.
  void scale_by(const Matrix<S>& b, const Matrix<S>& d, Matrix<S>& out, Store store) const {
    for_rows(b, out.rows(), [&](Index t, const auto& by) {
      const auto put = [&](const auto& row) {
        if (store == Store::assign) {
          out.row(t).array() = row;
        } else {
          out.row(t).array() += row;
        }
      };
      if (kind_ == Kind::multiply) return put(d.row(t).array() * by);
      put(d.row(t).array() / by);
    });
  }
  /// Adds a row to the cotangent of a repeated argument.
  template <class Row>
  static void add_row(Matrix<S>& db, Index t, const Row& row) {
    const Index to = db.rows() == 1 ? 0 : t;
    if (db.cols() == 1 && row.cols() != 1) {
      db(to, 0) += row.sum();
    } else {
      db.row(to).array() += row;
    }
  }
  static auto repeated(const Matrix<S>& b, Index t, Index cols) {
    return b.row(b.rows() == 1 ? 0 : t).array().replicate(1, b.cols() == 1 ? cols : 1);
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
    if (dx[0] != nullptr) dx[0].add(dy * scale_);
  }

 private:
  S scale_;
  S shift_;
};

template <class S>
class RowSum final : public Operation<S> {
 public:
  std::string_view name() const override { return "row_sum"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { y = x[0]->rowwise().sum(); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy = dx[0]->rowwise().sum();
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] != nullptr) dx[0]->colwise() += dy.col(0);
  }
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
  return x.tape->record(std::make_unique<RowSum<S>>(), {x});
}

#define NUDGE_ARITHMETIC(S)                              \
  template Value<S> operator+<S>(Value<S>, Value<S>);    \
  template Value<S> operator-<S>(Value<S>, Value<S>);    \
  template Value<S> operator*<S>(Value<S>, Value<S>);    \
  template Value<S> operator/<S>(Value<S>, Value<S>);    \
  template Value<S> affine<S>(Value<S>, double, double); \
  template Value<S> row_sum<S>(Value<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_ARITHMETIC)

}  // namespace nudge
