// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar.hpp"

#include "circuits/crossbar/array_memory.hpp"
#include "circuits/energy.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void check(const CrossbarSpec& spec, Index rows, Index cols, std::size_t scalar_bytes) {
  spec.validate();
  check_array_memory(rows, cols, spec.mapping.kind, scalar_bytes, physical_memory_bytes());
}

}  // namespace

template <class S>
Crossbar<S>::Crossbar(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : pairs_((check(spec, weights.rows(), weights.cols(), sizeof(S)), spec), weights, id, seed),
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
void Crossbar<S>::advance_time(double seconds, std::uint64_t step) {
  if (!pairs_.advance_time(seconds, step)) return;
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

// The circuit itself knows no derivative: it sends small drives through the same devices, whose slope is that at zero.
template <class S>
void Crossbar<S>::forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y, Columns columns, Store store,
                              ReadContext& read) const {
  if (!slopes(read)) return forward(v, y, columns, store, read);
  path_.jvp(ReadDirection::forward, view(), x0, v, y, columns, store);
}

template <class S>
void Crossbar<S>::forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x, Columns columns, Store store,
                              ReadContext& read) const {
  if (!slopes(read)) return transposed(u, x, columns, store, read);
  path_.vjp(ReadDirection::forward, view(), x0, u, x, columns, store);
}

template <class S>
void Crossbar<S>::transposed_jvp(ConstMatrixRef<S> y0, ConstMatrixRef<S> v, MatrixRef<S> x, Columns columns,
                                 Store store, ReadContext& read) const {
  if (!slopes(read)) return transposed(v, x, columns, store, read);
  path_.jvp(ReadDirection::transposed, view(), y0, v, x, columns, store);
}

template <class S>
void Crossbar<S>::transposed_vjp(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, MatrixRef<S> y, Columns columns,
                                 Store store, ReadContext& read) const {
  if (!slopes(read)) return forward(u, y, columns, store, read);
  path_.vjp(ReadDirection::transposed, view(), y0, u, y, columns, store);
}

template <class S>
void Crossbar<S>::correlate_forward(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                                    GradientSink<S>& sink, const ReadContext& read) const {
  if (!read.exact || path_.linear()) return sink.accumulate(parameter, columns, scale, x0, u);
  Matrix<S> p, slope_u;
  path_.factors(ReadDirection::forward, view(), x0, u, columns, p, slope_u);
  sink.accumulate(parameter, columns, scale, p, slope_u);
}

template <class S>
void Crossbar<S>::correlate_transposed(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, Columns columns, S scale,
                                       int parameter, GradientSink<S>& sink, const ReadContext& read) const {
  if (!read.exact || path_.linear()) return sink.accumulate(parameter, columns, scale, u, y0);
  Matrix<S> p, slope_u;
  path_.factors(ReadDirection::transposed, view(), y0, u, columns, p, slope_u);
  sink.accumulate(parameter, columns, scale, slope_u, p);
}

template <class S>
double Crossbar<S>::unit_heat_J() const {
  const CircuitSpec& circuit = path_.circuit();
  return static_cast<double>(siemens_per_weight()) * circuit.read_voltage_V * circuit.read_voltage_V *
         circuit.time_constant_s;
}

template <class S>
CircuitMap::Branch Crossbar<S>::branch(double gain) const {
  return {view().template cast<double>(), path_.noise_free(), gain};
}

template <class S>
std::unique_ptr<LinearMap<double>> Crossbar<S>::noise_free() const {
  std::vector<CircuitMap::Branch> branches;
  branches.push_back(branch(1));
  auto map = std::make_unique<CircuitMap>(std::move(branches));
  map->set_unit_heat_J(unit_heat_J());
  return map;
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
