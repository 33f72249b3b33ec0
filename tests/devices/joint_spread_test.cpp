// SPDX-License-Identifier: Apache-2.0
// Devices drawn from a joint distribution of their numbers.
#include <cmath>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/spreads.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// A covariance of six numbers with correlations of both signs: A Aᵀ of a triangle.
Eigen::MatrixXd some_covariance(Eigen::Index n) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k <= i; ++k)
      a(i, k) = (i == k ? 0.12 : 0.05 * ((i + k) % 2 == 0 ? 1 : -1)) * (i == 0 ? 0.5 : 1);
  }
  return a * a.transpose();
}

DeviceSpec joint(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  if (model != "soft_bounds") spec.shape = {{"gamma_up", 0.4}, {"gamma_down", 0.6}};
  spec.g_min_S = 4e-6;
  spec.g_max_S = 30e-6;
  spec.asymmetry = 0.2;
  const Eigen::MatrixXd c = some_covariance(joint_size(model));
  spec.joint_covariance.assign(c.data(), c.data() + c.size());
  return spec;
}

}  // namespace

TEST_CASE("joint spread: devices have the covariance that they are drawn with", "[devices]") {
  for (const std::string model : {"soft_bounds", "linear_step", "power_step"}) {
    CAPTURE(model);
    const DeviceSpec spec = joint(model);
    spec.validate();
    constexpr Index n = 40000;
    const DeviceArray<double> array(spec, 200, n / 200, {3, 1, 0}, 1);
    const DeviceCells<double>& cells = array.cells();
    const Eigen::Index size = joint_size(model);
    const bool linear = model == "linear_step";
    Eigen::MatrixXd u(n, size);
    for (Index i = 0; i < n; ++i) {
      const double upper = cells.upper.data()[i], share = cells.lower.data()[i] / upper;
      u.row(i).head(4) << std::log(upper), std::log(share / (1 - share)), std::log(cells.step_up.data()[i]),
          std::log(cells.step_down.data()[i]);
      if (size == 4) continue;
      const double up = cells.gamma_up.data()[i], down = cells.gamma_down.data()[i];
      u(i, 4) = linear ? std::log(up / (1 - up)) : std::log(up);
      u(i, 5) = linear ? std::log(down / (1 - down)) : std::log(down);
    }
    const Eigen::VectorXd mean = u.colwise().mean().transpose();
    const Eigen::MatrixXd off = u.rowwise() - mean.transpose();
    const Eigen::MatrixXd found = off.transpose() * off / (n - 1);
    const Eigen::MatrixXd made = some_covariance(size);
    const Eigen::VectorXd middle = joint_coordinates(spec);
    for (Eigen::Index i = 0; i < size; ++i) {
      CHECK(std::abs(mean[i] - middle[i]) < 4.5 * std::sqrt(made(i, i) / n));
      for (Eigen::Index k = 0; k < size; ++k) {
        // Wishart: the variance of a sample covariance is (c_ii c_kk + c_ik²)/n; 4.5 deviations are missed once in 10^5.
        const double error = std::sqrt((made(i, i) * made(k, k) + made(i, k) * made(i, k)) / n);
        CHECK(std::abs(found(i, k) - made(i, k)) < 4.5 * error);
      }
    }
  }
}

TEST_CASE("joint spread: none is the device itself, text keeps it, and what goes wrong is named", "[devices]") {
  DeviceSpec spec = joint("linear_step");
  const ConfigSchema schema{device_param_rows(), {}, {}};
  CHECK(device_spec(parse_config(schema, "joint", device_toml(spec), {})).joint_covariance == spec.joint_covariance);
  DeviceSpec none = spec, plain = spec;
  none.joint_covariance.assign(36, 0.0);
  plain.joint_covariance.clear();
  const DeviceArray<double> a(none, 2, 2, {}, 1), b(plain, 2, 2, {}, 1);
  // exp(ln x) is x within some units in the last place.
  CHECK(a.cells().upper.isApprox(b.cells().upper, 1e-14));
  CHECK(a.cells().lower.isApprox(b.cells().lower, 1e-14));
  CHECK(a.cells().step_down.isApprox(b.cells().step_down, 1e-14));

  const auto problem = [&](auto&& change) {
    DeviceSpec bad = spec;
    change(bad);
    try {
      bad.validate();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(problem([](DeviceSpec& s) { s.joint_covariance.resize(16); }), Contains("has 16 numbers (must be 36"));
  CHECK_THAT(problem([](DeviceSpec& s) { s.joint_covariance[1] += 0.01; }), Contains("must be symmetric"));
  CHECK_THAT(problem([](DeviceSpec& s) { s.joint_covariance[0] = -0.01; }), Contains("no negative eigenvalue"));
  CHECK_THAT(problem([](DeviceSpec& s) { s.step_spread = 0.1; }), Contains("both describe the spread of devices"));
  CHECK_THAT(problem([](DeviceSpec& s) { s.g_min_S = 0; }), Contains("device.g_min > 0"));
}
