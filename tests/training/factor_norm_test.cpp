// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/learning/factor_products.hpp"

#include <cmath>
#include <span>

#include "sim/base/rng.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Settings = std::vector<std::string>;

/// A model that trains a step in about a millisecond.
Config tiny_config(const Settings& settings) {
  return parse_program_config("tiny.toml",
                              "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
                              "[train]\nsteps = 12\nbatch = 3\nwarmup = 5\nevaluate_every = 0\nevaluation_batches = 2\n"
                              "test_batches = 3\n[relaxation]\nfree_steps = 8\nnudged_steps = 8\n",
                              settings);
}

}  // namespace

TEST_CASE("the norm of a gradient includes what arrays hold as factors") {
  // Coincidence trains get the factors of the gradient and never its sum; pulses in place get the sum. Same seed, no noise in
  // the reads: the same gradient at the first step. Float sums in another order: 1e-5. Without the factors the norm would
  // be that of the embeddings alone.
  const TemporaryDirectory dir;
  const Settings settings{"device.model=soft_bounds", "device.read_noise=0", "train.steps=1",
                          "train.optimizer=sgd",      "train.momentum=0",    "train.gradient_clip=0"};
  const auto norm = [&](const std::string& update) {
    Settings own = settings;
    own.push_back("crossbar.update=" + update);
    const auto path = dir / (update + ".h5");
    train(tiny_config(own), path);
    return H5Reader(path).reals<double>("train/gradient_norm").front();
  };
  CHECK(norm("coincidence") == Approx(norm("pulses")).epsilon(1e-5));
}

TEST_CASE("factors have the norm of their sum") {
  // By Gram matrices: |sum x_k' y_k|^2 = sum_kl <x_k, x_l> <y_k, y_l>.
  std::vector<FactorPair<double>> factors;
  Matrix<double> whole_x(7, 5), whole_y(7, 6);
  fill_normal<double>({3, Purpose::synthetic_data, 0}, 0, 0, std::span(whole_x.data(), 35));
  fill_normal<double>({3, Purpose::synthetic_data, 1}, 0, 0, std::span(whole_y.data(), 42));
  factors.push_back({{2, 6}, 1.0, whole_x.topRows(4), whole_y.topRows(4)});
  factors.push_back({{2, 6}, -0.5, whole_x.bottomRows(3), whole_y.bottomRows(3)});
  whole_y.bottomRows(3) *= -0.5;
  const double gram = ((whole_x * whole_x.transpose()).array() * (whole_y * whole_y.transpose()).array()).sum();
  CHECK(squared_norm<double>(factors, 5, 9) == Approx(gram).epsilon(1e-12));
  CHECK(squared_norm<double>({}, 5, 9) == 0);
  // Few rows beside a large matrix: by their inner products. Columns overlap in part, in full and not at all; of the sum of the
  // squares of entries of either sign, some ten roundings of 2^-53 are left.
  std::vector<FactorPair<double>> few;
  const std::vector<Columns> columns{{0, 30}, {0, 30}, {3, 10}, {20, 5}};
  Matrix<double> sum = Matrix<double>::Zero(40, 30);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    Matrix<double> x(1, 40), y(1, columns[k].count);
    fill_normal<double>({3, Purpose::synthetic_data, 2}, k, 0, std::span(x.data(), 40));
    fill_normal<double>({3, Purpose::synthetic_data, 3}, k, 0, std::span(y.data(), static_cast<std::size_t>(y.size())));
    few.push_back({columns[k], k == 0 ? 0.5 : -2.0, x, y});
    sum.middleCols(columns[k].begin, columns[k].count) += few[k].scale * x.transpose() * y;
  }
  REQUIRE(few_rows(4, {40, 30}));
  CHECK(squared_norm<double>(few, 40, 30) == Approx(sum.squaredNorm()).epsilon(1e-13));
  few[3].y(0, 2) = std::nan("");
  CHECK_FALSE(std::isfinite(squared_norm<double>(few, 40, 30)));
  few = {{{0, 30}, 1.0, few[0].x, few[0].y}, {{0, 30}, -1.0, few[0].x, few[0].y}};
  CHECK(squared_norm<double>(few, 40, 30) == 0);
  factors[0].x(0, 0) = std::nan("");
  CHECK_FALSE(std::isfinite(squared_norm<double>(factors, 5, 9)));
}
