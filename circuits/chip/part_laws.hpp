// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "circuits/array_use.hpp"
#include "circuits/wires/tile_spec.hpp"

namespace nudge {

// Laws of the parts of a chip over bits, rate and feature size F. Each has one source, and no number outside its range.

/// Fewest bits that the survey's law holds for, and the fastest converters of its fit.
inline constexpr int survey_least_bits = 4;
inline constexpr double survey_fastest_Hz = 1e10;

/// Energy of a conversion of an analog-to-digital converter of B bits at f conversions a second, by a regression on Murmann's ADC
/// Performance Survey. SNDR = 20 B log10 2 + 10 log10 1.5 (full-scale sine), F in nm, E in pJ:
///     FOM = min(128.31 + 3.2205 B, 213.78 − 2.8719 ln f)  dB,      E = ½ 10^((SNDR − FOM)/10) e^(26.0496 − 1.4702) F^1.8800 B^−2.8291
/// This is the fifth of the survey's converters that need least; ISAAC's of 8 bits, 32 nm and 1.28 GHz takes 1.6 pJ where this is 1.93.
/// Nothing below 4 bits and above 10 GHz. Source: T. Andrulis et al., "Modeling Analog-Digital-Converter Energy and Area for
/// Compute-In-Memory Accelerator Design", arXiv:2404.06553 (2024); coefficients of their open model (Accelergy-Project/accelergy-adc-plug-in).
std::optional<double> survey_adc_energy_J(int bits, double rate_Hz, double node_m);

/// Area of such a converter that takes `energy_J` a conversion: A = e^1.3462 F^0.99328 f^0.18072 E^0.29912 µm², F in nm, E in pJ. Source
/// as above: the tenth of the survey's converters that are smallest. ISAAC's 8-bit one at 1.28 GHz in 32 nm has a fifth of it.
std::optional<double> survey_adc_area_m2(int bits, double rate_Hz, double node_m, double energy_J);

/// Energy of a conversion by a figure of merit (Walden): E = step · 2^B. Source: R. H. Walden, IEEE J. Sel. Areas Commun. 17:539 (1999),
/// doi:10.1109/49.761034.
double walden_adc_energy_J(int bits, double step_J);

/// Energy that a digital-to-analog converter of binary-weighted capacitors takes from its reference V for a code k, from 0 V and in the
/// mean of all codes. Of n = 2^B units C the k at V are in series with the others, k (n − k)/n C, so
///     E = C V² Σ_k k (n − k)/n² = C V² (n² − 1)/(6 n)
/// Switches and the buffer behind are not in it. It does not change with the node: matching sets C, not the lithography.
double dac_energy_J(int bits, double unit_F, double volts);
/// Its area: 2^B units over their density.
double dac_area_m2(int bits, double unit_F, double density_F_per_m2);

/// Energy and area of an adder of `bits` bits. At 45 nm and 0.9 V one of 32 bits takes 0.1 pJ and 137 µm². They scale as a length
/// scales: energy as F V² (capacitance times voltage squared), area as F². volts 0: 0.9 V. Sources: M. Horowitz, ISSCC 2014,
/// doi:10.1109/ISSCC.2014.6757323; area V. Sze et al., Proc. IEEE 105:2295 (2017), doi:10.1109/JPROC.2017.2761740; scaling R. Dennard
/// et al., IEEE J. Solid-State Circuits 9:256 (1974), doi:10.1109/JSSC.1974.1050511.
double adder_energy_J(int bits, double node_m, double volts);
double adder_area_m2(int bits, double node_m);

/// Bits of the sum of `terms` numbers of `bits` bits.
int sum_bits(int bits, long terms);

/// Capacitance of a line per cell, whose pitch is √cell F: the wire's alone.
double line_capacitance_F(double cell_F2, double node_m, double F_per_m);

/// Lines, converters and adders of the tiles of arrays. A row of the array is a line in each of the tiles that stand side by side, a column
/// in each of those below each other. Lines of a tile take turns at its converters, k at each: ⌈size/k⌉ for a side of `size` lines. The
/// numbers of n tiles are added by n − 1 adders behind every converter of one of them.
struct TileLines {
  double tiles = 0;
  double row_lines = 0, column_lines = 0;
  PerPort<double> adcs = {};       ///< of the forward port at the columns, of the transposed one at the rows
  PerPort<double> adders = {};     ///< behind the converters of a port
  PerPort<long> most_terms{1, 1};  ///< tiles of the longest sum
  PerPort<Index> most_lines = {};  ///< sensed lines of the largest tile

  TileLines& operator+=(const TileLines& other);
};

/// Sensed lines of the largest tile of an array of rows x columns, by port: columns are sensed by forward reads, rows by transposed ones.
PerPort<Index> sensed_lines(Index rows, Index columns, const TileSpec& cut);

/// Counts the parts of `copies` arrays of rows x columns weights; k = lines_per_adc >= 1.
TileLines tile_lines(Index rows, Index columns, const TileSpec& cut, double copies, double lines_per_adc);

}  // namespace nudge
