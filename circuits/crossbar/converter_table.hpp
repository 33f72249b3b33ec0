// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace nudge {

/// Conversion that a table belongs to.
enum class Conversion { from_analog, to_analog };

/// Errors of a converter, as data sheets sum them up; all in LSB.
struct ConverterErrors {
  double inl_low = 0, inl_high = 0;  ///< least and largest integral nonlinearity
  double dnl_low = 0, dnl_high = 0;  ///< least and largest differential nonlinearity
  int missing = 0;                   ///< codes that no input gives (from_analog)
  int backward = 0;                  ///< steps up that lower the output (to_analog)
};

/// Measured transfer of a converter of the codes −n … n, n = 2^(bits−1) − 1, in units of its LSB. INL_k of code k shifts
///     from_analog: the edge below the code, from k − 1 to k:   e_k = k − ½ + INL_k,   k = −n + 1 … n
///     to_analog:   the output of the code:                     l_k = k + INL_k,       k = −n … n
/// (IEEE Std 1241 and 1658). Edges never cross: two at one place are a missing code, DNL_k = e_{k+1} − e_k − 1 = −1.
///
/// mean() is the curve that is left of the transfer without its steps, linear between (e_k, k − ½) or between (k, l_k). Noise of
/// about an LSB in front smooths the steps to about this curve. All INL 0: mean(u) = u within ±n.
class ConverterTable {
 public:
  /// Takes INL of the codes −n … n; the first does not count for from_analog. Contract: 2^bits − 1 numbers, edges in order.
  ConverterTable(Conversion conversion, int bits, std::vector<double> inl_LSB);

  int bits() const { return bits_; }
  int top() const { return top_; }  ///< n

  /// Code of an input of u LSB: the number of edges that u has passed, less n. An input at an edge is beyond it where u ≥ 0, so
  /// that ideal edges round halves away from 0. from_analog.
  int code(double u) const;
  /// Output l_k. to_analog.
  double level(int k) const { return at(k); }
  /// Mean curve at u LSB, which must lie in [−n, n]; sets its slope.
  double mean(double u, double& slope) const;

  ConverterErrors errors() const;

 private:
  double at(int k) const { return places_[static_cast<std::size_t>(k + top_)]; }

  Conversion conversion_;
  int bits_, top_;
  std::vector<double> places_;  ///< e_k or l_k, of k = −n … n
};

/// Reads a table of a converter of `bits` bits from a file of measurements (sim/io/measured_text.hpp). It has the columns code and
/// INL, in LSB, or code and DNL, whose sums INL are. Codes are 0 … 2^bits − 1 with the zero at 2^(bits−1), or, if one is negative, count
/// from zero. The lowest of them is not used: a converter has as many levels below zero as above. UserError naming the file,
/// the line and the rule; `key` is the one that named the file, "crossbar.forward_adc".
std::shared_ptr<const ConverterTable> read_converter_table(const std::string& path, Conversion conversion, int bits,
                                                           const std::string& key);

/// Parses the text of such a file.
std::shared_ptr<const ConverterTable> parse_converter_table(std::string_view text, const std::string& file,
                                                            Conversion conversion, int bits, const std::string& key);

}  // namespace nudge
