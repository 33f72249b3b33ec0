// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Mask of the keys (columns) that each query (row) attends to; every row attends to at least one. Cheap to copy.
class Mask {
 public:
  /// Mask of keys up to and including the query's own position; needs n ≥ 1.
  static Mask causal(Index n);
  static Mask full(Index queries, Index keys);
  /// Mask of the `window` keys up to and including the query's own position; UserError for window < 1.
  static Mask causal_window(Index n, Index window);
  /// Mask from bytes, row-major, non-zero = attended; UserError naming a row that attends to nothing.
  static Mask from_bytes(Index queries, Index keys, std::vector<std::uint8_t> attended);

  Index queries() const { return queries_; }
  Index keys() const { return keys_; }

  /// Run of keys from the first to the last that a query attends to.
  struct Run {
    Index begin = 0;
    Index count = 0;
    bool whole = true;  ///< true if it attends to all keys of the run
  };
  const Run& run(Index query) const { return attended_->runs[static_cast<std::size_t>(query)]; }
  /// True if the query attends to the key.
  bool operator()(Index query, Index key) const {
    const Run& r = run(query);
    return key >= r.begin && key < r.begin + r.count && (r.whole || row(query)[key] != 0);
  }
  /// Bytes, one per key, of a query whose run is not whole.
  const std::uint8_t* row(Index query) const { return attended_->bytes.data() + query * keys_; }
  /// True if the mask equals causal().
  bool is_causal() const;

 private:
  /// Runs, one per query: causal, windowed and full masks take no more, so that long sequences can have one.
  struct Attended {
    std::vector<Run> runs;
    std::vector<std::uint8_t> bytes;
  };
  Mask(Index queries, Index keys, std::vector<Run> runs, std::vector<std::uint8_t> bytes)
      : queries_(queries),
        keys_(keys),
        attended_(std::make_shared<const Attended>(Attended{std::move(runs), std::move(bytes)})) {}

  Index queries_;
  Index keys_;
  std::shared_ptr<const Attended> attended_;
};

}  // namespace nudge
