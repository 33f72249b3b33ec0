// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

enum class Transposed { none, right, left };

/// Puts the product of this form into y (=, +=, −=: `store`): a b, a bᵀ (right) or aᵀ b (left).
template <class S>
void apply(Transposed form, const Matrix<S>& a, const Matrix<S>& b, Matrix<S>& y, Store store) {
  switch (form) {
    case Transposed::none: multiply<S>(a, b, y, store); return;
    case Transposed::right: multiply_transposed<S>(a, b, y, store); return;
    case Transposed::left: multiply_outer<S>(a, b, S(1), y, store); return;
  }
}

template <class S>
class Product final : public Operation<S> {
 public:
  explicit Product(Transposed form) : form_(form) {}

  std::string_view name() const override { return "product"; }
  double operations(Arguments<S> x, const Matrix<S>& y) const override {
    const Index inner = form_ == Transposed::left ? x[0]->rows() : x[0]->cols();
    return 2.0 * static_cast<double>(y.size() * inner);
  }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const Matrix<S>& a = *x[0];
    const Matrix<S>& b = *x[1];
    y.resize(form_ == Transposed::left ? a.cols() : a.rows(), form_ == Transposed::right ? b.rows() : b.cols());
    apply(form_, a, b, y, Store::assign);
  }

  void jvp(Arguments<S> x, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    if (dx[0] != nullptr) apply(form_, *dx[0], *x[1], dy, Store::assign);
    if (dx[1] != nullptr) apply(form_, *x[0], *dx[1], dy, dx[0] != nullptr ? Store::add : Store::assign);
  }

  void vjp(Arguments<S> x, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    const Matrix<S>& a = *x[0];
    const Matrix<S>& b = *x[1];
    if (dx[0] != nullptr) {
      const Store store = dx[0].take();
      switch (form_) {
        case Transposed::none: multiply_transposed<S>(dy, b, *dx[0], store); break;
        case Transposed::right: multiply<S>(dy, b, *dx[0], store); break;
        case Transposed::left: multiply_transposed<S>(b, dy, *dx[0], store); break;
      }
    }
    if (dx[1] != nullptr) {
      const Store store = dx[1].take();
      switch (form_) {
        case Transposed::none: multiply_outer<S>(a, dy, S(1), *dx[1], store); break;
        case Transposed::right: multiply_outer<S>(dy, a, S(1), *dx[1], store); break;
        case Transposed::left: multiply<S>(a, dy, *dx[1], store); break;
      }
    }
  }

 private:
  Transposed form_;
};

/// Product y = x W, or x Wᵀ, with weights that are read. The tape asks for their gradient with an empty matrix.
template <class S>
class Read final : public Operation<S> {
 public:
  Read(WeightReader<S>& reader, const WeightPart& part) : reader_(reader), part_(part) {}

  std::string_view name() const override { return "read"; }
  double operations(Arguments<S> /*x*/, const Matrix<S>& /*y*/) const override { return 0; }
  bool reads(std::size_t argument) const override { return argument == 1; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(x[0]->rows(), part_.transposed ? x[1]->rows() : x[1]->cols());
    reader_.read(part_, *x[0], y);
  }
  void jvp(Arguments<S> x, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    reader_.read_jvp(part_, *x[0], *dx[0], dy);
  }
  void vjp(Arguments<S> x, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] != nullptr) {
      const bool first = dx[0].take() == Store::assign;
      Matrix<S>& pulled = first ? *dx[0] : pulled_;
      pulled.resize(x[0]->rows(), x[0]->cols());
      reader_.read_vjp(part_, *x[0], dy, pulled);
      if (!first) *dx[0] += pulled;
    }
    if (dx[1] != nullptr) reader_.correlate(part_, *x[0], dy);
  }

 private:
  WeightReader<S>& reader_;
  WeightPart part_;
  mutable Matrix<S> pulled_;
};

template <class S>
Value<S> record(Transposed form, Value<S> a, Value<S> b) {
  WeightReader<S>* reader = form == Transposed::left ? nullptr : b.tape->reader(b);
  if (reader == nullptr) return a.tape->record(std::make_unique<Product<S>>(form), {a, b});
  WeightPart part = b.tape->part(b);
  part.transposed = form == Transposed::right;
  return a.tape->record(std::make_unique<Read<S>>(*reader, part), {a, b});
}

}  // namespace

template <class S>
Value<S> product(Value<S> a, Value<S> b) {
  NUDGE_EXPECT(a.cols() == b.rows());
  return record(Transposed::none, a, b);
}

template <class S>
Value<S> product_nt(Value<S> a, Value<S> b) {
  NUDGE_EXPECT(a.cols() == b.cols());
  return record(Transposed::right, a, b);
}

template <class S>
Value<S> product_tn(Value<S> a, Value<S> b) {
  NUDGE_EXPECT(a.rows() == b.rows());
  return record(Transposed::left, a, b);
}

#define NUDGE_PRODUCT(S)                               \
  template Value<S> product<S>(Value<S>, Value<S>);    \
  template Value<S> product_nt<S>(Value<S>, Value<S>); \
  template Value<S> product_tn<S>(Value<S>, Value<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_PRODUCT)

}  // namespace nudge
