// SPDX-License-Identifier: Apache-2.0
#include "python/src/python_dynamics.hpp"

#include <string>

#include "python/src/arrays.hpp"
#include "sim/base/errors.hpp"

namespace nudge::python {
namespace {

/// A state, or a part of one, as an array of Python's own: what Python keeps must not change behind it.
nb::object handed(ConstMatrixRef<double> z) { return array_of(Matrix<double>(z)); }

/// What a method returned, a matrix of this shape. UserError naming the method.
Matrix<double> taken(const nb::object& result, const char* method, Index rows, Index cols) {
  In<double, 2> array;
  if (!nb::try_cast(result, array) || static_cast<Index>(array.shape(0)) != rows ||
      static_cast<Index>(array.shape(1)) != cols) {
    throw UserError(std::string(method) + " must return an array of shape (" + std::to_string(rows) + ", " +
                    std::to_string(cols) + ") of numbers");
  }
  return map_of<double, 2>(array);
}

/// Forgets an object with the GIL.
void release(nb::object& object) {
  const nb::gil_scoped_acquire held;
  object.reset();
}

}  // namespace

class PythonDynamics::Point final : public Linearization<double> {
 public:
  explicit Point(const PythonDynamics& owner) : owner_(owner) {}
  void move(ConstMatrixRef<double> z) { z_ = z; }

  void force(MatrixRef<double> f, Part part) override { const_cast<PythonDynamics&>(owner_).force(z_, f, part); }
  void jvp(ConstMatrixRef<double> v, MatrixRef<double> out, Part part) override { product("jvp", v, out, part); }
  void vjp(ConstMatrixRef<double> u, MatrixRef<double> out, Part part) override { product("vjp", u, out, part); }

  void accumulate(ConstMatrixRef<double> u, double scale, GradientSink<double>& sink,
                  MatrixRef<double> pulled) override {
    if (pulled.size() > 0) vjp(u, pulled, Part::all);
    const nb::gil_scoped_acquire held;
    const nb::object found = owner_.object_.attr("_correlate")(handed(z_), handed(u));
    int parameter = 0;
    for (const nb::handle one : found) {
      In<double, 2> array;
      if (!nb::try_cast(nb::borrow<nb::object>(one), array)) {
        throw UserError("parameter_gradient must return an array for every parameter");
      }
      sink.accumulate(parameter++, scale, map_of<double, 2>(array));
    }
  }

 private:
  void product(const char* method, ConstMatrixRef<double> v, MatrixRef<double> out, Part part) {
    if (!owner_.has(part)) return out.setZero(), void();
    const nb::gil_scoped_acquire held;
    const nb::object z = handed(z_);
    for (Index row = 0; row < v.rows(); row += z_.rows()) {
      const nb::object found = owner_.object_.attr(method)(z, handed(v.middleRows(row, z_.rows())));
      out.middleRows(row, z_.rows()) = taken(found, method, z_.rows(), z_.cols());
    }
  }

  const PythonDynamics& owner_;
  Matrix<double> z_;
};

PythonDynamics::PythonDynamics(const nb::object& object)
    : object_(object),
      rows_(nb::cast<Index>(object.attr("rows"))),
      cols_(nb::cast<Index>(object.attr("cols"))),
      conservative_(nb::cast<bool>(object.attr("conservative"))),
      leak_(nb::cast<double>(object.attr("leak"))),
      point_(std::make_unique<Point>(*this)) {}

PythonDynamics::~PythonDynamics() { release(object_); }

void PythonDynamics::force(ConstMatrixRef<double> z, MatrixRef<double> f, Part part) {
  if (!has(part)) return f.setZero(), void();
  const nb::gil_scoped_acquire held;
  for (Index row = 0; row < z.rows(); row += rows_) {
    f.middleRows(row, rows_) = taken(object_.attr("force")(handed(z.middleRows(row, rows_))), "force", rows_, cols_);
  }
}

Linearization<double>& PythonDynamics::linearize(ConstMatrixRef<double> z) {
  point_->move(z);
  return *point_;
}

std::optional<double> PythonDynamics::energy(ConstMatrixRef<double> z) {
  if (!conservative_) return std::nullopt;
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(object_.attr("energy")(handed(z)));
}

PythonCost::~PythonCost() { release(object_); }

double PythonCost::value(ConstMatrixRef<double> z) {
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(nb::float_(object_.attr("value")(handed(z))));
}

void PythonCost::gradient(ConstMatrixRef<double> z, MatrixRef<double> out) {
  const nb::gil_scoped_acquire held;
  for (Index row = 0; row < z.rows(); row += rows_) {
    const nb::object found = object_.attr("gradient")(handed(z.middleRows(row, rows_)));
    out.middleRows(row, rows_) = taken(found, "gradient of the cost", rows_, z.cols());
  }
}

}  // namespace nudge::python
