// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/sparse_lu.hpp"

#include <utility>

namespace nudge {
namespace {

/// Copies by whole vectors; the copy constructor would move halves, and a later load would have to wait for them.
Lanes copied(const Lanes& from) {
  Lanes to;
  to = from;
  return to;
}

/// Subtracts x[row] −= column · factor for the entries [begin, end) of a column.
void subtract(const Lanes& factor, int begin, int end, const std::vector<Lanes>& column, const std::vector<int>& row,
              std::vector<Lanes>& x) {
  // Not looked up again for every entry, as the compiler would where a store may change them.
  const Lanes* const numbers = column.data();
  const int* const rows = row.data();
  Lanes* const to = x.data();
  for (int e = begin; e < end; ++e) to[rows[e]] -= numbers[e] * factor;
}

}  // namespace

LaneLu::LaneLu(SparseLu::Pivots pivots) : p_(std::move(pivots)) {
  const auto n = static_cast<std::size_t>(p_.size);
  const Lanes zero = Lanes::Zero();
  values_.assign(p_.entry.size(), zero);
  lower_.assign(p_.lower_row.size(), zero);
  upper_.assign(p_.upper_row.size(), zero);
  beside_.assign(p_.beside_row.size(), zero);
  for (std::vector<Lanes>* all : {&scale_, &diagonal_, &x_, &right_, &solved_}) all->assign(n, zero);
}

void LaneLu::set(int lane, const std::vector<double>& values) {
  for (std::size_t e = 0; e < values_.size(); ++e) values_[e][lane] = values[e];
}

unsigned LaneLu::factor() {
  // Rows in units of their largest entry, as KLU has them.
  for (Lanes& scale : scale_) scale.setZero();
  for (std::size_t e = 0; e < values_.size(); ++e) {
    Lanes& scale = scale_[p_.entry_row[e]];
    scale = scale.max(values_[p_.entry[e]].abs());
  }
  for (Lanes& scale : scale_) scale = 1 / scale;
  Lanes regular = Lanes::Constant(1);
  for (int k = 0; k < p_.size; ++k) {
    Lanes largest = Lanes::Zero(), grown = Lanes::Zero();
    int beside = p_.beside_begin[k];
    for (int e = p_.entry_begin[k]; e < p_.entry_begin[k + 1]; ++e) {
      const Lanes value = values_[p_.entry[e]] * scale_[p_.entry_row[e]];
      if (p_.entry_row[e] < p_.block_begin[k]) {
        beside_[beside++] = value;
      } else {
        x_[p_.entry_row[e]] = value;
        largest = largest.max(value.abs());
      }
    }
    for (int u = p_.upper_begin[k]; u < p_.upper_begin[k + 1]; ++u) {
      const int j = p_.upper_row[u];
      const Lanes factor = copied(x_[j]);
      upper_[u] = factor;
      grown = grown.max(factor.abs());
      x_[j].setZero();
      subtract(factor, p_.lower_begin[j], p_.lower_begin[j + 1], lower_, p_.lower_row, x_);
    }
    const Lanes pivot = copied(x_[k]);
    x_[k].setZero();
    diagonal_[k] = 1 / pivot;
    for (int l = p_.lower_begin[k]; l < p_.lower_begin[k + 1]; ++l) {
      Lanes& at = x_[p_.lower_row[l]];
      lower_[l] = at * diagonal_[k];
      at.setZero();
    }
    grown = grown.max(pivot.abs());
    // False of what is no number.
    regular = (pivot.abs() >= SparseLu::kLeastPivot && grown * SparseLu::kLeastGrowth <= largest).select(regular, 0.0);
  }
  unsigned good = 0;
  for (int lane = 0; lane < kLanes; ++lane) good |= (regular[lane] > 0 ? 1U : 0U) << static_cast<unsigned>(lane);
  return good;
}

void LaneLu::set_right(int lane, const std::vector<double>& b) {
  for (std::size_t k = 0; k < right_.size(); ++k) right_[k][lane] = scale_[k][lane] * b[p_.row[k]];
}

void LaneLu::solve() {
  for (int end = p_.size; end > 0;) {
    const int begin = p_.block_begin[end - 1];
    for (int k = begin; k < end; ++k) {
      const Lanes factor = copied(right_[k]);
      subtract(factor, p_.lower_begin[k], p_.lower_begin[k + 1], lower_, p_.lower_row, right_);
    }
    for (int k = end - 1; k >= begin; --k) {
      const Lanes factor = right_[k] * diagonal_[k];
      solved_[p_.column[k]] = factor;
      subtract(factor, p_.upper_begin[k], p_.upper_begin[k + 1], upper_, p_.upper_row, right_);
      subtract(factor, p_.beside_begin[k], p_.beside_begin[k + 1], beside_, p_.beside_row, right_);
    }
    end = begin;
  }
}

}  // namespace nudge
