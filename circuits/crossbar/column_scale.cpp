// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/column_scale.hpp"

#include "circuits/crossbar/read_path.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Sink that divides what columns contribute by their scales.
template <class S>
class UnscaledSink final : public GradientSink<S> {
 public:
  UnscaledSink(GradientSink<S>& sink, const Matrix<S>& scale) : sink_(sink), scale_(scale) {}

  void accumulate(int parameter, Columns columns, S factor, ConstMatrixRef<S> x, ConstMatrixRef<S> y) override {
    const Matrix<S> own = y.array().rowwise() / scale_.row(0).segment(columns.begin, columns.count).array();
    sink_.accumulate(parameter, columns, factor, x, own);
  }
  void accumulate(int parameter, S factor, ConstMatrixRef<S> gradient) override {
    sink_.accumulate(parameter, factor, without_scales<S>(gradient, scale_));
  }

 private:
  GradientSink<S>& sink_;
  const Matrix<S>& scale_;
};

}  // namespace

template <class S>
Matrix<S> column_scales(const Matrix<S>& weights) {
  if (weights.size() == 0) return Matrix<S>::Ones(1, weights.cols());
  Matrix<S> scales = weights.cwiseAbs().colwise().maxCoeff();
  const S largest = scales.maxCoeff() > S(0) ? scales.maxCoeff() : S(1);
  return scales.unaryExpr([largest](S one) { return one > S(0) ? one : largest; });
}

template <class S>
ColumnScaledMap<S>::ColumnScaledMap(std::unique_ptr<LinearMap<S>> map, Matrix<S> scale)
    : map_(std::move(map)), scale_(std::move(scale)) {
  NUDGE_EXPECT(scale_.rows() == 1 && scale_.cols() == map_->outputs());
  renew();
}

template <class S>
void ColumnScaledMap<S>::renew() {
  weights_ = (map_->weights().array().rowwise() * scale_.row(0).array()).matrix();
}

template <class S>
void ColumnScaledMap<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                              ReadContext& context) const {
  // Grown once per thread, then reused; the maps behind never call another ColumnScaledMap.
  static thread_local Matrix<S> scaled;
  if (way == ReadDirection::transposed) {
    scaled = x.array().rowwise() * of(columns);
    return map_->read(way, scaled, out, columns, store, context);
  }
  scaled.setZero(out.rows(), out.cols());
  map_->read(way, x, scaled, columns, store == Store::assign ? store : Store::add, context);
  scaled.array().rowwise() *= of(columns);
  put<S>(scaled, store, out);
}

// D of x Ŵ s is s D̂ on the side of the columns, whichever of drive and output is there.
template <class S>
void ColumnScaledMap<S>::derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v,
                                    MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
  static thread_local Matrix<S> point, scaled;
  point = x0;
  if (way == ReadDirection::transposed && point.size() > 0) point.array().rowwise() *= of(columns);
  if (way_of(way, which) == ReadDirection::transposed) {
    scaled = v.array().rowwise() * of(columns);
    return map_->derivative(way, which, point, scaled, out, columns, store, context);
  }
  scaled.setZero(out.rows(), out.cols());
  map_->derivative(way, which, point, v, scaled, columns, store == Store::assign ? store : Store::add, context);
  scaled.array().rowwise() *= of(columns);
  put<S>(scaled, store, out);
}

// ∂(x Ŵ s)/∂W = ∂(x Ŵ)/∂Ŵ: s at the output and 1/s of the change cancel. A transposed read is driven by y s, and 1/s is left.
template <class S>
void ColumnScaledMap<S>::correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns,
                                   S scale, int parameter, GradientSink<S>& sink, const ReadContext& context) const {
  if (way == ReadDirection::forward) return map_->correlate(way, x0, u, columns, scale, parameter, sink, context);
  static thread_local Matrix<S> driven;
  driven = x0.array().rowwise() * of(columns);
  UnscaledSink<S> unscaled(sink, scale_);
  map_->correlate(way, driven, u, columns, scale, parameter, unscaled, context);
}

template <class S>
std::unique_ptr<LinearMap<double>> ColumnScaledMap<S>::noise_free() const {
  return std::make_unique<ColumnScaledMap<double>>(map_->noise_free(), scale_.template cast<double>());
}

template <class S>
void ColumnScaledMap<S>::apply(const WeightUpdate<S>& update) {
  WeightUpdate<S> own = update;
  Matrix<S> direction;
  std::vector<FactorPair<S>> factors;
  if (update.direction != nullptr) {
    direction = without_scales(*update.direction, scale_);
    own.direction = &direction;
  }
  for (const FactorPair<S>& pair : update.factors) {
    factors.push_back({pair.columns, pair.scale, pair.x, pair.y.array().rowwise() / of(pair.columns)});
  }
  own.factors = factors;
  map_->apply(own);
  renew();
}

template <class S>
void ColumnScaledMap<S>::program(const Matrix<S>& target) {
  map_->program(without_scales(target, scale_));
  renew();
}

template <class S>
void ColumnScaledMap<S>::advance_time(const Elapsed& time, std::uint64_t step) {
  map_->advance_time(time, step);
  renew();
}

template <class S>
std::vector<StateArray<S>> ColumnScaledMap<S>::state() {
  std::vector<StateArray<S>> all = map_->state();
  all.insert(all.begin(), {"column_scale", "1", "digital factor of every column", &scale_});
  return all;
}

template <class S>
void ColumnScaledMap<S>::state_restored() {
  map_->state_restored();
  if (!(scale_.array() > S(0)).all() || !scale_.allFinite()) {
    throw UserError("crossbar: a restored scale of a column is not a positive number: the file is damaged");
  }
  renew();
}

template <class S>
std::vector<MapReading> ColumnScaledMap<S>::readings() const {
  std::vector<MapReading> all = map_->readings();
  all.push_back({"column_scales", "1", "largest over smallest digital factor of the columns",
                 static_cast<double>(scale_.size() > 0 ? scale_.maxCoeff() / scale_.minCoeff() : S(1))});
  return all;
}

template Matrix<float> column_scales<float>(const Matrix<float>&);
template Matrix<double> column_scales<double>(const Matrix<double>&);
NUDGE_BOTH_PRECISIONS_OF(ColumnScaledMap)

}  // namespace nudge
