// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/synthetic_runs.hpp"

#include <cmath>
#include <limits>

#include "sim/base/rng.hpp"
#include "sim/io/run_record.hpp"

namespace nudge::test {

namespace {

std::vector<double> noise(std::size_t n, std::uint32_t trainee) {
  std::vector<double> out(n);
  fill_normal<double>({7, Purpose::synthetic_data, 0}, 0, trainee, out);
  return out;
}

void add_trainee(H5Document& file, const std::string& prefix, const std::string& estimator, int steps, double floor) {
  const auto n = static_cast<std::size_t>(steps);
  const auto trainee = static_cast<std::uint32_t>(floor * 100);
  const std::vector<double> jitter = noise(n, trainee), wobble = noise(n, trainee + 1);
  std::vector<std::int64_t> step(n), used(n), skipped(n, 0), nonfinite(n, 0);
  std::vector<double> loss(n), residual(n), nudged(n), damping(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / 150;
    step[i] = static_cast<std::int64_t>(i + 1);
    loss[i] = floor + (4.17 - floor) * std::exp(-t) + 0.05 * jitter[i];
    residual[i] = 1e-5 * std::exp(0.5 * wobble[i] + 3 * std::exp(-std::pow(t - 1.2, 2) * 20));
    nudged[i] = 3e-7 * std::exp(0.3 * jitter[i]);
    damping[i] = 0.3 + (t > 1.2 ? 0.4 * std::exp(-(t - 1.2)) : 0);
    used[i] = 18 + static_cast<std::int64_t>(4 * std::abs(wobble[i]));
  }
  skipped[n / 3] = 1;
  nonfinite[n / 2] = 1;
  loss[n / 2] = std::nan("");
  file.column(prefix + "train/step", step, {"1", "number of the step", {"step"}});
  file.column(prefix + "train/loss", loss, {"nat", "training loss", {"step"}});
  file.column(prefix + "train/residual", residual, {"1", "free residual", {"step"}});
  file.column(prefix + "train/nudged_residual", nudged, {"1", "nudged residual", {"step"}});
  file.column(prefix + "train/damping", damping, {"1", "damping c", {"step"}});
  file.column(prefix + "train/steps_used", used, {"1", "steps", {"step"}});
  file.column(prefix + "train/skipped", skipped, {"1", "skipped", {"step"}});
  file.column(prefix + "train/nonfinite", nonfinite, {"1", "rolled back", {"step"}});
  std::vector<std::int64_t> at;
  std::vector<double> validation;
  for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, n / 12)) {
    at.push_back(step[i]);
    validation.push_back(floor + 0.04 + (4.17 - floor) * std::exp(-static_cast<double>(i) / 150));
  }
  file.column(prefix + "train/validation_step", at, {"1", "steps", {"evaluation"}});
  file.column(prefix + "train/validation_loss", validation, {"nat", "validation loss", {"evaluation"}});
  file.attribute("estimator", estimator, prefix + "train");
  file.column(prefix + "events/step", std::vector<std::int64_t>{180, 200}, {});
  file.column(
      prefix + "events/text",
      std::vector<std::string>{"damping raised from 0.3 to 0.7: residual 2e-4 > 1e-4", "outlier <step> & \"skipped\""},
      {});
}

}  // namespace

