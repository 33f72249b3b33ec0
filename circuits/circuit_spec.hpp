// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "circuits/array_use.hpp"
#include "circuits/crossbar/converter.hpp"
#include "sim/base/matrix.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Physical scale of a circuit: the units of state, weight and time in volts, siemens and seconds, and the temperature.
struct CircuitSpec {
  double temperature_K = 300;
  double read_voltage_V = 0.2;          ///< voltage of a drive x = 1
  double time_constant_s = 25e-9;       ///< τ of a node: one unit of simulated time
  double node_capacitance_F = 100e-15;  ///< of a state node; with τ it fixes the conductance C/τ of its clamp
  double hold_capacitance_F = 0;        ///< capacitance of the sample-and-holds that keep z* and z±; 0: they are ideal
  double hold_offset_V = 0;             ///< offset of the sample-and-holds, standard deviation, static
  ConverterSpec phase_adc = {};         ///< converter behind the sample-and-holds; ranges in units of the state
  bool thermal_noise = false;           ///< Johnson–Nyquist noise of every device and resistor, 4 k T G per hertz
  bool shot_noise = false;              ///< 2 q |I| per hertz of every device: an upper bound for diffusive conductors
  double leak_spread = 0;               ///< standard deviation of the clamp of a node over its nominal C/τ, static
  double gain_bandwidth_Hz = 0;         ///< gain-bandwidth product of the amplifiers at the lines; 0: infinite
  double amplifier_bandwidth_Hz = 0;    ///< closed-loop bandwidth of the amplifiers that drive the nodes; 0: infinite
  bool auto_zero = false;               ///< the offsets of these amplifiers are sampled and taken off
  double zero_capacitance_F = 1e-12;    ///< capacitance that keeps a sampled offset
  double noise_within_phases_s = 0;     ///< slow noise of shorter correlation moves from read to read; 0: none does
  PerPort<double> dac_energy_J = {};    ///< energy of a conversion, by port; a key sets both
  PerPort<double> adc_energy_J = {};
  double amplifier_power_W = 0;   ///< static power of the amplifier of a sensed line while it is read
  double line_capacitance_F = 0;  ///< capacitance of a line per device on it
  double digital_energy_J = 0;    ///< energy of a digital operation

  /// Throws UserError naming the key, its value and the rule.
  void validate() const;
};

/// Time constant τ_a = 1/(2π f_c τ) of the amplifiers that drive the nodes, in units of τ; 0 for an infinite bandwidth. An
/// amplifier of gain–bandwidth product GBW on a line of load L (noise gain 1 + L) has f_c = GBW/(1 + L). First-order model of
/// IEEE TCAS-II 2021, doi:10.1109/TCSII.2021.3068764.
double amplifier_lag(const CircuitSpec& spec);

/// Closed-loop bandwidth GBW/(1 + L) that the amplifier of a line of load L has; 0 where its gain-bandwidth is infinite.
double closed_loop_bandwidth_Hz(const CircuitSpec& spec, double load);

/// Standard deviation of the input offset of an amplifier whose raw offset has the standard deviation `raw_V`. With auto-zero the
/// sampled offset remains, √(kT/C) of circuit.auto_zero_capacitance (Enz and Temes, Proc. IEEE 84:1584 (1996), doi:10.1109/5.542410). An
/// amplifier without offset has nothing to sample.
double input_offset_V(const CircuitSpec& spec, double raw_V);

/// Time in which auto-zero samples an offset, in seconds. The amplifier settles from the raw to the sampled offset with the pole of
/// its closed loop. 0 without auto-zero.
double auto_zero_s(const CircuitSpec& spec, double raw_V);

/// White noise of the clamp of a node as a force, σ = √(2 k_B T/(C V²)) per √τ. This is thermal noise of 4 k_B T (C/τ) per
/// hertz. Alone with the clamp it holds the node at ⟨V²⟩ = k_B T/C. 0 without thermal noise.
double clamp_noise(const CircuitSpec& spec);

/// Standard deviation of a voltage sampled on a capacitor, √(kT/C)/V, over circuit.read_voltage.
double sampled_noise(const CircuitSpec& spec, double capacitance_F);

// CODATA 2018, exact by definition of the SI.
inline constexpr double boltzmann_J_per_K = 1.380649e-23;
inline constexpr double electron_charge_C = 1.602176634e-19;

/// Use of arrays, which carry one vector at a time, by the T tokens of a sequence, which relax together.
enum class TokenUse {
  multiplexed,  ///< one array; the tokens take turns in T slots, and sample-and-holds keep its drives in between
  replicated,   ///< T arrays with devices, errors and writes of their own; token t is read by array t
  shared,       ///< one array carries all T vectors at once at no cost: an idealisation that no circuit has
};

/// Use of the arrays by tokens, and its clock. A slot lasts as long as a read of a relaxation would without sharing. So noise
/// and heat per read stay the same, and one step of all tokens takes slots() times as long.
struct TokenSpec {
  TokenUse use = TokenUse::shared;
  Index count = 1;         ///< T
  double slot_s = 0;       ///< length of a slot
  double hold_time_s = 0;  ///< time constant with which a held voltage leaks to 0; 0: it does not
  double turn_slots = 0;   ///< slots that a token's turn takes, of the busiest array; 0: not known yet, taken as 1

  Index replicas() const { return use == TokenUse::replicated ? count : 1; }
  Index slots() const { return use == TokenUse::multiplexed ? count : 1; }

  /// Share exp(−(T k − 1) slot/τ_hold) that remains of a drive in the last slot of its turn, a round after it was sampled. A
  /// turn has k slots.
  double held_share() const {
    if (slots() == 1 || hold_time_s == 0) return 1;
    const double turn = turn_slots > 0 ? turn_slots : 1;
    return std::exp(-(static_cast<double>(count) * turn - 1) * slot_s / hold_time_s);
  }
};

/// Section [circuit]: volts, seconds, kelvin and joule of a simulation whose equations have none.
const Section<CircuitSpec>& circuit_section();

CircuitSpec circuit_spec(const Config& config);

/// Part of [circuit] that says how tokens use arrays. The model sets count and slot, which the config does not know.
const Section<TokenSpec>& token_section();

}  // namespace nudge
