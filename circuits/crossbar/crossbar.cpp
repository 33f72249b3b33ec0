// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar.hpp"

#include <algorithm>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/energy.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void check(const CrossbarSpec& spec, Index rows, Index cols, std::size_t scalar_bytes) {
  spec.validate();
  if (spec.mapping.scale == ScalePolicy::column) {
    throw UserError(
        "crossbar.scale = column: this array is of one matrix alone. Divide its columns by their largest weights, and "
        "multiply what is read; networks and `nudge crossbar` do that");
  }
  check_array_memory(rows, cols, spec.mapping.kind, scalar_bytes, physical_memory_bytes());
}

}  // namespace

template <class S>
Crossbar<S>::Crossbar(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : pairs_((check(spec, weights.rows(), weights.cols(), sizeof(S)), spec), weights, id, seed),
      path_(spec.periphery, spec.circuit, spec.tiles,
            {spec.device, spec.circuit, pairs_.mapping().devices(), pairs_.view().reference.size() > 0, id},
            spec.device.curve, weights.rows(), weights.cols(), seed, id),
      trim_(spec, weights.rows(), weights.cols(), seed, id) {
  renew_view();
}

template <class S>
void Crossbar<S>::renew_view() {
  path_.set_view(pairs_.view(), static_cast<double>(siemens_per_weight()));
  trim_.renew(pairs_.view(), static_cast<double>(siemens_per_weight()));
}

template <class S>
void Crossbar<S>::apply(const WeightUpdate<S>& update) {
  if (pairs_.frozen()) return;
  if (update.direction == nullptr) {
    pairs_.coincide(update.factors, -update.scale);
  } else if (update.scale == S(1)) {
    pairs_.update(*update.direction);
  } else {
    pairs_.update(update.delta());
  }
  renew_view();
}

template <class S>
void Crossbar<S>::pulse(const Matrix<S>& counts) {
  pairs_.pulse(counts);
  renew_view();
}

template <class S>
Index Crossbar<S>::refresh_pairs(double high, double low) {
  const Index written = pairs_.refresh_pairs(high, low);
  if (written > 0) renew_view();
  return written;
}

template <class S>
void Crossbar<S>::program(const Matrix<S>& target) {
  pairs_.program(target);
  renew_view();
}

template <class S>
void Crossbar<S>::advance_time(const Elapsed& time, std::uint64_t step) {
  if (pairs_.advance_time(time, step)) renew_view();
}

template <class S>
void Crossbar<S>::state_restored() {
  pairs_.state_restored();
  renew_view();
}

template <class S>
void Crossbar<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                       ReadContext& context) const {
  NUDGE_EXPECT(columns.begin >= 0 && columns.end() <= this->outputs());
  path_.read(way, view(), x, out, columns, store, context);
}

// The circuit itself knows no derivative: it sends small drives through the same devices, whose slope is that at zero.
template <class S>
void Crossbar<S>::derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v,
                             MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
  if (!context.exact || !curved()) return read(way_of(way, which), v, out, columns, store, context);
  path_.derivative(way, which, view(), x0, v, out, columns, store);
}

template <class S>
void Crossbar<S>::correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale,
                            int parameter, GradientSink<S>& sink, const ReadContext& context) const {
  if (!context.exact || path_.linear()) {
    return LinearMap<S>::correlate(way, x0, u, columns, scale, parameter, sink, context);
  }
  path_.correlate(way, view(), x0, u, columns, scale, parameter, sink);
}

template <class S>
MapTraits<S> Crossbar<S>::traits() const {
  const CircuitSpec& circuit = path_.circuit();
  return {.curved = curved(),
          .noisy = path_.noisy(view()),
          .takes_factors = pairs_.takes_factors(),
          .unit_heat_J = static_cast<double>(siemens_per_weight()) * circuit.read_voltage_V * circuit.read_voltage_V *
                         circuit.time_constant_s,
          .residue = trim_.residue(),
          .line_load = static_cast<double>(std::max(view().column_load.maxCoeff(), view().row_load.maxCoeff()))};
}

template <class S>
CircuitMap::Branch Crossbar<S>::branch(double gain) const {
  return {view().template cast<double>(), path_.noise_free(), gain, pairs_.behind_wires()};
}

template <class S>
std::unique_ptr<LinearMap<double>> Crossbar<S>::noise_free() const {
  std::vector<CircuitMap::Branch> branches;
  branches.push_back(branch(1));
  auto map = std::make_unique<CircuitMap>(std::move(branches));
  map->set_unit_heat_J(traits().unit_heat_J);
  if (const WeightSums<S>* left = trim_.residue()) {
    map->set_residue({left->of_columns.template cast<double>(), left->of_rows.template cast<double>()});
  }
  return map;
}

template <class S>
std::vector<MapReading> Crossbar<S>::readings() const {
  std::vector<MapReading> all = pairs_.readings();
  all.push_back({"power", "W",
                 "of the array while driven by numbers of rms 1: heat of a read through wires and selectors",
                 unit_drive_power_W(view(), static_cast<double>(siemens_per_weight()), path_.circuit())});
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(Crossbar)

}  // namespace nudge
