// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"

namespace nudge::test {

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

  Weighing() {
    std::string csv = "a,b,y\n";
    for (int i = 0; i < 60; ++i) {
      const double a = std::sin(1.3 * i), b = std::cos(2.1 * i);
      csv += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(0.3 * a + 0.4 * b + 0.1) + "\n";
    }
    table_ = write_bytes(folder_ / "mean.csv", csv);
  }

  Config config(const std::string& netlist, Settings more) {
    Settings all{"network.kind=netlist",
                 "task.kind=regression",
                 "precision=double",
                 "seed=1",
                 "threads=1",
                 "netlist.file=" + write_bytes(folder_ / ("circuit" + std::to_string(++files_) + ".cir"), netlist),
                 "netlist.inputs=['va', 'vb']",
                 "netlist.outputs=['y']",
                 "netlist.conductance=10 uS",
                 "circuit.read_voltage=1 V",
                 "circuit.time_constant=1 us",
                 "data.file=" + table_,
                 "data.labels=y",
                 "data.scaling=none",
                 "relaxation.solver=direct",
                 "estimator=adjoint",
                 "gradcheck.estimators=['ep']",
                 "task.references=off",
                 "train.optimizer=sgd",
                 "train.batch=8",
                 "train.steps=60",
                 "train.learning_rate=0.5",
                 "train.evaluate_every=0"};
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
  std::string table_;
  int files_ = 0;
};

}  // namespace nudge::test
