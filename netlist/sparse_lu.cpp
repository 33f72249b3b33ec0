// SPDX-License-Identifier: Apache-2.0
#include "netlist/sparse_lu.hpp"

#include <fmt/format.h>
#include <klu.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/out_of_memory.hpp"

namespace nudge {
namespace {

/// Takes the strict triangle of `size` columns out of begin and rows, which hold the diagonal too; rows become ascending.
void take_strict(int size, const std::vector<int>& begin, const std::vector<int>& rows, std::vector<int>& strict_begin,
                 std::vector<int>& strict_rows) {
  strict_begin.assign(1, 0);
  for (int k = 0; k < size; ++k) {
    const auto from = strict_rows.size();
    for (int p = begin[static_cast<std::size_t>(k)]; p < begin[static_cast<std::size_t>(k) + 1]; ++p)
      if (rows[static_cast<std::size_t>(p)] != k) strict_rows.push_back(rows[static_cast<std::size_t>(p)]);
    std::sort(strict_rows.begin() + static_cast<std::ptrdiff_t>(from), strict_rows.end());
    strict_begin.push_back(static_cast<int>(strict_rows.size()));
  }
}

/// Contract on KLU's solve: it fails only without factors, which are ours to provide, and takes no memory.
void expect_solved([[maybe_unused]] int done) { NUDGE_EXPECT(done != 0); }

/// Throws OutOfMemory for what KLU could not do for lack of memory or of integers; a singular matrix is no such case.
void expect_room(const klu_common& common, const char* what, const SparsePattern& pattern) {
  const std::string size = fmt::format("{} of {} unknowns with {} entries", what, pattern.size, pattern.entries());
  if (common.status == KLU_OUT_OF_MEMORY) throw OutOfMemory("KLU has no memory for " + size);
  if (common.status == KLU_TOO_LARGE)
    throw UserError(size + ": larger than KLU's integers of 32 bits. Make the circuit smaller");
}

}  // namespace

struct SparseLu::Ordering {
  SparsePattern pattern;
  klu_symbolic* symbolic = nullptr;

  explicit Ordering(const SparsePattern& of) : pattern(of) {
    klu_common common;
    klu_defaults(&common);
    symbolic = klu_analyze(pattern.size, pattern.column_begin.data(), pattern.row.data(), &common);
    expect_room(common, "an order", pattern);
  }
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;
  ~Ordering() {
    klu_common common;
    klu_defaults(&common);
    klu_free_symbolic(&symbolic, &common);
  }
  // KLU takes pointers to what it does not write.
  int* columns() const { return const_cast<int*>(pattern.column_begin.data()); }
  int* rows() const { return const_cast<int*>(pattern.row.data()); }
};

struct SparseLu::Factors {
  klu_common common;
  klu_numeric* fixed = nullptr;  ///< factors with the chosen pivots
  klu_numeric* own = nullptr;    ///< factors of values for which the chosen pivots are poor
  std::vector<double> last;      ///< values that factor() took last; empty: none
  bool coarse = false;           ///< some pivots are below kLeastPivot
  const Ordering* ordering;

