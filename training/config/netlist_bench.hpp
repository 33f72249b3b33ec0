// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "training/config/learnt_netlist.hpp"

namespace nudge {

/// Element that has learnt, as a bench buys or writes it.
struct BenchPart {
  std::size_t element;   ///< number of the element
  double before, after;  ///< Ohm, V or A
  std::optional<double>
      nearest;          ///< nearest value of E96 (IEC 60063), or nearest level of the device; none: it takes any value
  double change_V = 0;  ///< largest change of an output over the vectors, if this element alone has that value
};

/// Test vector: values of the inputs, the node voltages that follow, and how far the outputs spread.
struct BenchVector {
  std::vector<double> inputs;  ///< V or A, by LearntNetlist::inputs
  std::vector<double> volts;   ///< by node of the netlist
  std::vector<double>
      sigma_V;  ///< by output: √(Σ_k (∂v/∂g_k)² σ_k²), σ_k the standard deviation of a written conductance
};

/// Sheet of what a bench needs beside a trained netlist.
struct BenchSheet {
  std::vector<BenchPart> parts;
  double all_change_V = 0;  ///< change_V if every element has its nearest value
  std::vector<BenchVector> vectors;
};

/// Nearest value of the series E96: round(10^(i/96), two decimals) in every decade (IEC 60063), nearest in ratio.
double nearest_e96(double ohm);

/// Works out the sheet of a trained netlist for its first `most` samples of the test split, of the validation split where there is no
/// test split. Every change is a solution of the whole circuit. σ_k of a device is its programming error. σ_k of a resistor is
/// the spread of parts of 1 %, evenly distributed: 1 %/√3. NumericalFailure where a vector has no operating point.
BenchSheet bench_sheet(const LearntNetlist& learnt, std::size_t most);

/// The two tables as CSV: "name,kind,unit,before,after,nearest,change_V", and one line per vector with inputs, outputs and nodes.
std::string bill_csv(const LearntNetlist& learnt, const BenchSheet& sheet);
std::string vectors_csv(const LearntNetlist& learnt, const BenchSheet& sheet);

}  // namespace nudge
