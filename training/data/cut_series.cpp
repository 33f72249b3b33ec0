// SPDX-License-Identifier: Apache-2.0
#include "training/data/cut_series.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sim/base/errors.hpp"
#include "training/data/data_options.hpp"
#include "training/data/series.hpp"

namespace nudge {
namespace {

/// Steps of the training part, once the parts are set.
Index split_series(Index length, Index known, Index unknown, const DataOptions& data, CutSeries& cut) {
  const auto share = [&](double fraction) {
    return static_cast<Index>(std::llround(fraction * static_cast<double>(length)));
  };
  const Index test = share(data.test_fraction), validation = share(data.validation_fraction);
  const std::array<Index, 3> ends = {length - test - validation, length - test, length};
  const std::array<CutSeries::Starts*, 3> parts = {&cut.training, &cut.validation, &cut.test};
  Index begin = known;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    *parts[i] = {begin, ends[i] - begin - unknown + 1};
    begin = ends[i];
    if (parts[i]->count > 0 || (i == 2 && test == 0)) continue;
    constexpr std::array<const char*, 3> names = {"training", "validation", "test"};
    throw UserError(fmt::format(
        "the {} split of a series of {} steps is shorter than one window: {} known values and {} "
        "forecast values. Make windows shorter (series.patch, series.horizon, and model.tokens or data.frames), use a "
        "longer series, or change data.validation_fraction or data.test_fraction",
        names[i], length, known, unknown));
  }
  return ends[0];
}

}  // namespace

CutSeries cut_series(const Config& config, Index known, Index unknown) {
  const SeriesOptions options = series_options(config);
  const Matrix<double> values = read_series(options);
  CutSeries out;
  const Index standard = split_series(values.rows(), known, unknown, data_options(config), out);
  out.series.resize(values.rows(), values.cols());
  for (Index c = 0; c < values.cols(); ++c) {
    const auto part = values.col(c).head(standard).array();
    const double mean = part.mean(), deviation = std::sqrt((part - mean).square().mean());
    if (!(deviation > 1e-12 * std::abs(mean))) {
      throw UserError(
          fmt::format("series.file = \"{}\": column {} has one value, {}, in the whole training split: there is "
                      "nothing to forecast",
                      options.file, c + 1, mean));
    }
    out.series.col(c) = ((values.col(c).array() - mean) / deviation).cast<float>();
  }
  return out;
}

}  // namespace nudge
