// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_device.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "python/src/python_calls.hpp"
#include "sim/base/errors.hpp"

namespace nudge::python {
namespace nb = nanobind;
namespace {

class PythonDevice final : public OwnDeviceLaw {
 public:
  explicit PythonDevice(const nb::object& object) {
    const nb::gil_scoped_acquire held;
    for (const auto& [name, unit, description, initial] :
         nb::cast<std::vector<std::tuple<std::string, std::string, std::string, double>>>(object.attr("states"))) {
      states_.push_back({name, unit, description, initial});
    }
    pulsed_ = object.attr("pulsed");
    waited_ = object.attr("waited");
    disturbed_ = object.attr("disturbed");
    noise_ = object.attr("read_noise");
    held_ = object.attr("held");
    restored_ = object.attr("restored");
    least_wait_s_ = nb::cast<double>(object.attr("least_wait"));
  }
  ~PythonDevice() override {
    const nb::gil_scoped_acquire held;
    pulsed_.reset();
    waited_.reset();
    disturbed_.reset();
    noise_.reset();
    held_.reset();
    restored_.reset();
  }

  std::vector<CellState> states() const override { return states_; }
  Matrix<double> pulsed(const Matrix<double>& g, const Matrix<double>& pulses, States& own) override {
    const nb::gil_scoped_acquire held;
    return with_states(pulsed_(handed<double>(g), handed<double>(pulses), told(own)), g.cols(), own);
  }
  bool waits() const override { return !waited_.is_none(); }
  double least_wait_s() const override { return least_wait_s_; }
  Matrix<double> waited(const Matrix<double>& g, double seconds, double temperature_K, States& own) override {
    const nb::gil_scoped_acquire held;
    return with_states(waited_(handed<double>(g), seconds, temperature_K, told(own)), g.cols(), own);
  }
  bool disturbs() const override { return !disturbed_.is_none(); }
  Matrix<double> disturbed(const Matrix<double>& g, double seconds, States& own) override {
    const nb::gil_scoped_acquire held;
    return with_states(disturbed_(handed<double>(g), seconds, told(own)), g.cols(), own);
  }
  bool reads_noisy() const override { return !noise_.is_none(); }
  Matrix<double> read_noise_S(const Matrix<double>& g, States own) override {
    const nb::gil_scoped_acquire held;
    return taken(noise_(handed<double>(g), told(own)), "read_noise of the device", 1, g.cols());
  }
  bool outside() const override { return !held_.is_none(); }
  Matrix<double> held(std::uint32_t array, const Matrix<double>& g, States& own) override {
    const nb::gil_scoped_acquire gil;
    return with_states(held_(array, handed<double>(g), told(own)), g.cols(), own);
  }
  Matrix<double> restored(std::uint32_t array, const Matrix<double>& g, States& own) override {
    const nb::gil_scoped_acquire gil;
    return with_states(restored_(array, handed<double>(g), told(own)), g.cols(), own);
  }

 private:
  static nb::list told(const States& own) {
    nb::list all;
    for (const Matrix<double>& one : own) all.append(handed<double>(one));
    return all;
  }
  static Matrix<double> with_states(const nb::object& answer, Index devices, States& own) {
    for (std::size_t s = 0; s < own.size(); ++s) {
      own[s] = taken(nb::object(answer[s + 1]), "a state of the device", 1, devices);
    }
    return taken(nb::object(answer[0]), "the conductance of the device", 1, devices);
  }

  std::vector<CellState> states_;
  nb::object pulsed_, waited_, disturbed_, noise_, held_, restored_;
  double least_wait_s_ = 0;
};

}  // namespace

std::shared_ptr<OwnDeviceLaw> own_device_law(const nb::object& object) { return std::make_shared<PythonDevice>(object); }

}  // namespace nudge::python
