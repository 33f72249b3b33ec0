// SPDX-License-Identifier: Apache-2.0
// Reads, updates and wires of a crossbar beside the plain product of the same shape in the same run; see bench/README.md.
#include <string>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"

namespace nudge::bench {
namespace {

constexpr Index kSize = 512;

CrossbarSpec noisy_spec(double read_noise, bool converters) {
  CrossbarSpec spec;
  spec.device.update = PulseMode::pulsed;
  spec.device.read_noise = read_noise;
  spec.device.update_noise = 0.3;
  if (converters) {
    spec.periphery.forward.dac.bits = spec.periphery.transposed.dac.bits = 7;
    spec.periphery.forward.adc.bits = spec.periphery.transposed.adc.bits = 9;
  }
  return spec;
}

Crossbar<float> make_array(double read_noise, bool converters, const char* model, int threads) {
  CrossbarSpec spec = noisy_spec(read_noise, converters);
  spec.device.model = model;
  spec.threads = threads;
  return Crossbar<float>(spec, 0.05F * normal(kSize, kSize, 0), 0, 1);
}

enum class Direction { forward, transposed };
enum class Effects { usual, all };

/// Makes an array with thermal and shot noise, amplifiers with offset, gain spread and saturation, on top of noisy
/// quantised reads.
Crossbar<float> make_full_array() {
  CrossbarSpec spec = noisy_spec(0.01, true);
  spec.circuit.thermal_noise = spec.circuit.shot_noise = true;
  for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) {
    port->amplifier.offset_V = 1e-3;
    port->amplifier.gain_spread = 0.01;
    port->amplifier.open_loop_gain = 1e4;
    port->amplifier.saturation = 4;
  }
  return Crossbar<float>(spec, 0.05F * normal(kSize, kSize, 0), 0, 1);
}

/// Times noisy, quantised reads of a batch, rows split over the threads in fixed chunks, against the same products
/// alone.
void read(benchmark::State& state, Direction direction, Effects effects, Index batch, int threads) {
  const Crossbar<float> array = effects == Effects::all ? make_full_array() : make_array(0.01, true, "soft_bounds", 1);
  const Matrix<float> x = normal(batch, kSize, 1);
  Matrix<float> y(batch, kSize);
  const Index chunk = batch / threads;
  const auto product = [&] {
    parallel_for(threads, threads, [&](Index i, int) {
      const auto in = x.middleRows(i * chunk, chunk);
      if (direction == Direction::forward) {
        fastest_multiply(in, array.weights(), y.middleRows(i * chunk, chunk));
      } else {
        fastest_transposed(in, array.weights(), y.middleRows(i * chunk, chunk));
      }
    });
  };
  const auto reads = [&] {
    parallel_for(threads, threads, [&](Index i, int) {
      ReadContext context;
      context.sequence = static_cast<std::uint32_t>(i);
      const auto in = x.middleRows(i * chunk, chunk);
      auto out = y.middleRows(i * chunk, chunk);
      if (direction == Direction::forward) {
        array.forward(in, out, array.all_columns(), Store::assign, context);
      } else {
        array.transposed(in, out, array.all_columns(), Store::assign, context);
      }
    });
  };
  product();
  reads();
  run_beside(state, product, reads);
  state.SetLabel("floor: " + fastest_libraries());
}

/// Makes an array as hardware.level = mixed has it, or without noise and with ideal amplifiers (`physical` false).
Crossbar<float> leveled_array(bool physical, Index inputs, Index outputs) {
  CrossbarSpec spec;
  spec.circuit.thermal_noise = physical;
  for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) {
    if (!physical) continue;
    port->amplifier.noise_V = 5e-9;
    port->amplifier.offset_V = 1e-4;
    port->amplifier.gain_spread = 0.01;
  }
  return Crossbar<float>(spec, 0.05F * normal(inputs, outputs, 0), 0, 1);
}

