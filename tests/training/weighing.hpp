// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"

namespace nudge::test {

/// Table of y = share_a a + share_b b + shift, of 60 pairs of voltages.
inline std::string mean_csv(double share_a, double share_b, double shift) {
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 60; ++i) {
    const double a = std::sin(1.3 * i), b = std::cos(2.1 * i);
    csv += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(share_a * a + share_b * b + shift) + "\n";
  }
  return csv;
}

/// Settings of a netlist that learns the table in a file, from two voltages to one, and is solved directly.
inline std::vector<std::string> mean_settings(const std::string& netlist, const std::string& table) {
  return {"network.kind=netlist",
          "task.kind=regression",
          "precision=double",
          "seed=1",
          "threads=1",
          "netlist.file=" + netlist,
          "netlist.inputs=['va', 'vb']",
          "netlist.outputs=['y']",
          "netlist.conductance=10 uS",
          "circuit.read_voltage=1 V",
          "circuit.time_constant=1 us",
          "data.file=" + table,
          "data.labels=y",
          "data.scaling=none",
          "relaxation.solver=direct",
          "gradcheck.estimators=['ep']",
          "task.references=off",
          "train.batch=8",
          "train.evaluate_every=0"};
}

/// Four memristors, whose model card has these settings beside the preset.
inline std::string weighing_netlist(const std::string& settings = "") {
  return "mean\nVa a 0 0\nVb b 0 0\nVc c 0 1\nY1 a y ec r=65536\nY2 b y ec r=131072\nY3 y 0 ec r=262144\nY4 c y ec "
         "r=262144\n"
         "Rl y 0 1meg\n.model ec memristor(preset=ecram " +
         settings + ")\n";
}

/// A weighted mean of two voltages and a constant, by four devices.
class Weighing {
 public:
  using Settings = std::vector<std::string>;

  Config config(const std::string& netlist, Settings more) {
    Settings all =
        mean_settings(write_bytes(folder_ / ("circuit" + std::to_string(++files_) + ".cir"), netlist), table_);
    all.insert(all.end(), {"estimator=adjoint", "train.optimizer=sgd", "train.steps=60", "train.learning_rate=0.5"});
    all.insert(all.end(), more.begin(), more.end());
    return parse_program_config("t", "", all);
  }
  Config memristors(Settings more = {}, const std::string& settings = "") {
    more.insert(more.begin(), "netlist.learn=['y*']");
    return config(weighing_netlist(settings), std::move(more));
  }

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryDirectory folder_;
  std::string table_ = write_bytes(folder_ / "mean.csv", mean_csv(0.3, 0.4, 0.1));
  int files_ = 0;
};

}  // namespace nudge::test