  explicit Factors(const Ordering* of) : ordering(of) { klu_defaults(&common); }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;
  ~Factors() {
    klu_free_numeric(&fixed, &common);
    klu_free_numeric(&own, &common);
  }
  klu_numeric* made(const std::vector<double>& values) {
    klu_numeric* numeric = klu_factor(ordering->columns(), ordering->rows(), const_cast<double*>(values.data()),
                                      ordering->symbolic, &common);
    expect_room(common, "the factors", ordering->pattern);
    return numeric;
  }
  klu_numeric* present() { return own != nullptr ? own : fixed; }
  /// Column whose pivot is nothing but rounding; −1: none. Of a pivot the column's entries of U are taken one by one, each with a
  /// rounding of half an epsilon of the row: at twice their sum a step leaves less than half of an error.
  int column_without_pivot(bool refined) {
    const auto* pivots = static_cast<const double*>(present()->Udiag);
    const klu_symbolic& of = *ordering->symbolic;
    coarse = false;
    for (int block = 0; block < of.nblocks; ++block) {
      const bool alone = of.R[block + 1] - of.R[block] == 1;  // KLU leaves Ulen of such a column unset
      for (int k = of.R[block]; k < of.R[block + 1]; ++k) {
        if (std::abs(pivots[k]) >= kLeastPivot) continue;
        const double rounding = ((alone ? 0 : present()->Ulen[k]) + 2) * std::numeric_limits<double>::epsilon();
        if (!refined || !(std::abs(pivots[k]) >= rounding)) return of.Q[k];
        coarse = true;
      }
    }
    return -1;
  }
  bool regular(const std::vector<double>& values, int& singular, bool refined) {
    singular = column_without_pivot(refined);
    if (singular < 0) last = values;
    return singular < 0;
  }
};

SparseLu::SparseLu(const SparsePattern& pattern)
    : ordering_(std::make_shared<const Ordering>(pattern)), factors_(std::make_unique<Factors>(ordering_.get())) {}

SparseLu::SparseLu(const SparseLu& other)
    : ordering_(other.ordering_), factors_(std::make_unique<Factors>(ordering_.get())) {}

SparseLu::~SparseLu() = default;

bool SparseLu::choose_pivots(const std::vector<double>& values) {
  NUDGE_EXPECT(values.size() == ordering_->pattern.entries());
  Factors& f = *factors_;
  klu_free_numeric(&f.fixed, &f.common);
  klu_free_numeric(&f.own, &f.common);
  f.last.clear();
  singular_ = -1;
  if (ordering_->symbolic == nullptr) return false;  // singular whatever the values are
  f.fixed = f.made(values);
  if (f.fixed != nullptr && f.common.status == KLU_OK) return true;
  singular_ = f.common.singular_col < ordering_->pattern.size ? f.common.singular_col : -1;
  klu_free_numeric(&f.fixed, &f.common);
  return false;
}

SparseLu::Pivots SparseLu::pivots() const {
  Pivots p;
  const Ordering& o = *ordering_;
  klu_numeric* fixed = factors_->fixed;
  if (fixed == nullptr) return p;
  p.size = o.pattern.size;
  const auto n = static_cast<std::size_t>(p.size);
  std::vector<int> lower_begin(n + 1), lower(static_cast<std::size_t>(fixed->lnz)), upper_begin(n + 1),
      upper(static_cast<std::size_t>(fixed->unz)), blocks(static_cast<std::size_t>(o.symbolic->nblocks) + 1);
  // Without a place for its numbers no pattern is given.
  std::vector<double> numbers(std::max(lower.size(), upper.size()));
  p.row.resize(n);
  p.column.resize(n);
  [[maybe_unused]] const int extracted =
      klu_extract(fixed, o.symbolic, lower_begin.data(), lower.data(), numbers.data(), upper_begin.data(), upper.data(),
                  numbers.data(), nullptr, nullptr, nullptr, p.row.data(), p.column.data(), nullptr, blocks.data(),
                  &factors_->common);
  expect_room(factors_->common, "a copy of the factors", o.pattern);
  NUDGE_EXPECT(extracted != 0);
  take_strict(p.size, lower_begin, lower, p.lower_begin, p.lower_row);
  take_strict(p.size, upper_begin, upper, p.upper_begin, p.upper_row);
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b)
    p.block_begin.insert(p.block_begin.end(), static_cast<std::size_t>(blocks[b + 1] - blocks[b]), blocks[b]);
  std::vector<int> place(n);
  for (int k = 0; k < p.size; ++k) place[static_cast<std::size_t>(p.row[static_cast<std::size_t>(k)])] = k;
  p.beside_begin = p.entry_begin = {0};
  for (std::size_t k = 0; k < n; ++k) {
    const auto column = static_cast<std::size_t>(p.column[k]);
    for (int e = o.pattern.column_begin[column]; e < o.pattern.column_begin[column + 1]; ++e) {
      const int row = place[static_cast<std::size_t>(o.pattern.row[static_cast<std::size_t>(e)])];
      p.entry.push_back(e);
      p.entry_row.push_back(row);
      if (row < p.block_begin[k]) p.beside_row.push_back(row);
    }
    p.beside_begin.push_back(static_cast<int>(p.beside_row.size()));
    p.entry_begin.push_back(static_cast<int>(p.entry.size()));
  }
  return p;
}

bool SparseLu::coarse() const { return factors_->coarse; }

bool SparseLu::factor(const std::vector<double>& values, bool refined) {
  Factors& f = *factors_;
  NUDGE_EXPECT(values.size() == ordering_->pattern.entries());
  if (f.present() != nullptr && values == f.last && (refined || !f.coarse)) return true;
  klu_free_numeric(&f.own, &f.common);
  f.last.clear();
  singular_ = -1;
  auto* numbers = const_cast<double*>(values.data());
  int *columns = ordering_->columns(), *rows = ordering_->rows();
  klu_symbolic* symbolic = ordering_->symbolic;
  if (symbolic == nullptr) return false;
  if (f.fixed != nullptr && klu_refactor(columns, rows, numbers, symbolic, f.fixed, &f.common) != 0 &&
      f.common.status == KLU_OK && klu_rgrowth(columns, rows, numbers, symbolic, f.fixed, &f.common) != 0 &&
      f.common.rgrowth >= kLeastGrowth && f.regular(values, singular_, false)) {
    return true;
  }
  f.own = f.made(values);
  if (f.own != nullptr && f.common.status == KLU_OK) return f.regular(values, singular_, refined);
  singular_ = f.common.singular_col < ordering_->pattern.size ? f.common.singular_col : -1;
  klu_free_numeric(&f.own, &f.common);
  return false;
}

void SparseLu::solve(double* b) {
  NUDGE_EXPECT(factors_->present() != nullptr);
  expect_solved(klu_solve(ordering_->symbolic, factors_->present(), ordering_->pattern.size, 1, b, &factors_->common));
}

void SparseLu::solve_transposed(double* b) {
  NUDGE_EXPECT(factors_->present() != nullptr);
  expect_solved(klu_tsolve(ordering_->symbolic, factors_->present(), ordering_->pattern.size, 1, b, &factors_->common));
}

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
