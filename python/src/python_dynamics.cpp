// SPDX-License-Identifier: Apache-2.0
#include "python/src/python_dynamics.hpp"

#include "python/src/python_calls.hpp"

namespace nudge::python {

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
    add(owner_.object_.attr("_correlate")(handed<double>(z_), handed<double>(u)), scale, sink);
  }

 private:
  void product(const char* method, ConstMatrixRef<double> v, MatrixRef<double> out, Part part) {
    if (!owner_.has(part)) return out.setZero(), void();
    const nb::gil_scoped_acquire held;
    const nb::object z = handed<double>(z_);
    for (Index row = 0; row < v.rows(); row += z_.rows()) {
      const nb::object found = owner_.object_.attr(method)(z, handed<double>(v.middleRows(row, z_.rows())));
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
      contrastive_(nb::cast<bool>(object.attr("contrastive"))),
      leak_(nb::cast<double>(object.attr("leak"))),
      point_(std::make_unique<Point>(*this)) {}

PythonDynamics::~PythonDynamics() { release(object_); }

void PythonDynamics::force(ConstMatrixRef<double> z, MatrixRef<double> f, Part part) {
  if (!has(part)) return f.setZero(), void();
  const nb::gil_scoped_acquire held;
  for (Index row = 0; row < z.rows(); row += rows_) {
    f.middleRows(row, rows_) = taken(object_.attr("force")(handed<double>(z.middleRows(row, rows_))), "force", rows_, cols_);
  }
}

Linearization<double>& PythonDynamics::linearize(ConstMatrixRef<double> z) {
  point_->move(z);
  return *point_;
}

bool PythonDynamics::accumulate_energy_gradient(ConstMatrixRef<double> z, std::span<const double> scales,
                                                GradientSink<double>& sink) {
  if (!contrastive_) return false;
  const nb::gil_scoped_acquire held;
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const auto state = z.middleRows(static_cast<Index>(k) * rows_, rows_);
    add(object_.attr("_contrast")(handed<double>(state)), -scales[k], sink);
  }
  return true;
}

void PythonDynamics::add(const nb::object& gradients, double scale, GradientSink<double>& sink) {
  int parameter = 0;
  for (const nb::handle one : gradients) {
    In<double, 2> array;
    if (!nb::try_cast(nb::borrow<nb::object>(one), array)) {
      throw UserError("parameter_gradient must return an array for every parameter");
    }
    sink.accumulate(parameter++, scale, map_of<double, 2>(array));
  }
}

std::optional<double> PythonDynamics::energy(ConstMatrixRef<double> z) {
  if (!conservative_) return std::nullopt;
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(object_.attr("energy")(handed<double>(z)));
}

PythonCost::~PythonCost() { release(object_); }

double PythonCost::value(ConstMatrixRef<double> z) {
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(nb::float_(object_.attr("value")(handed<double>(z))));
}

void PythonCost::gradient(ConstMatrixRef<double> z, MatrixRef<double> out) {
  const nb::gil_scoped_acquire held;
  for (Index row = 0; row < z.rows(); row += rows_) {
    const nb::object found = object_.attr("gradient")(handed<double>(z.middleRows(row, rows_)));
    out.middleRows(row, rows_) = taken(found, "gradient of the cost", rows_, z.cols());
  }
}

}  // namespace nudge::python
