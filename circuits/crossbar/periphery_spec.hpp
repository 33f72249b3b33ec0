// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "circuits/array_use.hpp"
#include "circuits/crossbar/converter.hpp"
#include "circuits/crossbar/line_view.hpp"

namespace nudge {

/// Behaviour of an amplifier beyond its largest output.
enum class Saturation { tanh, clip };

/// Transimpedance amplifiers at the sensed lines of one direction, of feedback conductance k: an output of 1 is V_read. With
/// the load L of its line (all conductance over k) an amplifier turns the ideal output y into
///     y ← clamp( [(1 + γ + γ_line) y + V_os (1 + L)/V_read] / (1 + (1 + L)/A₀) )
/// γ_line and V_os are drawn once per line (static); (1 + L)/A₀ is the finite-gain error with noise gain 1 + L (noise gain of
/// MVM circuits: IEEE TCAS-II 2021, doi:10.1109/TCSII.2021.3068764).
struct AmplifierSpec {
  double offset_V = 0;        ///< standard deviation of the input offset voltage over lines
  double gain_error = 0;      ///< γ, common to all lines
  double gain_spread = 0;     ///< standard deviation of γ_line
  double open_loop_gain = 0;  ///< A₀; 0: infinite
  double saturation = 0;      ///< largest output, in units of y; 0: none
  Saturation shape = Saturation::tanh;
  double noise_V = 0;     ///< input noise density e_n, V/√Hz: fresh noise of every read (ReadNoise)
  double gain_noise = 0;  ///< standard deviation of γ_line from read to read, per √τ (ReadNoise)

  /// True if outputs are exact, but for fresh noise.
  bool ideal() const {
    return offset_V == 0 && gain_error == 0 && gain_spread == 0 && open_loop_gain == 0 && saturation == 0;
  }
  /// Throws UserError naming `key`_<field>, its value and the rule.
  void validate(const std::string& key) const;
};

/// Amplifiers of one direction of one array.
template <class S>
class Amplifiers {
 public:
  /// Draws the lines' errors; `seed`, `id` and `side` (0 forward, 1 transposed) determine their random numbers.
  Amplifiers(const AmplifierSpec& spec, Index lines, std::uint64_t seed, std::uint32_t id, std::uint32_t side);

  /// Sets the loads of all lines after the conductances have changed; V_read in volts.
  void set_loads(const LineValues<S>& load, double read_voltage_V);

  bool ideal() const { return spec_.ideal(); }

  /// Copy of these amplifiers in other arithmetic, with their drawn errors and present loads.
  template <class T>
  Amplifiers<T> cast() const {
    Amplifiers<T> out(spec_);
    out.line_gain_ = line_gain_.template cast<T>();
    out.line_offset_V_ = line_offset_V_.template cast<T>();
    out.gain_ = gain_.template cast<T>();
    out.offset_ = offset_.template cast<T>();
    return out;
  }

  /// Applies the amplifiers, y ← apply(y), and sets slope (n, count) = ∂apply/∂y at y, elementwise.
  void apply_with_slope(MatrixRef<S> y, MatrixRef<S> slope, Index first) const;

  /// Replaces y (n, count) by the outputs of the amplifiers of lines [first, first + count).
  void apply(MatrixRef<S> y, Index first) const;

 private:
  template <class T>
  friend class Amplifiers;
  explicit Amplifiers(const AmplifierSpec& spec) : spec_(spec) {}

  AmplifierSpec spec_;
  LineValues<S> line_gain_, line_offset_V_;  ///< drawn errors γ_line and V_os
  LineValues<S> gain_, offset_;              ///< gain and offset with the present loads
};

/// Circuits between the numbers and the lines in one direction, driving and sensing.
struct PortSpec {
  ConverterSpec dac = {};
  AmplifierSpec amplifier = {};
  ConverterSpec adc = {};
  double driver_noise_V =
      0;  ///< noise density e_d of a driven line's voltage, V/√Hz: fresh noise of every read (ReadNoise)

  /// True if the numbers of a read are exact, but for fresh noise.
  bool ideal() const { return dac.ideal() && amplifier.ideal() && adc.ideal(); }
};

/// Choice of line ends that a transposed read uses.
enum class TransposedPath {
  same_ends,      ///< drives where columns are sensed, senses where rows are driven: the exact transpose (reciprocity)
  opposite_ends,  ///< the far ends of all wires: not the transpose when wires have resistance
};

/// Circuits at the edges of an array.
struct PeripherySpec {
  PortSpec forward = {};     ///< drives rows, senses columns
  PortSpec transposed = {};  ///< drives columns, senses rows
  TransposedPath path = TransposedPath::same_ends;
  bool ranged_once = false;  ///< converters without a range get theirs from the first batch of a run (chosen_circuit())
  Directions directions = Directions::sequential;
  bool trim_follows = false;
  double load_trim = 0;  ///< for simultaneous drives: standard deviation of the conductance that takes off a line's
                         ///< load, over that load

  /// Reads the tables of the converters that name files (ConverterSpec::load).
  void load();
  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

}  // namespace nudge
