// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
class Block final : public Operation<S> {
 public:
  Block(Index row, Index rows, Index col, Index cols) : row_(row), rows_(rows), col_(col), cols_(cols) {}
  std::string_view name() const override { return "block"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { y = cut(*x[0]); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy = cut(*dx[0]);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] != nullptr) cut(*dx[0]) += dy;
  }

 private:
  template <class M>
  auto cut(M& m) const {
    return m.block(row_, col_, rows_ < 0 ? m.rows() : rows_, cols_ < 0 ? m.cols() : cols_);
  }

  Index row_, rows_, col_, cols_;  ///< begin and count of rows and columns; a negative count stands for all
};

template <class S>
class JoinColumns final : public Operation<S> {
 public:
  std::string_view name() const override { return "join_columns"; }
  void forward(Arguments<S> x, Matrix<S>& y) override {
    Index cols = 0;
    for (const Matrix<S>* part : x) cols += part->cols();
    y.resize(x[0]->rows(), cols);
    Index at = 0;
    for (const Matrix<S>* part : x) {
      y.middleCols(at, part->cols()) = *part;
      at += part->cols();
    }
  }
  void jvp(Arguments<S> x, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    Index at = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      auto part = dy.middleCols(at, x[k]->cols());
      if (dx[k] != nullptr) {
        part = *dx[k];
      } else {
        part.setZero();
      }
      at += x[k]->cols();
    }
  }
  void vjp(Arguments<S> x, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    Index at = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (dx[k] != nullptr) *dx[k] += dy.middleCols(at, x[k]->cols());
      at += x[k]->cols();
    }
  }
};

template <class S>
class GatherRows final : public Operation<S> {
 public:
  explicit GatherRows(SharedIndices index) : index_(std::move(index)) {}
  std::string_view name() const override { return "gather_rows"; }
  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(static_cast<Index>(index_->size()), x[0]->cols());
    gather(*x[0], y);
  }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    gather(*dx[0], dy);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    for (Index t = 0; t < dy.rows(); ++t) dx[0]->row((*index_)[static_cast<std::size_t>(t)]) += dy.row(t);
  }

 private:
  void gather(const Matrix<S>& table, Matrix<S>& y) const {
    for (Index t = 0; t < y.rows(); ++t) y.row(t) = table.row((*index_)[static_cast<std::size_t>(t)]);
  }

  SharedIndices index_;
};

template <class S>
class GatherColumns final : public Operation<S> {
 public:
  explicit GatherColumns(std::vector<int> index) : index_(std::move(index)) {}

  std::string_view name() const override { return "gather_columns"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { gather(*x[0], y); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    gather(*dx[0], dy);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    Matrix<S>& sum = *dx[0];
    for (Index t = 0; t < dy.rows(); ++t) {
      for (std::size_t j = 0; j < index_.size(); ++j) sum(t, index_[j]) += dy(t, static_cast<Index>(j));
    }
  }

 private:
  void gather(const Matrix<S>& x, Matrix<S>& y) const {
    y.resize(x.rows(), static_cast<Index>(index_.size()));
    for (Index t = 0; t < y.rows(); ++t) {
      for (std::size_t j = 0; j < index_.size(); ++j) y(t, static_cast<Index>(j)) = x(t, index_[j]);
    }
  }

  std::vector<int> index_;
};

template <class S>
class AsRow final : public Operation<S> {
 public:
  std::string_view name() const override { return "as_row"; }
  void forward(Arguments<S> x, Matrix<S>& y) override { y = row_of(*x[0]); }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    dy = row_of(*dx[0]);
  }
  void vjp(Arguments<S> x, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    dx[0].add(Eigen::Map<const Matrix<S>>(dy.data(), x[0]->cols(), x[0]->rows()).transpose());
  }

 private:
  static Matrix<S> row_of(const Matrix<S>& x) {
    const Matrix<S> turned = x.transpose();
    return Eigen::Map<const Matrix<S>>(turned.data(), 1, turned.size());
  }
};

}  // namespace

template <class S>
Value<S> gather_columns(Value<S> x, std::vector<int> index) {
  NUDGE_EXPECT(std::all_of(index.begin(), index.end(), [&](int i) { return i >= 0 && i < x.cols(); }));
  return x.tape->record(std::make_unique<GatherColumns<S>>(std::move(index)), {x});
}

template <class S>
Value<S> as_row(Value<S> x) {
  return x.tape->record(std::make_unique<AsRow<S>>(), {x});
}

template <class S>
Value<S> columns(Value<S> x, Index begin, Index count) {
  NUDGE_EXPECT(begin >= 0 && count >= 0 && begin + count <= x.cols());
  if (begin == 0 && count == x.cols()) return x;
  return x.tape->record(std::make_unique<Block<S>>(0, -1, begin, count), {x});
}

template <class S>
Value<S> rows(Value<S> x, Index begin, Index count) {
  NUDGE_EXPECT(begin >= 0 && count >= 0 && begin + count <= x.rows());
  if (begin == 0 && count == x.rows()) return x;
  if (x.tape->reader(x) != nullptr) return x.tape->weight_rows(x, begin, count);
  return x.tape->record(std::make_unique<Block<S>>(begin, count, 0, -1), {x});
}

template <class S>
Value<S> join_columns(const std::vector<Value<S>>& parts) {
  NUDGE_EXPECT(!parts.empty());
  if (parts.size() == 1) return parts[0];
  return parts[0].tape->record(std::make_unique<JoinColumns<S>>(), std::span<const Value<S>>(parts));
}

template <class S>
Value<S> gather_rows(Value<S> x, std::vector<int> index) {
  return gather_rows(x, std::make_shared<const std::vector<int>>(std::move(index)));
}

template <class S>
Value<S> gather_rows(Value<S> x, SharedIndices index) {
  NUDGE_EXPECT(std::all_of(index->begin(), index->end(), [&](int i) { return i >= 0 && i < x.rows(); }));
  return x.tape->record(std::make_unique<GatherRows<S>>(std::move(index)), {x});
}

#define NUDGE_LAYOUT(S)                                            \
  template Value<S> columns<S>(Value<S>, Index, Index);            \
  template Value<S> rows<S>(Value<S>, Index, Index);               \
  template Value<S> join_columns<S>(const std::vector<Value<S>>&); \
  template Value<S> gather_columns<S>(Value<S>, std::vector<int>); \
  template Value<S> as_row<S>(Value<S>);                           \
  template Value<S> gather_rows<S>(Value<S>, std::vector<int>);    \
  template Value<S> gather_rows<S>(Value<S>, SharedIndices);
NUDGE_BOTH_PRECISIONS(NUDGE_LAYOUT)

}  // namespace nudge
