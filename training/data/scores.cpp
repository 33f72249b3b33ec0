// SPDX-License-Identifier: Apache-2.0
#include "training/data/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/base/errors.hpp"
#include "sim/io/descriptor.hpp"
#include "training/data/item_columns.hpp"

namespace nudge {

template <class S>
int chosen_class(std::span<const S> logits) {
  int best = -1;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (std::isnan(logits[c])) return -1;
    if (best < 0 || logits[c] > logits[static_cast<std::size_t>(best)]) best = static_cast<int>(c);
  }
  return best;
}

template <class S>
void ConfusionMatrix::add(ConstMatrixRef<S> logits, std::span<const int> labels) {
  NUDGE_EXPECT(logits.cols() == classes() && logits.rows() == static_cast<Index>(labels.size()));
  for (Index i = 0; i < logits.rows(); ++i) {
    const int truth = labels[static_cast<std::size_t>(i)];
    NUDGE_EXPECT(truth >= 0 && truth < classes());
    const int choice = chosen_class<S>({logits.data() + i * logits.outerStride(), static_cast<std::size_t>(classes())});
    if (choice < 0) {
      ++undecided_;
    } else {
      ++counts_(truth, choice);
    }
  }
}

void ConfusionMatrix::add(const ConfusionMatrix& other) {
  NUDGE_EXPECT(other.classes() == classes());
  counts_ += other.counts_;
  undecided_ += other.undecided_;
}

double ConfusionMatrix::accuracy() const {
  return samples() > 0 ? static_cast<double>(correct()) / static_cast<double>(samples()) : 0.0;
}

double ConfusionMatrix::macro_accuracy() const {
  double shares = 0, occurring = 0;
  for (Index c = 0; c < classes(); ++c) {
    const std::int64_t asked = counts_.row(c).sum();
    if (asked == 0) continue;
    shares += static_cast<double>(counts_(c, c)) / static_cast<double>(asked);
    occurring += 1;
  }
  return occurring > 0 ? shares / occurring : 0;
}

void ConfusionMatrix::write(const std::string& path, H5Document& document) const {
  document.dataset(path, std::vector<std::int64_t>(counts_.data(), counts_.data() + counts_.size()),
                   {classes(), classes()},
                   {"1", "samples of class t that were predicted as class p", {"truth", "choice"}});
  document.attribute("undecided", undecided_, path);
}

std::optional<ConfusionMatrix> ConfusionMatrix::read(const std::string& path, const H5Reader& file) {
  if (!file.has(path)) return std::nullopt;
  const H5Shape shape = file.shape(path);
  if (shape.size() != 2 || shape[0] != shape[1]) file.fail(path, "a square matrix expected, found " + to_string(shape));
  const std::vector<std::int64_t> counts = file.integers(path);
  ConfusionMatrix out(shape[0]);
  std::copy(counts.begin(), counts.end(), out.counts_.data());
  out.undecided_ = file.integer_attribute("undecided", path);
  return out;
}

template int chosen_class(std::span<const float>);
template int chosen_class(std::span<const double>);
template void ConfusionMatrix::add<float>(ConstMatrixRef<float>, std::span<const int>);
template void ConfusionMatrix::add<double>(ConstMatrixRef<double>, std::span<const int>);

const ReferenceScore* ReferenceScores::find(const std::string& model, const std::string& split) const {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const ReferenceScore& row) { return row.model == model && row.split == split; });
  return found == rows.end() ? nullptr : &*found;
}

ReferenceScores mean_of(const std::vector<ReferenceScores>& splits) {
  NUDGE_EXPECT(!splits.empty());
  ReferenceScores out = splits.front();
  out.splits = static_cast<std::int64_t>(splits.size());
  for (std::size_t i = 1; i < splits.size(); ++i) {
    out.samples = std::min(out.samples, splits[i].samples);
    out.above_minimum = std::max(out.above_minimum, splits[i].above_minimum);
    if (out.note.empty()) out.note = splits[i].note;
    out.seconds += splits[i].seconds;
  }
  std::vector<ReferenceScore> rows;
  for (ReferenceScore row : out.rows) {
    row.loss = row.score = 0;
    bool everywhere = true;
    for (const ReferenceScores& one : splits) {
      const ReferenceScore* const own = one.find(row.model, row.split);
      everywhere = everywhere && own != nullptr;
      if (own == nullptr) continue;
      row.loss += own->loss / static_cast<double>(splits.size());
      row.score += own->score / static_cast<double>(splits.size());
    }
    if (everywhere) rows.push_back(row);
  }
  out.rows = std::move(rows);
  return out;
}

void write_reference_scores(const ReferenceScores& scores, H5Document& document) {
  document.group("reference", "scores of trivial models on the held-out samples");
  ItemColumns<ReferenceScore> rows(document, scores.rows, "reference", "row");
  rows.add("model", "trivial model", &ReferenceScore::model);
  rows.add("split", "held-out split of the samples", &ReferenceScore::split);
  rows.add("loss", "mean cost of a sample", &ReferenceScore::loss, scores.loss_unit);
  rows.add("score", "the metric of the group's attribute", &ReferenceScore::score);
  document.attribute("metric", scores.metric, "reference");
  document.attribute("ridge", scores.ridge, "reference");
  document.attribute("samples", scores.samples, "reference");
  document.attribute("of_samples", scores.of_samples, "reference");
  document.attribute("above_minimum", scores.above_minimum, "reference");
  document.attribute("note", scores.note, "reference");
  document.attribute("splits", scores.splits, "reference");
  document.attribute("wall_time_s", scores.seconds, "reference");
}

std::optional<ReferenceScores> read_reference_scores(const H5Reader& file) {
  if (!file.has("reference/model")) return std::nullopt;
  const auto models = file.texts("reference/model", H5Shape{-1});
  const H5Shape shape{static_cast<Index>(models.size())};
  const auto splits = file.texts("reference/split", shape);
  const auto losses = file.reals<double>("reference/loss", shape);
  const auto values = file.reals<double>("reference/score", shape);
  ReferenceScores scores{file.text_attribute("metric", "reference"),
                         file.meaning("reference/loss").unit,
                         {},
                         file.real_attribute("ridge", "reference")};
  if (file.has_attribute("wall_time_s", "reference")) {  // files of earlier versions have less to say
    scores.samples = file.integer_attribute("samples", "reference");
    scores.of_samples = file.integer_attribute("of_samples", "reference");
    scores.above_minimum = file.real_attribute("above_minimum", "reference");
    scores.note = file.text_attribute("note", "reference");
    scores.seconds = file.real_attribute("wall_time_s", "reference");
  }
  if (file.has_attribute("splits", "reference")) scores.splits = file.integer_attribute("splits", "reference");
  for (std::size_t i = 0; i < models.size(); ++i) {
    scores.rows.push_back({models[i], splits[i], losses[i], values[i]});
  }
  return scores;
}

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
  return value == nullptr ? "" : value;
}

/// Makes a file name from the key.
std::string file_name(const std::string& key) {
  return fmt::format("references-{:016x}.h5", fnv_1a(std::as_bytes(std::span(key))));
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
