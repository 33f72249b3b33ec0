// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/config/section.hpp"
#include "training/data/task.hpp"

namespace nudge {

/// Options of the section [series].
struct SeriesOptions {
  std::string file;     ///< file of the series; empty: generated, of `kind`
  std::string columns;  ///< names of its columns, "a,b"; empty: all
  std::string kind;     ///< kind of the generated series, of series_names()
  Index length = {};
  std::uint64_t seed = {};
  Index patch = {}, horizon = {};  ///< P values to a row or frame, and number of rows to forecast
};
const Section<SeriesOptions>& series_section();
inline SeriesOptions series_options(const Config& config) { return series_section().read(config); }

/// Names of the generated series: seasonal and mackey_glass.
std::vector<std::string> series_names();

/// Series of Mackey and Glass, Science 197:287 (1977), with the constants at which it is chaotic and which forecasts
/// use:
///     dx/dt = 0.2 x(t − 17)/(1 + x(t − 17)^10) − 0.1 x,  x(t) = history for t ≤ 0
/// at t = 0, 1, ..., by Heun's method with `steps` steps per unit of time (second order, the delay lies on its grid).
std::vector<double> mackey_glass(double history, Index length, int steps);

/// Series of hours with a day's and a week's course and correlated noise:
///     x_t = sin(2π t/24) + ½ sin(2π t/168) + n_t,   n_t = φ n_{t−1} + σ ε_t
/// with φ = 0.7, σ = 0.3, n from its stationary law. A forecast h steps ahead that knows all this has the error
/// variance seasonal_floor(h).
std::vector<double> seasonal(Index length, std::uint64_t seed);
double seasonal_floor(Index ahead);

/// Reads a series (length, variables): the columns of the file (CSV, or npy), or one generated series. UserError for a
/// file that lacks its part.
Matrix<double> read_series(const SeriesOptions& options);

/// Task forecasting: an example is a window of model.tokens patches of series.patch values of one variable; the last
/// series.horizon patches are unknown. Variables are standardised by their training split. A window is taken relative to
/// the last known value (Zeng et al., "Are transformers effective for time series forecasting?", NLinear,
/// arXiv:2205.13504):
///     row t of the features   x_{tP}, ..., x_{tP+P−1} less that value, and 0; of an unknown patch zeros, and 1
///     row t of the values     the same of an unknown patch; other rows do not count
/// The parts follow one another in time: training, validation, test. A forecast belongs to the part that holds its
/// values; its known values may reach into the part before, as is customary.
std::unique_ptr<Task> forecasting_task(const Config& config);

/// Task series, for networks of samples: a sample is a window of one variable, data.frames frames of series.patch known values. The values
/// of the next series.horizon patches are asked for. Parts, scaling and the value that a window is relative to are as in forecasting.
std::unique_ptr<Task> series_task(const Config& config);
void check_series_task(const Config& config);

/// Throws UserError where no row of a window is known.
void check_forecasting_task(const Config& config);

}  // namespace nudge
