// SPDX-License-Identifier: Apache-2.0
// nudge.Crossbar: one matrix on devices.
#include "circuits/crossbar/crossbar.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/spice/exports.hpp"
#include "circuits/wires/solvers.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "devices/registry.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bindings.hpp"
#include "python/src/computing.hpp"
#include "python/src/lent.hpp"
#include "python/src/results.hpp"
#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"

namespace nudge::python {
namespace {

/// Crossbar with the count of its reads: each read has fresh noise of its own.
class Array {
 public:
  Array(const In<double, 2>& weights, const std::vector<std::string>& settings, const nb::object& device) {
    const Matrix<double> target = map_of<double, 2>(weights);
    const CrossbarSpec spec = compute(OwnParts::of_device(device), [&] {
      const Config config = parse_program_config("crossbar", "", settings);
      CrossbarSpec asked = crossbar_spec(config);
      if (asked.device.model == digital_model) {
        throw UserError("crossbar: device.model = digital has no devices (give device=..., a model or a preset)");
      }
      read_.seed = run_options(config).seed;
      map_ = std::make_unique<Crossbar<double>>(asked, target, 0, read_.seed);
      return asked;
    });
    read_.relaxation = {1, 1};
    wires_ = spec.wires;
    curve_ = spec.device.curve;
    selector_ = spec.device.selector;
    threads_ = spec.threads;
  }

  Crossbar<double>& map() { return *map_; }

  nb::object forward(const In<double, 2>& x, bool noisy, double interval) {
    expect_width("x", x.shape(1), map_->inputs());
    return read(x, map_->outputs(), noisy, interval, [&](const auto& in, Matrix<double>& out, ReadContext& context) {
      map_->forward(in, out, map_->all_columns(), Store::assign, context);
    });
  }
  nb::object transposed(const In<double, 2>& y, bool noisy, double interval) {
    expect_width("y", y.shape(1), map_->outputs());
    return read(y, map_->inputs(), noisy, interval, [&](const auto& in, Matrix<double>& out, ReadContext& context) {
      map_->transposed(in, out, map_->all_columns(), Store::assign, context);
    });
  }

  void program(const In<double, 2>& target) {
    expect_shape("target", target);
    const Matrix<double> values = map_of<double, 2>(target);
    compute([&] { map_->program(values); });
  }
  void update(const In<double, 2>& delta) {
    expect_shape("delta", delta);
    const Matrix<double> values = map_of<double, 2>(delta);
    if (!values.allFinite()) throw UserError("delta: must be finite numbers; a NaN or infinity is not a change of a weight");
    compute([&] {
      map_->apply({.direction = &values, .kind = map_->takes_factors() ? UpdateKind::immediate : UpdateKind::learning});
    });
  }
  void advance_time(double seconds, double reading_s) {
    if (!(reading_s >= 0 && seconds >= reading_s)) {
      throw UserError("advance_time: reading must be 0 or more, and seconds at least that");
    }
    map_->advance_time({seconds, reading_s}, times_++);
  }

  /// Solves the first array between its wires, untiled and without noise: column currents of row voltages (n, inputs).
  nb::object currents(const In<double, 2>& volts) {
    expect_width("volts", volts.shape(1), map_->inputs());
    const Matrix<double> rows = map_of<double, 2>(volts);
    return array_of(compute([&]() -> Matrix<double> {
      const Matrix<double>& conductance = map_->plus().conductance();
      if (curve_.linear() && !selector_.any()) return rows * effective_conductance(conductance, wires_, {}, threads_);
      const auto solved = NonlinearSolver(conductance, CellLaw(curve_, selector_), wires_).solve(rows);
      if (solved.status != Status::converged) throw NumericalFailure("the curved devices have not been solved");
      return solved.currents_A;
    }));
  }
  std::string netlist(const In<double, 2>& volts) const {
    expect_width("volts", volts.shape(1), map_->inputs());
    return crossbar_netlist(map_->plus().conductance(), wires_, map_of<double, 2>(volts), curve_, selector_);
  }

 private:
  static void expect_width(const char* name, std::size_t found, Index wanted) {
    if (static_cast<Index>(found) == wanted) return;
    throw UserError(std::string(name) + ": " + std::to_string(found) + " columns (must be " + std::to_string(wanted) +
                    ")");
  }
  void expect_shape(const char* name, const In<double, 2>& found) const {
    if (static_cast<Index>(found.shape(0)) != map_->inputs()) {
      throw UserError(std::string(name) + ": " + std::to_string(found.shape(0)) + " rows (must be " +
                      std::to_string(map_->inputs()) + ")");
    }
    expect_width(name, found.shape(1), map_->outputs());
  }

  /// Calls act(in, out, context) for one read. width: columns of the result; interval: duration of the read in units of
  /// tau.
  template <class Act>
  nb::object read(const In<double, 2>& in, Index width, bool noisy, double interval, const Act& act) {
    if (!(interval > 0)) throw UserError("interval: must be above 0 (in units of tau)");
    ReadContext context = read_;
    context.policy = noisy ? ReadPolicy{} : ReadPolicy::all_ideal();
    context.relaxation = {interval, interval};
    Matrix<double> out(static_cast<Index>(in.shape(0)), width);
    act(map_of<double, 2>(in), out, context);
    if (noisy) read_.read = context.read;
    return array_of(std::move(out));
  }

  std::unique_ptr<Crossbar<double>> map_;
  WireSpec wires_;
  CurrentCurve curve_;
  SelectorSpec selector_;
  int threads_ = 1;
  ReadContext read_;
  std::uint64_t times_ = 0;
};

}  // namespace

void bind_crossbar(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Array>(m, "CrossbarArray")
      .def(nb::init<const In<double, 2>&, const std::vector<std::string>&, const nb::object&>(), "weights"_a,
           "settings"_a, "device"_a.none())
      .def("forward", &Array::forward, "x"_a, "noisy"_a, "interval"_a)
      .def("transposed", &Array::transposed, "y"_a, "noisy"_a, "interval"_a)
      .def("program", &Array::program, "target"_a)
      .def("update", &Array::update, "delta"_a)
      .def("advance_time", &Array::advance_time, "seconds"_a, "reading"_a)
      .def("currents", &Array::currents, "volts"_a)
      .def("netlist", &Array::netlist, "volts"_a)
      .def_prop_ro("weights",
                   [](nb::pointer_and_handle<Array> self) { return view_of(self.p->map().weights(), self.h); })
      .def("facts", [](nb::pointer_and_handle<Array> self) { return facts_of<double>(self.p->map(), self.h); });
}

}  // namespace nudge::python
