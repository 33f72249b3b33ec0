// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge::report {

/// Dataset with the role "map": one number per device.
struct DeviceMap {
  std::string array, devices;  ///< "Winput", "positive"
  std::string description;
  Matrix<double> values;  ///< (rows, columns)
};

/// Dataset with the role "series" over the columns of an array.
struct ColumnSeries {
  std::string array, name, unit, description;
  std::vector<double> column, value;
};

/// Results of `nudge crossbar --out`: a file of kind crossbar.
struct ArrayPictures {
  std::vector<DeviceMap> ir_drop;
  std::vector<ColumnSeries> currents;
};

/// Loads the results of a file of kind crossbar. UserError where a series and its axis differ in length.
ArrayPictures load_array_pictures(const H5Reader& file);

/// Results of `nudge devices characterize`: a file of kind characterize. Lists are empty where the file has no such
/// group.
struct DevicePictures {
  std::string device;                                ///< name of the preset, model or file
  std::vector<double> pulse, stair_mean, stair_std;  ///< staircase, in S
  /// Pulses to the middle of the mean device's range, and from the top back to it; NaN: not in the file.
  double half_up = NAN, half_down = NAN;
  Matrix<double> stairs;  ///< staircases of single devices (devices, points), in S
  std::vector<double> measured_pulse, measured_replayed,
      measured_mean;  ///< measured record that the device was fitted to, in S
  std::vector<double> cycle_pulses, low, low_std, high, high_std;  ///< endurance, in S
  std::vector<double> time, target, exponent;                      ///< drift: s, S, 1
  Matrix<double> drifted, drifted_std;                             ///< (levels, times), in S
  std::vector<double> deviation, share;                            ///< histogram of the reads
  std::vector<double> frequency, spectrum;                         ///< Hz, 1/Hz

  bool empty() const { return time.empty() && pulse.empty(); }
};

DevicePictures load_device_pictures(const H5Reader& file);

/// Node of a circuit, at a place in the unit square.
struct CircuitSpot {
  std::string name;
  double x = 0, y = 0;
  double before_V = 0, after_V = 0;
  bool source = false, output = false;  ///< source: a source against ground sets it; output: the cost reads it
};

/// Element between two nodes; `to` is −1 for ground. Its conductance is current over voltage.
struct CircuitWire {
  std::string name;
  int from = 0, to = -1;
  double before_S = 0, after_S = 0, before_W = 0, after_W = 0;
  bool learns = false;
};

/// Circuit of a run of network.kind = netlist before and after training, its sources at the values of the file.
struct CircuitPicture {
  std::vector<CircuitSpot> spots;
  std::vector<CircuitWire> wires;
  std::string missing;  ///< reason why there is no picture, a sentence; empty for another network, too
};

CircuitPicture load_circuit(const std::filesystem::path& run);

/// Draws conductances and voltages before and after training, and power after; or says why not. Empty for another
/// network.
std::string circuit_figures(const CircuitPicture& picture);

/// Places (n, 2) of the nodes of a graph in the unit square, with distances on the page like those along its edges.
/// Classical scaling (Torgerson, Psychometrika 17 (1952) 401) of the distances, then majorisation of the stress Σ (|x_i
/// − x_j| − d_ij)²/d_ij² (Gansner, Koren & North 2004, doi:10.1007/978-3-540-31843-9_25). Time grows as n³. The same
/// graph has the same places.
Matrix<double> graph_layout(int nodes, const std::vector<std::pair<int, int>>& edges);

}  // namespace nudge::report
