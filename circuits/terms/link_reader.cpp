// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/link_reader.hpp"

namespace nudge {

/// Memory for n rows at every position, grown once.
template <class S>
MatrixRef<S> LinkReader<S>::space(Index n, Index cols, Matrix<S>& memory) {
  const Index rows = n * shape().positions();
  if (memory.rows() < rows || memory.cols() != cols) memory.resize(rows, cols);
  return memory.topRows(rows);
}

/// What the derivative of a curved read needs of its operating point; other maps do not look.
template <class S>
MatrixRef<S> LinkReader<S>::point_patches(ConstMatrixRef<S> x0) {
  return weights_.map->curved() ? patches(x0, patch_point_) : space(x0.rows(), shape().patch(), patch_point_);
}
template <class S>
MatrixRef<S> LinkReader<S>::point_rows(ConstMatrixRef<S> y0) {
  return weights_.map->curved() ? rows_of(y0, maps_point_) : space(y0.rows(), shape().maps, maps_point_);
}

template <class S>
MatrixRef<S> LinkReader<S>::patches(ConstMatrixRef<S> x, Matrix<S>& memory) {
  MatrixRef<S> out = space(x.rows(), shape().patch(), memory);
  gather_patches<S>(shape(), x, out);
  return out;
}

template <class S>
MatrixRef<S> LinkReader<S>::rows_of(ConstMatrixRef<S> y, Matrix<S>& memory) {
  MatrixRef<S> out = space(y.rows(), shape().maps, memory);
  to_positions<S>(shape().maps, y, out);
  return out;
}

template <class S>
void LinkReader<S>::forward(ConstMatrixRef<S> x, MatrixRef<S> y, ReadContext& read, Store store) {
  if (!weights_.convolution) return weights_.map->forward(x, y, all(), store, read);
  if (store == Store::assign) y.setZero();
  MatrixRef<S> out = space(x.rows(), shape().maps, maps_);
  weights_.map->forward(patches(x, patch_), out, all(), Store::assign, read);
  add_positions<S>(shape().maps, out, y);
}

template <class S>
void LinkReader<S>::forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y, ReadContext& read) {
  if (!weights_.convolution) return weights_.map->forward_jvp(x0, v, y, all(), Store::add, read);
  MatrixRef<S> out = space(v.rows(), shape().maps, maps_);
  weights_.map->forward_jvp(point_patches(x0), patches(v, patch_), out, all(), Store::assign, read);
  add_positions<S>(shape().maps, out, y);
}

template <class S>
void LinkReader<S>::forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x, ReadContext& read) {
  if (!weights_.convolution) return weights_.map->forward_vjp(x0, u, x, all(), Store::add, read);
  MatrixRef<S> out = space(u.rows(), shape().patch(), patch_);
  weights_.map->forward_vjp(point_patches(x0), rows_of(u, maps_), out, all(), Store::assign, read);
  scatter_patches<S>(shape(), out, x);
}

template <class S>
void LinkReader<S>::transposed(ConstMatrixRef<S> y, MatrixRef<S> x, ReadContext& read, Store store) {
  if (!weights_.convolution) return weights_.map->transposed(y, x, all(), store, read);
  if (store == Store::assign) x.setZero();
  MatrixRef<S> out = space(y.rows(), shape().patch(), patch_);
  weights_.map->transposed(rows_of(y, maps_), out, all(), Store::assign, read);
  scatter_patches<S>(shape(), out, x);
}

template <class S>
void LinkReader<S>::transposed_jvp(ConstMatrixRef<S> y0, ConstMatrixRef<S> v, MatrixRef<S> x, ReadContext& read) {
  if (!weights_.convolution) return weights_.map->transposed_jvp(y0, v, x, all(), Store::add, read);
  MatrixRef<S> out = space(v.rows(), shape().patch(), patch_);
  weights_.map->transposed_jvp(point_rows(y0), rows_of(v, maps_), out, all(), Store::assign, read);
  scatter_patches<S>(shape(), out, x);
}

template <class S>
void LinkReader<S>::transposed_vjp(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, MatrixRef<S> y, ReadContext& read) {
  if (!weights_.convolution) return weights_.map->transposed_vjp(y0, u, y, all(), Store::add, read);
  MatrixRef<S> out = space(u.rows(), shape().maps, maps_);
  weights_.map->transposed_vjp(point_rows(y0), patches(u, patch_), out, all(), Store::assign, read);
  add_positions<S>(shape().maps, out, y);
}

template <class S>
void LinkReader<S>::correlate_forward(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, S scale, GradientSink<S>& sink,
                                      ReadContext& read) {
  const int parameter = weights_.parameter;
  if (!weights_.convolution) return weights_.map->correlate_forward(x0, u, all(), scale, parameter, sink, read);
  weights_.map->correlate_forward(patches(x0, patch_), rows_of(u, maps_), all(), scale, parameter, sink, read);
}

template <class S>
void LinkReader<S>::correlate_transposed(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, S scale, GradientSink<S>& sink,
                                         ReadContext& read) {
  const int parameter = weights_.parameter;
  if (!weights_.convolution) return weights_.map->correlate_transposed(y0, u, all(), scale, parameter, sink, read);
  weights_.map->correlate_transposed(rows_of(y0, maps_), patches(u, patch_), all(), scale, parameter, sink, read);
}

template class LinkReader<float>;
template class LinkReader<double>;

}  // namespace nudge
