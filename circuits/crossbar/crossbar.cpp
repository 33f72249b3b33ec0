// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
Crossbar<S>::Crossbar(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : spec_((spec.validate(), spec)), pairs_(spec, weights, id, seed), path_(spec.periphery, id) {}

template <class S>
double Crossbar<S>::noise_per_drive() const {
  return std::sqrt(2.0) * spec_.device.read_noise * spec_.device.window_S() /
         static_cast<double>(pairs_.siemens_per_weight());
}

template <class S>
void Crossbar<S>::forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= outputs());
  path_.read(x, y, spec_.periphery.forward, noise_per_drive(), store, read,
             [&](ConstMatrixRef<S> in, MatrixRef<S> out, Store how) {
               multiply<S>(in, weights().middleCols(columns.begin, columns.count), out, how);
             });
}

template <class S>
void Crossbar<S>::transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store,
                             ReadContext& read) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= outputs());
  path_.read(y, x, spec_.periphery.transposed, noise_per_drive(), store, read,
             [&](ConstMatrixRef<S> in, MatrixRef<S> out, Store how) {
               multiply_transposed<S>(in, weights().middleCols(columns.begin, columns.count), out, how);
             });
}

template <class S>
void Crossbar<S>::accumulate(ConstMatrixRef<S> x, ConstMatrixRef<S> y, Columns columns, S scale,
                             Matrix<S>& gradient) const {
  NUDGE_EXPECT(gradient.rows() == inputs() && gradient.cols() == outputs() && columns.end() <= outputs());
  multiply_outer<S>(x, y, scale, gradient.middleCols(columns.begin, columns.count), Store::add);
}

template class Crossbar<float>;
template class Crossbar<double>;

}  // namespace nudge
