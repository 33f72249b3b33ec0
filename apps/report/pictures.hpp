// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge::report {

/// A dataset with the role "map": one number per device.
struct DeviceMap {
  std::string array, devices;  ///< "Winput", "positive"
  std::string description;
  Matrix<double> values;  ///< (rows, columns)
};

/// A dataset with the role "series" over the columns of an array.
struct ColumnSeries {
  std::string array, name, unit, description;
  std::vector<double> column, value;
};

/// What `nudge crossbar --out` solved: a file of kind crossbar.
struct ArrayPictures {
  std::vector<DeviceMap> ir_drop;
  std::vector<ColumnSeries> currents;
};

/// UserError where a series and its axis differ in length.
ArrayPictures load_array_pictures(const H5Reader& file);

/// What `nudge devices characterize` measured: a file of kind characterize. Lists are empty where the file has no such group.
struct DevicePictures {
  std::string device;                                ///< name of the preset, model or file
  std::vector<double> pulse, stair_mean, stair_std;  ///< staircase, in S
  double half_up = std::numeric_limits<
      double>::quiet_NaN();  ///< pulses to the middle of the mean device's range; NaN: not in the file
  double half_down = std::numeric_limits<double>::quiet_NaN();  ///< and back from the top
  Matrix<double> stairs;                                        ///< (devices, points), in S
  std::vector<double> measured_pulse, measured_replayed,
      measured_mean;  ///< the laboratory's record that the device was fitted to, in S
  std::vector<double> cycle_pulses, low, low_std, high, high_std;  ///< endurance, in S
  std::vector<double> time, target, exponent;                      ///< drift: s, S, 1
  Matrix<double> drifted, drifted_std;                             ///< (levels, times), in S
  std::vector<double> deviation, share;                            ///< histogram of the reads
  std::vector<double> frequency, spectrum;                         ///< Hz, 1/Hz

  bool empty() const { return time.empty() && pulse.empty(); }
};

DevicePictures load_device_pictures(const H5Reader& file);

/// A node of a circuit, at a place in the unit square.
struct CircuitSpot {
  std::string name;
  double x = 0, y = 0;
  double before_V = 0, after_V = 0;
  bool source = false, output = false;  ///< a source against ground sets it; the cost reads it
};

/// An element between two of them; `to` is −1 for ground. Conductances are those of its current over its voltage.
struct CircuitWire {
  std::string name;
  int from = 0, to = -1;
  double before_S = 0, after_S = 0, before_W = 0, after_W = 0;
  bool learns = false;
};

/// The circuit of a run of network.kind = netlist before and after training, its sources at the values of the file.
struct CircuitPicture {
  std::vector<CircuitSpot> spots;
  std::vector<CircuitWire> wires;
  std::string missing;  ///< why there is none, a sentence; empty of another network, too
};

CircuitPicture load_circuit(const std::filesystem::path& run);

/// Conductances and voltages before and after, and power after, as drawings; or why there are none. Empty of another network.
std::string circuit_figures(const CircuitPicture& picture);

/// Places (n, 2) in the unit square of the nodes of a graph, so that distances on the page are as those along its edges: classical scaling
/// (Torgerson, Psychometrika 17 (1952) 401) of the distances, then majorisation of the stress Σ (|x_i − x_j| − d_ij)²/d_ij² (Gansner, Koren &
/// North 2004, doi:10.1007/978-3-540-31843-9_25). Time grows as n³. The same graph has the same places.
Matrix<double> graph_layout(int nodes, const std::vector<std::pair<int, int>>& edges);

}  // namespace nudge::report
