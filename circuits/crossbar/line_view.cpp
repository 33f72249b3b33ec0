// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/line_view.hpp"

namespace nudge {
namespace {

template <class S>
void resize(Index rows, Index cols, bool want_total, LineView<S>& view) {
  view.weights.resize(rows, cols);
  view.total.resize(want_total ? rows : 0, want_total ? cols : 0);
  view.row_load.resize(rows);
  view.column_load = LineValues<S>::Zero(cols);
  view.reference.resize(0);
  view.reference_load = 0;
  view.pedestal = 0;
}

}  // namespace

template <class S>
void view_pairs(const Matrix<S>& plus, const Matrix<S>& minus, S k, bool want_total, LineView<S>& view) {
  resize(plus.rows(), plus.cols(), want_total, view);
  LineValues<S> sum(plus.cols());
  for (Index i = 0; i < plus.rows(); ++i) {
    view.weights.row(i) = (plus.row(i) - minus.row(i)) / k;
    sum = (plus.row(i) + minus.row(i)).array() / k;
    view.row_load(i) = sum.sum();
    view.column_load += sum;
    if (want_total) view.total.row(i) = sum.matrix();
  }
}

template <class S>
void view_single(const Matrix<S>& g, const LineValues<S>& baseline, S k, bool want_total, LineView<S>& view) {
  resize(g.rows(), g.cols(), want_total, view);
  LineValues<S> sum(g.cols());
  for (Index i = 0; i < g.rows(); ++i) {
    view.weights.row(i) = ((g.row(i).array() - baseline(i)) / k).matrix();
    sum = g.row(i).array() / k;
    view.row_load(i) = sum.sum();
    view.column_load += sum;
    if (want_total) view.total.row(i) = sum.matrix();
  }
}

template <class S>
void LineView<S>::amplify(S gain) {
  for (Matrix<S>* over_k : {&weights, &backward, &total}) *over_k *= gain;
  for (LineValues<S>* over_k : {&column_load, &row_load, &reference}) *over_k *= gain;
  reference_load *= gain;
  pedestal *= gain;
  variance *= gain * gain;
  reference_variance *= gain * gain;
  for (MovingNoise<S>& noise : moving) {
    noise.variance *= gain * gain;
    noise.reference_variance *= gain * gain;
  }
}

#define NUDGE_LINE_VIEW(S)                                                                \
  template void LineView<S>::amplify(S);                                                  \
  template void view_pairs<S>(const Matrix<S>&, const Matrix<S>&, S, bool, LineView<S>&); \
  template void view_single<S>(const Matrix<S>&, const LineValues<S>&, S, bool, LineView<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_LINE_VIEW)

}  // namespace nudge
