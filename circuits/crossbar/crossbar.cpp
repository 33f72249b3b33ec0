// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar.hpp"

#include "circuits/crossbar/array_memory.hpp"
#include "circuits/energy.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

const CrossbarSpec& checked(const CrossbarSpec& spec, Index rows, Index cols, std::size_t scalar_bytes) {
  spec.validate();
  check_array_memory(rows, cols, spec.mapping.kind, scalar_bytes, physical_memory_bytes());
  return spec;
}

}  // namespace

template <class S>
Crossbar<S>::Crossbar(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : pairs_(checked(spec, weights.rows(), weights.cols(), sizeof(S)), weights, id, seed),
      path_(spec.periphery, spec.circuit,
            {spec.device, spec.circuit, pairs_.mapping().devices(), pairs_.view().reference.size() > 0, id},
            spec.device.curve, weights.rows(), weights.cols(), seed, id) {
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::apply_update(const Matrix<S>& delta, std::uint64_t /*step*/) {
  pairs_.update(delta);
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::apply_factors(const std::vector<FactorPair<S>>& factors, S rate) {
  pairs_.coincide(factors, rate);
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::program(const Matrix<S>& target) {
  pairs_.program(target);
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::elapse(double seconds, std::uint64_t step) {
  if (!pairs_.elapse(seconds, step)) return;
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::state_restored() {
  pairs_.state_restored();
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= outputs());
  path_.read(ReadDirection::forward, view(), x, y, columns, store, read);
}

template <class S>
void Crossbar<S>::transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store,
                             ReadContext& read) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= outputs());
  path_.read(ReadDirection::transposed, view(), y, x, columns, store, read);
}

template <class S>
void Crossbar<S>::accumulate(ConstMatrixRef<S> x, ConstMatrixRef<S> y, Columns columns, S scale,
                             Matrix<S>& gradient) const {
  NUDGE_EXPECT(gradient.rows() == inputs() && gradient.cols() == outputs() && columns.end() <= outputs());
  multiply_outer<S>(x, y, scale, gradient.middleCols(columns.begin, columns.count), Store::add);
}

template <class S>
std::vector<MapReading> Crossbar<S>::readings() const {
  std::vector<MapReading> all = pairs_.readings();
  all.push_back({"power", "W", "of the array while driven by numbers of rms 1: V^2 times the sum of all conductances",
                 unit_drive_power_W(view(), static_cast<double>(siemens_per_weight()), path_.circuit())});
  return all;
}

template class Crossbar<float>;
template class Crossbar<double>;

}  // namespace nudge
