// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/circuit_map.hpp"

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

Store opposite(Store store) { return store == Store::subtract ? Store::add : Store::subtract; }
Store after_first(Store store) { return store == Store::subtract ? Store::subtract : Store::add; }

/// Sink that takes the gradients at the lines, as drives of rows and columns, and hands on the gradient of the devices behind them.
class DeviceSink final : public GradientSink<double> {
 public:
  DeviceSink(const WiredDevices& devices, ReadDirection way, GradientSink<double>& sink)
      : devices_(&devices), way_(way), sink_(&sink) {}
  void accumulate(int parameter, Columns columns, double scale, ConstMatrixRef<double> x,
                  ConstMatrixRef<double> y) override {
    sink_->accumulate(parameter, scale, devices_->gradient(way_, x, y, columns));
  }
  void accumulate(int parameter, double scale, ConstMatrixRef<double> gradient) override {
    sink_->accumulate(parameter, scale, gradient);
  }

 private:
  const WiredDevices* devices_;
  ReadDirection way_;
  GradientSink<double>* sink_;
};

}  // namespace

CircuitMap::CircuitMap(std::vector<Branch> branches, Matrix<double> subtracted)
    : branches_(std::move(branches)), subtracted_(std::move(subtracted)) {
  NUDGE_EXPECT(!branches_.empty());
  NUDGE_EXPECT(branches_.front().view.backward.size() == 0 || branches_.front().devices);  // wires alone make it differ
  sum_weights();
}

void CircuitMap::sum_weights() {
  const LineView<double>& first = branches_.front().view;
  weights_ = Matrix<double>::Zero(first.weights.rows(), first.weights.cols());
  for (const Branch& branch : branches_) weights_ += branch.gain * branch.view.weights;
  if (subtracted_.size() > 0) weights_ -= subtracted_;
}

void CircuitMap::move(const Matrix<double>& delta) {
  NUDGE_EXPECT(delta.rows() == inputs() && delta.cols() == outputs());
  Branch& first = branches_.front();
  if (first.devices) {
    first.devices->move(delta / first.gain);
    first.devices->see(first.view);
  } else {
    first.view.weights += delta / first.gain;
  }
  sum_weights();
}

void CircuitMap::program(const Matrix<double>& target) {
  move(target - weights_);
  if (!branches_.front().devices) weights_ = target;
}

void CircuitMap::apply(const WeightUpdate<double>& update) {
  NUDGE_EXPECT(update.direction != nullptr);
  move(update.delta());
}

/// Takes the product with Z off a read that was put into out with `store`.
void CircuitMap::subtract(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns,
                          Store store) const {
  if (subtracted_.size() == 0) return;
  const auto z = subtracted_.middleCols(columns.begin, columns.count);
  if (way == ReadDirection::forward) {
    multiply<double>(x, z, out, opposite(store));
  } else {
    multiply_transposed<double>(x, z, out, opposite(store));
  }
}

void CircuitMap::read(ReadDirection way, ConstMatrixRef<double> x, MatrixRef<double> out, Columns columns, Store store,
                      ReadContext& context) const {
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    if (b.gain == 1) {
      b.path.read(way, b.view, x, out, columns, how, context);
    } else {
      const Matrix<double> driven = b.gain * x;
      b.path.read(way, b.view, driven, out, columns, how, context);
    }
  }
  subtract(way, x, out, columns, store);
}

void CircuitMap::derivative(ReadDirection way, Derivative which, ConstMatrixRef<double> x0, ConstMatrixRef<double> v,
                            MatrixRef<double> out, Columns columns, Store store, ReadContext& /*context*/) const {
  for (const Branch& b : branches_) {
    const Store how = &b == &branches_.front() ? store : after_first(store);
    const Matrix<double> point = b.gain * x0;
    const Matrix<double> scaled = b.gain * v;  // the chain rule's factor, on whichever side
    b.path.derivative(way, which, b.view, point, scaled, out, columns, how);
  }
  subtract(way_of(way, which), v, out, columns, store);
}

void CircuitMap::correlate(ReadDirection way, ConstMatrixRef<double> x0, ConstMatrixRef<double> u, Columns columns,
                           double scale, int parameter, GradientSink<double>& sink,
                           const ReadContext& /*context*/) const {
  const Branch& first = branches_.front();
  if (!first.devices) return first.path.correlate(way, first.view, x0, u, columns, scale, parameter, sink);
  DeviceSink of_devices(*first.devices, way, sink);
  first.path.correlate(way, first.view, x0, u, columns, scale, parameter, of_devices);
}

std::vector<StateArray<double>> CircuitMap::state() {
  Branch& first = branches_.front();
  std::vector<StateArray<double>> all = {
      {"weights", "1", "net conductance over k that the lines see (inputs, outputs)", &first.view.weights}};
  if (first.view.backward.size() > 0) {
    all.push_back({"backward", "1", "the same of transposed reads", &first.view.backward});
  }
  if (first.devices) {
    for (StateArray<double>& array : first.devices->state()) all.push_back(std::move(array));
  }
  return all;
}

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
