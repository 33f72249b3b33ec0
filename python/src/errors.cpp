// SPDX-License-Identifier: Apache-2.0
// Exceptions of C++ as those of nudge/errors.py, which stand for the exit codes of the program.
#include "sim/base/errors.hpp"

#include <system_error>

#include "python/src/bindings.hpp"
#include "sim/base/text.hpp"

namespace nudge::python {
namespace {

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

void bind_errors(nb::module_& /*m*/) { nb::register_exception_translator(translate); }

}  // namespace nudge::python
