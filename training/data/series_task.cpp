// SPDX-License-Identifier: Apache-2.0
// Windows of a series as samples: their known values come in frames, and the next ones are asked for.
#include "training/data/cut_series.hpp"
#include "training/data/data_options.hpp"
#include "training/data/sample_task.hpp"
#include "training/data/series.hpp"

namespace nudge {
namespace {

/// All windows of a part, each variable in turn, relative to their last known value.
Samples windows(const CutSeries& cut, const CutSeries::Starts& part, Index known, Index unknown) {
  const Index variables = cut.series.cols(), count = std::max<Index>(part.count, 0) * variables;
  Samples out{Matrix<float>(count, known), {}, Matrix<float>(count, unknown)};
  for (Index n = 0; n < count; ++n) {
    const Index at = part.begin + n / variables;
    const auto column = cut.series.col(n % variables);
    const float last = column(at - 1);
    out.features.row(n) = column.segment(at - known, known).transpose().array() - last;
    out.values.row(n) = column.segment(at, unknown).transpose().array() - last;
  }
  return out;
}

SampleParts series_parts(const Config& config) {
  const SeriesOptions options = series_options(config);
  const Index known = data_options(config).frames * options.patch, unknown = options.horizon * options.patch;
  const CutSeries cut = cut_series(config, known, unknown);
  SampleParts parts;
  parts.training = windows(cut, cut.training, known, unknown);
  parts.validation = windows(cut, cut.validation, known, unknown);
  parts.test = windows(cut, cut.test, known, unknown);
  parts.shape = {known};
  parts.scaling = FeatureScaling(known);
  parts.value_scaling = FeatureScaling(unknown);
  return parts;
}

class SeriesTask final : public SampleTask {
 public:
  explicit SeriesTask(const Config& config) : SampleTask(config, series_parts(config)) {}
  std::optional<ReferenceScores> references(const ReferenceRequest& request) const override {
    return scores(request, parts().training.values.cols(), regression_references);
  }
};

}  // namespace

std::unique_ptr<Task> series_task(const Config& config) { return std::make_unique<SeriesTask>(config); }

void check_series_task(const Config& config) {
  const SeriesOptions options = series_options(config);
  expect_beside("series.columns", options.columns, "series.file", options.file);
}

}  // namespace nudge
