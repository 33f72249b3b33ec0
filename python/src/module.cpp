// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <system_error>

#include "python/src/bindings.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/text.hpp"

namespace nudge::python {
namespace {

// Exceptions of C++ as those of nudge/errors.py, which stand for the exit codes of the program.
void raise(const char* type, const char* what) {
  const nb::object error = nb::module_::import_("nudge.errors").attr(type);
  PyErr_SetString(error.ptr(), printable(what).c_str());  // UTF-8, and shown on terminals
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UserError& error) {
    raise("InputError", error.what());
  } catch (const NumericalFailure& error) {
    raise("NumericalError", error.what());
  } catch (const ContractViolation& error) {
    raise("InternalError", error.what());
  } catch (const std::system_error& error) {
    raise("OutputError", error.what());
  }
}

}  // namespace
}  // namespace nudge::python

NB_MODULE(_core, m) {
  using namespace nudge::python;
  pthread_atfork(nullptr, nullptr, [] { nudge::in_forked_process = true; });
  m.doc() = "What the package nudge is made of; use nudge itself.";
  nb::register_exception_translator(translate);
  bind_program(m);
  bind_devices(m);
  bind_crossbar(m);
  bind_network(m);
  bind_dynamics(m);
  bind_statistics(m);
  bind_netlist(m);
  bind_own(m);
}
