// SPDX-License-Identifier: Apache-2.0
// What tables, reports and figures say of repeated runs.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.hpp"
#include "sim/base/statistics.hpp"
#include "training/compare/paired.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::python {
namespace {

using Numbers = std::vector<double>;

nb::tuple shown_of(const Numbers& values, const std::string& result) {
  const CellSpread cell = cell_spread(values, result);
  return nb::make_tuple(cell.shown(), cell.failed);
}

}  // namespace

void bind_statistics(nb::module_& m) {
  using namespace nb::literals;
  m.def("sign_test", sign_test, "won"_a, "lost"_a);
  m.def("higher_is_better", higher_is_better, "result"_a);
  m.def("cell", shown_of, "values"_a, "result"_a);
  nb::class_<PairedDifference>(m, "PairedDifference")
      .def_ro("seeds", &PairedDifference::seeds)
      .def_ro("failed", &PairedDifference::failed)
      .def_ro("mean", &PairedDifference::mean)
      .def_ro("low", &PairedDifference::low)
      .def_ro("high", &PairedDifference::high)
      .def_ro("won", &PairedDifference::won)
      .def_ro("lost", &PairedDifference::lost)
      .def_ro("comparisons", &PairedDifference::comparisons)
      .def("certain", &PairedDifference::certain);
  nb::class_<KeyEffect>(m, "KeyEffect")
      .def_ro("key", &KeyEffect::key)
      .def_ro("point", &KeyEffect::point)
      .def_ro("among", &KeyEffect::among)
      .def_ro("difference", &KeyEffect::difference);
  m.def("key_effects", key_effects, "keys"_a, "values"_a, "seeds"_a, "results"_a, "asked"_a);
}

}  // namespace nudge::python
