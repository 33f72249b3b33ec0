// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/circuit_map.hpp"

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Tolerance of the effective matrix: central differences over 1e-4 of a weight are then known to 1e-9.
constexpr double kTolerance = 1e-13;

}  // namespace

WiredDevices::WiredDevices(const Circuit& circuit, Matrix<double> first_S, Matrix<double> second_S)
    : circuit_(circuit), first_(std::move(first_S)), second_(std::move(second_S)) {}

void WiredDevices::move(const Matrix<double>& delta) {
  NUDGE_EXPECT(delta.rows() == first_.rows() && delta.cols() == first_.cols());
  const auto steps = make_mapping<double>(circuit_.mapping)->steps(circuit_.siemens_per_weight);
  first_ += steps.first * delta;
  if (steps.second != 0) second_ += steps.second * delta;
}

Matrix<double> WiredDevices::seen(PathEnds ends) const {
  const auto through = [&](const Matrix<double>& g) {
    return effective_conductance(g, circuit_.wires, circuit_.tiles, 1, ends, kTolerance, DeviceSign::any);
  };
  LineView<double> view;
  make_mapping<double>(circuit_.mapping)
      ->view(through(first_), through(second_), circuit_.middle_S, circuit_.siemens_per_weight, false, view);
  return std::move(view.weights);
}

void WiredDevices::see(LineView<double>& view) const {
  view.weights = seen(PathEnds::near);
  if (circuit_.path == TransposedPath::opposite_ends) view.backward = seen(PathEnds::far);
}

// W = (M(G₁) − M(G₂))/k of a pair, (M(G₁) − what stands still)/k of a single device.
Matrix<double> WiredDevices::gradient(ReadDirection way, ConstMatrixRef<double> x, ConstMatrixRef<double> y,
                                      Columns columns) const {
  const bool far = way == ReadDirection::transposed && circuit_.path == TransposedPath::opposite_ends;
  Matrix<double> all = Matrix<double>::Zero(y.rows(), first_.cols());
  all.middleCols(columns.begin, columns.count) = y;
  const auto of = [&](const Matrix<double>& g) {
    return device_gradient(g, circuit_.wires, circuit_.tiles, far ? PathEnds::far : PathEnds::near, x, all);
  };
  const double k = circuit_.siemens_per_weight;
  const auto steps = make_mapping<double>(circuit_.mapping)->steps(k);
  Matrix<double> gradient = steps.first / k * of(first_);
  if (steps.second != 0) gradient -= steps.second / k * of(second_);
  return gradient;
}

std::vector<StateArray<double>> WiredDevices::state() {
  std::vector<StateArray<double>> all = {{"first", "S", "conductance of the device of each weight", &first_}};
  if (second_.size() > 0) all.push_back({"second", "S", "of what it is compared with", &second_});
  return all;
}

}  // namespace nudge
