// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Products of an array with a drive that comes again. A clamped layer drives its array alike in every step of an example. The mean of
/// the read and the variances of its noise are then the same numbers, and noise alone is drawn anew. A drive is known if it equals the
/// last one or its opposite, whoever sent it. Mean and variance are linear in x, |x| and x²: −x has minus the mean, and the same variance.
template <class S>
class DriveProducts {
 public:
  /// Looks at the drive (n, ...) of the next read of these columns; `view` numbers the conductances it meets, 0: unknown.
  void look(std::uint64_t view, Columns columns, ConstMatrixRef<S> drive) {
    sign_ = 0;
    if (view == 0 || moves()) return;
    const bool same = view == view_ && columns.begin == columns_.begin && columns.count == columns_.count &&
                      drive.rows() == drive_.rows() && drive.cols() == drive_.cols();
    if (same && equals(S(1), drive)) sign_ = 1;
    if (same && sign_ == 0 && equals(S(-1), drive)) sign_ = -1;
    if (sign_ != 0) return;
    ++misses_;
    view_ = view;
    columns_ = columns;
    drive_ = drive;
    made_.assign(made_.size(), false);
  }
  /// True if the drive looked at has come before.
  bool repeated() const { return sign_ != 0; }
  /// Sign of the drive against the kept one: 1 or −1, 0 where it has not come before.
  int sign() const { return sign_; }
  /// Product k (rows, cols) of the drive that is kept, made by make(drive, product) once. Only if the drive has come before.
  template <class Make>
  const Matrix<S>& kept(std::size_t k, Index rows, Index cols, Make make) {
    if (products_.size() <= k) {
      products_.resize(k + 1);
      made_.resize(k + 1, false);
    }
    if (!made_[k]) {
      products_[k].resize(rows, cols);
      make(drive_, products_[k]);
      made_[k] = true;
    }
    return products_[k];
  }
  /// Product k of the drive, kept if the drive has come before and else made in `own`. Only for products that −x has as well.
  template <class Make>
  const Matrix<S>& even(std::size_t k, ConstMatrixRef<S> drive, Index rows, Index cols, Matrix<S>& own, Make make) {
    if (repeated()) return kept(k, rows, cols, make);
    own.resize(rows, cols);
    make(drive, own);
    return own;
  }
  void clear() {
    view_ = 0;
    sign_ = misses_ = 0;
  }

 private:
  /// True once three drives of an example were new: further ones are not compared.
  bool moves() const { return misses_ > 2; }
  bool equals(S sign, ConstMatrixRef<S> drive) const {
    for (Index n = 0; n < drive.rows(); ++n) {
      if ((drive.row(n).array() != sign * drive_.row(n).array()).any()) return false;
    }
    return true;
  }

  std::uint64_t view_ = 0;
  Columns columns_ = {};
  int sign_ = 0, misses_ = 0;
  Matrix<S> drive_;
  std::vector<Matrix<S>> products_;
  std::vector<bool> made_;
};

}  // namespace nudge
