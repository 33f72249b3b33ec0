// SPDX-License-Identifier: Apache-2.0
#include "circuits/coupling.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric) {
  NUDGE_EXPECT(pattern.rows() == pattern.cols());
  const S s = static_cast<S>(0.5 * (symmetric + antisymmetric));
  const S a = static_cast<S>(0.5 * (symmetric - antisymmetric));
  return s * pattern + a * pattern.transpose();
}

template <class S>
class Coupling<S>::Point final : public Linearization<S> {
 public:
  explicit Point(Coupling& owner) : owner_(&owner) {}

  void set(ConstMatrixRef<S> z) { z0_ = z; }

  void force(MatrixRef<S> f, Part part) override { owner_->force(z0_, f, part); }

  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override {
    if (part == Part::nonconservative) {
      out.setZero();
    } else {
      out = -owner_->leak_ * v;
    }
    owner_->add_coupling(v, out, part);
  }

  // The symmetric part is its own transpose, the antisymmetric one minus its own.
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override {
    const LinearMap<S>& map = *owner_->map_;
    if (part == Part::conservative) {
      jvp(u, out, part);
    } else if (part == Part::nonconservative) {
      jvp(u, out, part);
      out = -out;
    } else {
      out = -owner_->leak_ * u;
      map.transposed(u, out, map.all_columns(), Store::add, owner_->read_);
    }
  }

  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) override {
    sink.accumulate(owner_->parameter_, owner_->map_->all_columns(), scale, z0_, u);
  }

  void corrected_force(ConstMatrixRef<S> z, MatrixRef<S> f) override { with_transpose(z, f, Part::all, S(-2)); }
  void transposed_force(ConstMatrixRef<S> z, MatrixRef<S> f) override {
    with_transpose(z, f, Part::conservative, S(-1));
  }

 private:
  // J_n − J_nᵀ = 2 J_n and J_nᵀ = −J_n, J_n the antisymmetric part.
  void with_transpose(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, S factor) {
    Matrix<S> v(z.rows(), z.cols());
    for (Index row = 0; row < z.rows(); row += z0_.rows()) {
      v.middleRows(row, z0_.rows()) = z.middleRows(row, z0_.rows()) - z0_;
    }
    owner_->force(z, f, part);
    Matrix<S> turned(z.rows(), z.cols());
    jvp(v, turned, Part::nonconservative);
    f += factor * turned;
  }

  Coupling* owner_;
  Matrix<S> z0_;
};

template <class S>
Coupling<S>::Coupling(const LinearMap<S>& map, int parameter, Matrix<S> drive, double leak)
    : map_(&map),
      parameter_(parameter),
      drive_(std::move(drive)),
      leak_(static_cast<S>(leak)),
      point_(std::make_unique<Point>(*this)) {
  NUDGE_EXPECT(map.inputs() == map.outputs() && map.inputs() == drive_.cols() && leak > 0);
}

template <class S>
Coupling<S>::~Coupling() = default;

/// f += z W, or its symmetric or antisymmetric part from both reads.
template <class S>
void Coupling<S>::add_coupling(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  if (part == Part::all) {
    map_->forward(z, f, map_->all_columns(), Store::add, read_);
    return;
  }
  other_.resize(z.rows(), z.cols());
  map_->forward(z, other_, map_->all_columns(), Store::assign, read_);
  map_->transposed(z, other_, map_->all_columns(), part == Part::conservative ? Store::add : Store::subtract, read_);
  f += S(0.5) * other_;
}

template <class S>
void Coupling<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  NUDGE_EXPECT(z.rows() % rows() == 0);
  if (part == Part::nonconservative) {
    f.setZero();
  } else {
    for (Index row = 0; row < z.rows(); row += rows()) {
      f.middleRows(row, rows()) = drive_ - leak_ * z.middleRows(row, rows());
    }
  }
  add_coupling(z, f, part);
}

template <class S>
Linearization<S>& Coupling<S>::linearize(ConstMatrixRef<S> z) {
  point_->set(z);
  return *point_;
}

template <class S>
std::optional<double> Coupling<S>::energy(ConstMatrixRef<S> z) {
  const Matrix<double> x = z.template cast<double>();
  const Matrix<double> back = x * map_->weights().template cast<double>();
  return 0.5 * static_cast<double>(leak_) * x.squaredNorm() - x.cwiseProduct(drive_.template cast<double>()).sum() -
         0.5 * x.cwiseProduct(back).sum();
}

#define NUDGE_INSTANTIATE(S)                                               \
  template Matrix<S> coupling_matrix<S>(const Matrix<S>&, double, double); \
  template class Coupling<S>;
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