H5Document synthetic_training(int steps, bool beside) {
  H5Document file;
  add_run_record(
      file, {"train",
             "seed = 7\nprecision = \"float\"\nestimator = \"aep_anchored\"\nbeta = 1e-4\n\n[model]\nchannels = 128\n"
             "tokens = 64\nmemories = 512\nheads = 4\n\n[train]\nsteps = 600\nbatch = 32\n",
             7, "float", 2, "2025-01-31T12:34:56Z", 148.25});
  add_trainee(file, "", "aep_anchored", steps, 2.19);
  const std::vector<std::string> groups{"tok", "pos", "Wq", "Wk", "Wv", "Wo", "Wm", "Wh"};
  Matrix<double> cosine(8, 8);
  const std::vector<double> jitter = noise(64, 9);
  for (Index i = 0; i < 64; ++i) {
    cosine.data()[i] =
        1 - 2e-4 * std::pow(3.0, static_cast<double>(i % 8) / 2) * std::exp(0.5 * jitter[static_cast<std::size_t>(i)]);
  }
  std::vector<std::int64_t> at;
  for (int i = 0; i < 8; ++i) at.push_back(1 + i * steps / 8);
  file.column("train/cosine_step", at, {});
  file.column("train/cosine_groups", groups, {});
  file.matrix<double>("train/cosine", cosine, {"1", "cosine with the exact adjoint", {"comparison", "group"}});
  file.dataset("parameters/Wm", std::vector<float>(12, 0.5f), {3, 4}, {"1", "memories", {"C", "M"}});
  if (beside) add_trainee(file, "beside/", "backprop", steps, 2.23);
  return file;
}

H5Document synthetic_gradcheck() {
  H5Document file;
  add_run_record(file, {"gradcheck", "seed = 3\n", 3, "double", 2, "2025-01-31T12:34:56Z", 9.5});
  std::vector<std::string> estimator, group;
  std::vector<double> cosine, error, sign, cost;
  const std::vector<std::pair<std::string, double>> estimators{
      {"ep_one_sided", 0.3}, {"aep_frozen", 2e-2}, {"aep_anchored", 1e-6}, {"aep_transposed", 3e-7}, {"backprop", 0}};
  const std::vector<std::string> groups{"tok", "pos", "Wq", "Wk", "Wv", "Wo", "Wm", "Wh"};
  for (const auto& [name, angle] : estimators) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      estimator.push_back(name);
      group.push_back(groups[g]);
      const bool exact = groups[g] == "Wh";
      cosine.push_back(exact ? 1 : 1 - angle * (1 + 0.3 * static_cast<double>(g)));
      error.push_back(exact ? 0 : std::sqrt(2 * angle));
      sign.push_back(1 - 0.1 * angle);
      cost.push_back(120);
    }
  }
  file.column("rows/estimator", estimator, {});
  file.column("rows/group", group, {});
  file.column("rows/cosine", cosine, {});
  file.column("rows/relative_l2", error, {});
  file.column("rows/sign_agreement", sign, {});
  file.column("rows/force_evaluations", cost, {});
  return file;
}

H5Document synthetic_sweep(bool second_key) {
  H5Document file;
  add_run_record(file, {"sweep", "seed = 1\n[sweep]\nkeys = [\"devices.read_noise\"]\n", 1, "float", 2,
                        "2025-01-31T12:34:56Z", 300});
  std::vector<double> value, loss, cosine;
  std::vector<std::int64_t> seed;
  std::vector<std::string> status, estimator;
  const std::vector<double> jitter = noise(200, 5);
  for (const std::string name : {"aep_anchored", "aep_transposed"}) {
    if (!second_key && name == "aep_transposed") continue;
    for (const double v : {0.0, 1e-4, 1e-3, 3e-3, 1e-2, 1e-1}) {
      for (int s = 1; s <= 3; ++s) {
        const double e = jitter[value.size()], weight = name == "aep_anchored" ? 20 : 4;
        const bool failed = v == 1e-1 && s == 3;
        value.push_back(v);
        seed.push_back(s);
        estimator.push_back(name);
        loss.push_back(failed ? std::nan("") : 2.2 + weight * v * (1 + 0.2 * e) + 0.02 * e);
        cosine.push_back(failed ? std::nan("") : 1 / (1 + weight * v) + 0.005 * e);
        status.push_back(failed ? "stopped: 12 non-finite steps in a row" : "ok");
      }
    }
  }
  file.column("points/devices.read_noise", value, {});
  file.column("points/seed", seed, {});
  file.column("points/final_loss", loss, {"nat", "", {}});
  file.column("points/cosine", cosine, {});
  file.column("points/status", status, {});
  if (second_key) file.column("points/estimator", estimator, {});
  file.attribute("keys", second_key ? "devices.read_noise, estimator" : "devices.read_noise", "points");
  return file;
}

}  // namespace nudge::test
