// SPDX-License-Identifier: Apache-2.0
#include "circuits/chip/part_laws.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

constexpr double per_pJ = 1e12, per_nm = 1e9, m2_in_um2 = 1e-12;

bool in_survey(int bits, double rate_Hz) {
  return bits >= survey_least_bits && rate_Hz > 0 && rate_Hz <= survey_fastest_Hz;
}

}  // namespace

std::optional<double> survey_adc_energy_J(int bits, double rate_Hz, double node_m) {
  if (!in_survey(bits, rate_Hz) || !(node_m > 0)) return std::nullopt;
  const double sndr = 20 * bits * std::log10(2.0) + 10 * std::log10(1.5);
  const double fom =
      std::min(128.3068287398817 + 3.220511510 * bits, 213.7806687348118 - 2.8719030399529957 * std::log(rate_Hz));
  const double bound = 0.5 * std::pow(10, (sndr - fom) / 10);
  const double at_node =
      std::exp(26.0496215686518 - 1.4702022133784405) * std::pow(per_nm * node_m, 1.8800369206815004);
  return bound * at_node * std::pow(bits, -2.8291256050594527) / per_pJ;
}

std::optional<double> survey_adc_area_m2(int bits, double rate_Hz, double node_m, double energy_J) {
  if (!in_survey(bits, rate_Hz) || !(node_m > 0) || !(energy_J > 0)) return std::nullopt;
  const double um2 = std::exp(1.3461916439910742) * std::pow(per_nm * node_m, 0.9932794744745022) *
                     std::pow(rate_Hz, 0.18071538424508238) * std::pow(per_pJ * energy_J, 0.29912426192653485);
  return m2_in_um2 * um2;
}

double walden_adc_energy_J(int bits, double step_J) { return std::ldexp(step_J, bits); }

double dac_energy_J(int bits, double unit_F, double volts) {
  const double units = std::ldexp(1.0, bits);
  return unit_F * volts * volts * (units * units - 1) / (6 * units);
}

double dac_area_m2(int bits, double unit_F, double density_F_per_m2) {
  return std::ldexp(unit_F, bits) / density_F_per_m2;
}

namespace {

constexpr double adder_node_m = 45e-9, adder_volts = 0.9, adder_bits = 32;

}  // namespace

double adder_energy_J(int bits, double node_m, double volts) {
  const double drop = volts > 0 ? volts / adder_volts : 1;
  return 0.1e-12 * bits / adder_bits * node_m / adder_node_m * drop * drop;
}

double adder_area_m2(int bits, double node_m) {
  const double shrink = node_m / adder_node_m;
  return 137e-12 * bits / adder_bits * shrink * shrink;
}

int sum_bits(int bits, long terms) {
  int more = 0;
  for (long reach = 1; reach < terms; reach *= 2) ++more;
  return bits + more;
}

double line_capacitance_F(double cell_F2, double node_m, double F_per_m) {
  return F_per_m * std::sqrt(cell_F2) * node_m;
}

namespace {

/// Converters along one side of an array: of all its tiles.
double converters_along(Index all, Index tile, double lines_per_adc) {
  const Index size = tile > 0 ? tile : std::max<Index>(1, all);
  double count = 0;
  for (Index at = 0; at < all; at += size) {
    count += std::ceil(static_cast<double>(std::min(size, all - at)) / lines_per_adc);
  }
  return count;
}

}  // namespace

TileLines& TileLines::operator+=(const TileLines& other) {
  tiles += other.tiles;
  row_lines += other.row_lines;
  column_lines += other.column_lines;
  adcs += other.adcs;
  adders += other.adders;
  for (const ReadDirection way : {ReadDirection::forward, ReadDirection::transposed}) {
    most_terms.at(way) = std::max(most_terms.at(way), other.most_terms.at(way));
    most_lines.at(way) = std::max(most_lines.at(way), other.most_lines.at(way));
  }
  return *this;
}

PerPort<Index> sensed_lines(Index rows, Index columns, const TileSpec& cut) {
  const auto largest = [](Index all, Index tile) { return tile > 0 ? std::min(all, tile) : all; };
  return {largest(columns, cut.columns), largest(rows, cut.rows)};
}

TileLines tile_lines(Index rows, Index columns, const TileSpec& cut, double copies, double lines_per_adc) {
  const auto down = static_cast<double>(cut.down(rows)), across = static_cast<double>(cut.across(columns));
  const double at_columns = copies * converters_along(columns, cut.columns, lines_per_adc);
  const double at_rows = copies * converters_along(rows, cut.rows, lines_per_adc);
  TileLines out;
  out.tiles = copies * down * across;
  out.row_lines = copies * static_cast<double>(rows) * across;
  out.column_lines = copies * static_cast<double>(columns) * down;
  out.adcs = {down * at_columns, across * at_rows};
  out.adders = {(down - 1) * at_columns, (across - 1) * at_rows};
  out.most_terms = {static_cast<long>(down), static_cast<long>(across)};
  out.most_lines = sensed_lines(rows, columns, cut);
  return out;
}

}  // namespace nudge
