// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/mapping.hpp"

#include <algorithm>

namespace nudge {

CellScale::CellScale(const DeviceSpec& device, double read_V)
    : selector_(device.selector),
      read_V_(read_V),
      most_(2 * device.g_max_S),
      low_(selector_.cell_S(device.g_min_S, read_V)),
      high_(selector_.cell_S(device.g_max_S, read_V)),
      devices_per_cell_(selector_.any() ? device.window_S() / window_S() : 1) {}

template <class S>
Matrix<S> CellScale::cells(const Matrix<S>& devices) const {
  if (straight()) return devices;
  return devices.unaryExpr([this](S g) { return static_cast<S>(selector_.cell_S(static_cast<double>(g), read_V_)); });
}

template <class S>
Matrix<S> CellScale::devices(const Matrix<S>& cells) const {
  if (straight()) return cells;
  return cells.unaryExpr(
      [this](S c) { return static_cast<S>(std::min(selector_.device_S(static_cast<double>(c), read_V_), most_)); });
}

template Matrix<float> CellScale::cells<float>(const Matrix<float>&) const;
template Matrix<double> CellScale::cells<double>(const Matrix<double>&) const;
template Matrix<float> CellScale::devices<float>(const Matrix<float>&) const;
template Matrix<double> CellScale::devices<double>(const Matrix<double>&) const;

namespace {

/// Pairs G^± = middle ± k w/2; updates are split evenly.
template <class S>
class Differential : public Mapping<S> {
 public:
  Index second_columns(Index outputs) const override { return outputs; }
  double reach_S(double low, double high) const override { return high - low; }
  int devices() const override { return 2; }
  typename Mapping<S>::Steps steps(S k) const override { return {k / S(2), -k / S(2)}; }

  void targets(const Matrix<S>& w, S middle, S k, Matrix<S>& first, Matrix<S>& second) const override {
    first = (middle + k / S(2) * w.array()).matrix();
    second = (middle - k / S(2) * w.array()).matrix();
  }

  void view(const Matrix<S>& first, const Matrix<S>& second, S, S k, bool want_total, LineView<S>& out) const override {
    view_pairs(first, second, k, want_total, out);
  }
};

/// Pairs at the bottom of the window: G⁺ = low + k max(w, 0), G⁻ = low + k max(−w, 0).
template <class S>
class OneSidedPairs final : public Differential<S> {
 public:
  double rest_S(double low, double /*high*/) const override { return low; }
  void targets(const Matrix<S>& w, S low, S k, Matrix<S>& first, Matrix<S>& second) const override {
    first = (low + k * w.array().max(S(0))).matrix();
    second = (low - k * w.array().min(S(0))).matrix();
  }
};

/// Pairs at the top of the window: G⁺ = high − k max(−w, 0), G⁻ = high − k max(w, 0).
template <class S>
class ResetOnlyPairs final : public Differential<S> {
 public:
  double rest_S(double /*low*/, double high) const override { return high; }
  void targets(const Matrix<S>& w, S high, S k, Matrix<S>& first, Matrix<S>& second) const override {
    first = (high + k * w.array().min(S(0))).matrix();
    second = (high - k * w.array().max(S(0))).matrix();
  }
};

/// One device for each weight, G = middle + k w.
template <class S>
class OneDevice : public Mapping<S> {
 public:
  double reach_S(double low, double high) const override { return 0.5 * (high - low); }
  int devices() const override { return 1; }
  typename Mapping<S>::Steps steps(S k) const override { return {k, S(0)}; }
};

/// Devices G = middle + k w; the reference devices stand at the middle, with the errors of their programming, and are not updated.
template <class S>
class ReferenceColumn final : public OneDevice<S> {
 public:
  Index second_columns(Index) const override { return 1; }

  void targets(const Matrix<S>& w, S middle, S k, Matrix<S>& first, Matrix<S>& second) const override {
    first = (middle + k * w.array()).matrix();
    second = Matrix<S>::Constant(w.rows(), 1, middle);
  }

  void view(const Matrix<S>& first, const Matrix<S>& second, S, S k, bool want_total, LineView<S>& out) const override {
    const LineValues<S> reference = second.col(0).transpose().array();
    view_single(first, reference, k, want_total, out);
    out.reference = reference / k;
    out.reference_load = out.reference.sum();
    out.row_load += out.reference;
  }
};

/// Devices G = middle + k w; the digital side knows the middle as a number.
template <class S>
class Offset final : public OneDevice<S> {
 public:
  Index second_columns(Index) const override { return 0; }

  void targets(const Matrix<S>& w, S middle, S k, Matrix<S>& first, Matrix<S>& second) const override {
    first = (middle + k * w.array()).matrix();
    second.resize(w.rows(), 0);
  }

  void view(const Matrix<S>& first, const Matrix<S>&, S middle, S k, bool want_total, LineView<S>& out) const override {
    view_single<S>(first, LineValues<S>::Constant(first.rows(), middle), k, want_total, out);
    out.pedestal = middle / k;
  }
};

/// Bare devices G = k w: the weight is the conductance between the lines.
template <class S>
class Single final : public OneDevice<S> {
 public:
  Index second_columns(Index) const override { return 0; }
  double reach_S(double /*low*/, double high) const override { return high; }
  double least(double low, double high, double w_max) const override { return w_max * low / high; }

  void targets(const Matrix<S>& w, S /*middle*/, S k, Matrix<S>& first, Matrix<S>& second) const override {
    first = k * w;
    second.resize(w.rows(), 0);
  }

  void view(const Matrix<S>& first, const Matrix<S>&, S, S k, bool want_total, LineView<S>& out) const override {
    view_single<S>(first, LineValues<S>::Zero(first.rows()), k, want_total, out);
  }
};

}  // namespace

template <class S>
std::unique_ptr<const Mapping<S>> make_mapping(MappingKind kind) {
  switch (kind) {
    case MappingKind::differential: return std::make_unique<Differential<S>>();
    case MappingKind::reference_column: return std::make_unique<ReferenceColumn<S>>();
    case MappingKind::offset: return std::make_unique<Offset<S>>();
    case MappingKind::one_sided: return std::make_unique<OneSidedPairs<S>>();
    case MappingKind::reset_only: return std::make_unique<ResetOnlyPairs<S>>();
    case MappingKind::single: return std::make_unique<Single<S>>();
  }
  return nullptr;
}

template std::unique_ptr<const Mapping<float>> make_mapping(MappingKind);
template std::unique_ptr<const Mapping<double>> make_mapping(MappingKind);

}  // namespace nudge