/// Times reads of the physical level against those of the same array without noise and with ideal amplifiers,
/// interleaved.
void physical_read(benchmark::State& state, Direction direction, Index inputs, Index outputs, Index batch) {
  const Crossbar<float> physical = leveled_array(true, inputs, outputs), ideal = leveled_array(false, inputs, outputs);
  const bool forward = direction == Direction::forward;
  const Matrix<float> x = normal(batch, forward ? inputs : outputs, 1);
  Matrix<float> y(batch, forward ? outputs : inputs);
  const auto read = [&](const Crossbar<float>& array) {
    ReadContext context;
    for (int i = 0; i < 20; ++i) {
      if (forward) {
        array.forward(x, y, array.all_columns(), Store::assign, context);
      } else {
        array.transposed(x, y, array.all_columns(), Store::assign, context);
      }
    }
  };
  read(ideal);
  read(physical);
  run_beside(
      state, [&] { read(ideal); }, [&] { read(physical); });
  state.SetLabel("floor: the same reads without noise");
}

/// Times the in-situ update of 512 x 512 pairs by `rank` summed outer products, about 2.5 pulses per device.
void update(benchmark::State& state, int threads) {
  Crossbar<float> array = make_array(0, false, "soft_bounds", threads);
  // One pulse moves a weight by 2 w_max/pulses of the pair's range; half of the change goes to each device.
  const auto pulse = 2.0F * array.w_max() / 1000.0F;
  const Matrix<float> delta = 2.5F * pulse * normal(kSize, kSize, 2);
  const PulseCount before = array.pulses();
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(seconds_of([&] { array.apply_update(delta); }));
    state.SetIterationTime(times.back());
  }
  const double devices = 2.0 * kSize * kSize;
  const PulseCount after = array.pulses();
  state.counters["ns_per_device"] = 1e9 * median(times) / devices;
  state.counters["pulses_per_device"] = static_cast<double>(after.up + after.down - before.up - before.down) / devices /
                                        static_cast<double>(times.size());
}

Matrix<double> conductances(Index n) {
  Matrix<double> g(n, n);
  fill_uniform<double>({1, Purpose::probe, 3}, 0, 0, std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  return (1e-6 + 99e-6 * g.array()).matrix();
}

void wire_vector(benchmark::State& state) {
  const LineSolver solver(conductances(128), WireSpec{1, 1});
  const Matrix<double> volts = (0.2F * normal(1, 128, 4)).cast<double>();
  WireSolution solution;
  for (auto _ : state) solution = solver.solve(volts, 1e-6);
  state.counters["iterations"] = solution.iterations;
}

void wire_matrix(benchmark::State& state) {
  const Matrix<double> g = conductances(128);
  for (auto _ : state) benchmark::DoNotOptimize(LineSolver(g, WireSpec{1, 1}).effective_matrix(1e-6, 1));
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  for (const int threads : {1, 2}) {
    const std::string suffix = "/threads" + std::to_string(threads);
    for (const nudge::Index batch : {64, 256}) {
      const std::string at = "/512x512/B" + std::to_string(batch) + suffix;
      for (const Effects effects : {Effects::usual, Effects::all}) {
        for (const Direction direction : {Direction::forward, Direction::transposed}) {
          const std::string name = direction == Direction::forward ? "forward" : "transposed";
          add(name + (effects == Effects::all ? "_all_effects" : "") + at, 101,
              [=](benchmark::State& s) { read(s, direction, effects, batch, threads); });
        }
      }
    }
    add("pulsed_update/512x512" + suffix, 21, [=](benchmark::State& s) { update(s, threads); });
  }
  for (const Direction direction : {Direction::forward, Direction::transposed}) {
    const std::string name = direction == Direction::forward ? "physical/forward" : "physical/transposed";
    add(name + "/512x512/B64", 101, [=](benchmark::State& s) { physical_read(s, direction, 512, 512, 64); });
    // The input array of examples/train_charlm.toml.
    add(name + "/48x336/B32", 101, [=](benchmark::State& s) { physical_read(s, direction, 48, 336, 32); });
  }
  benchmark::RegisterBenchmark("wires/solve_128x128_1ohm", wire_vector)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("wires/effective_matrix_128x128_1ohm", wire_matrix)->Unit(benchmark::kMillisecond);
  return run_added(argc, argv);
}
