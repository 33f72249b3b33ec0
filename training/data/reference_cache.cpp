// SPDX-License-Identifier: Apache-2.0
#include "training/data/scores.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
  return value == nullptr ? "" : value;
}

/// Makes a file name from the key: 64-bit FNV-1a.
std::string file_name(const std::string& key) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("references-{:016x}.h5", hash);
}

bool can_be(const ReferenceScores& scores, std::int64_t samples) {
  for (const ReferenceScore& row : scores.rows) {
    if (!std::isfinite(row.loss) || !std::isfinite(row.score) || row.score < 0) return false;
    if (scores.metric == "accuracy" && row.score > 1) return false;
    if (row.split != "validation" && row.split != "test") return false;
  }
  const bool fitted = scores.find("linear", "validation") != nullptr;
  return scores.samples >= 0 && scores.samples <= samples && (scores.samples > 0) == fitted &&
         scores.above_minimum >= 0;
}

std::optional<ReferenceScores> kept(const fs::path& path, const std::string& key, std::int64_t samples) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    const H5Reader file(path);
    if (file.text_attribute("kind") != "references" || file.text_attribute("key") != key) return std::nullopt;
    auto scores = read_reference_scores(file);
    return scores && can_be(*scores, samples) ? scores : std::nullopt;
  } catch (const UserError&) {  // damaged
    return std::nullopt;
  }
}

void keep(const fs::path& path, const std::string& key, const ReferenceScores& scores) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  H5Document document;
  document.attribute("kind", std::string("references"));
  document.attribute("key", key);
  write_reference_scores(scores, document);
  try {
    document.write(path, Overwrite::replace);
  } catch (const UserError&) {  // a disk that is full or read-only is no reason to fail
  }
}

}  // namespace

std::optional<fs::path> cache_folder() {
  if (const std::string own = environment("NUDGE_CACHE"); !own.empty()) {
    return own == "off" ? std::nullopt : std::optional<fs::path>(own);
  }
  if (const std::string all = environment("XDG_CACHE_HOME"); !all.empty()) return fs::path(all) / "nudge";
  if (const std::string home = environment("HOME"); !home.empty()) return fs::path(home) / ".cache" / "nudge";
  return std::nullopt;
}

ReferenceScores cached_references(const std::string& key, std::int64_t samples,
                                  const std::function<ReferenceScores()>& compute) {
  const std::optional<fs::path> folder = cache_folder();
  if (!folder) return compute();
  const fs::path path = *folder / file_name(key);
  if (auto found = kept(path, key, samples)) return *found;
  const ReferenceScores scores = compute();
  keep(path, key, scores);
  return scores;
}

}  // namespace nudge
