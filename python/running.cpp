// lanewise.run and lanewise.Trace: when each step of a plan runs.
#include <fmt/format.h>
#include <pybind11/numpy.h>

#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/plan/trace.hpp"
#include "python/executors.hpp"
#include "python/module.hpp"
#include "python/planned.hpp"
#include "python/values.hpp"

namespace lanewise::python {
namespace {

// A row of Trace.to_numpy(), as its numpy type says.
struct StepRow {
  double start_us;
  double end_us;
  std::int64_t bytes;
  double bandwidth_GBps;  // NOLINT(readability-identifier-naming): as in our files
};

Trace run(PlannedWork const& planned, std::optional<SharedMachine> const& machine, std::string const& mode) {
  if (machine && fingerprint(machine->machine()) != planned.plan.fingerprint)
    throw InputError(fmt::format(
        "the plan was made for '{}' (fingerprint {}), not for this '{}' ({}): other hardware "
        "or settings",
        planned.plan.machine, planned.plan.fingerprint, machine->machine().name, fingerprint(machine->machine())));
  return make_executor(mode, planned.machine.model())->run(planned.plan);
}

// PYBIND11_NUMPY_DTYPE would load numpy with the module.
py::dtype row_type() {
  py::list fields;
  for (auto const* name : {"start_us", "end_us"}) fields.append(py::make_tuple(name, "f8"));
  fields.append(py::make_tuple("bytes", "i8"));
  fields.append(py::make_tuple("bandwidth_GBps", "f8"));
  return py::dtype::from_args(fields);
}

py::array rows_of(Trace const& trace) {
  py::array array(row_type(), static_cast<py::ssize_t>(trace.steps.size()));
  static_assert(sizeof(StepRow) == 32);
  auto* row = static_cast<StepRow*>(array.mutable_data());
  for (auto const& step : trace.steps)
    *row++ = {in_us(step.start), in_us(step.end), step.bytes.value(), in_gigabytes_per_second(step.rate())};
  return array;
}

void bind_parts(py::module_& module) {
  py::class_<StepTrace>(module, "TraceStep", "When one step ran.")
      .def_readonly("transfer", &StepTrace::transfer, "The transfer or job that it belongs to.")
      .def_property_readonly(
          "start_us", [](StepTrace const& self) { return in_us(self.start); }, "Microseconds from the run's start.")
      .def_property_readonly(
          "end_us", [](StepTrace const& self) { return in_us(self.end); }, "Microseconds from the run's start.")
      .def_property_readonly(
          "duration_us", [](StepTrace const& self) { return in_us(self.duration()); }, "Microseconds.")
      .def_property_readonly(
          "bytes", [](StepTrace const& self) { return self.bytes.value(); }, "Bytes that it moved.")
      .def_property_readonly(
          "bandwidth_GBps", [](StepTrace const& self) { return in_gigabytes_per_second(self.rate()); },
          "Bytes over duration, in GB/s.")
      .def("__repr__", [](StepTrace const& self) {
        return fmt::format("<TraceStep {}: {} to {}>", self.transfer, rounded_text(self.start), rounded_text(self.end));
      });
  py::class_<ResourceTrace>(module, "ResourceUse", "How busy a resource was.")
      .def_readonly("name", &ResourceTrace::name, "Such as \"sw0.pcie.up\".")
      .def_readonly("bytes", &ResourceTrace::bytes, "What it carried, in weighted bytes.")
      .def_readonly("utilisation", &ResourceTrace::utilisation, "Of its capacity over the makespan, 0 to 1.")
      .def("__repr__", [](ResourceTrace const& self) {
        return fmt::format("<ResourceUse {}: {:.0f} %>", self.name, 100 * self.utilisation);
      });
}

void bind_trace(py::module_& module) {
  py::class_<Trace>(module, "Trace", "When each step of a plan ran, and how busy each resource was.")
      .def_readonly("mode", &Trace::mode, "sim or estimate; hw in traces of real runs.")
      .def_readonly("machine", &Trace::machine, "The machine's name.")
      .def_readonly("environment", &Trace::environment, "What ran it: executor and version, host.")
      .def_readonly("steps", &Trace::steps, "In the order of the plan's steps.")
      .def_readonly("resources", &Trace::resources, "Those that carried anything, busiest first.")
      .def_property_readonly(
          "makespan_us", [](Trace const& self) { return in_us(self.makespan); }, "Microseconds until all was done.")
      .def("to_numpy", &rows_of,
           "The steps as a structured array with the fields start_us, end_us, bytes and bandwidth_GBps.")
      .def(
          "to_json", [](Trace const& self) { return to_json(self).dump(2); }, py::call_guard<py::gil_scoped_release>(),
          "The trace as JSON (trace/2).")
      .def(
          "to_dict", [](Trace const& self) { return dict_from([&] { return to_json(self); }); },
          "The trace's JSON as dicts and lists.")
      .def_static(
          "from_json", [](std::string text) { return read_trace(SourceText::from_memory("trace", std::move(text))); },
          py::arg("text"), py::call_guard<py::gil_scoped_release>(),
          "Reads a trace that to_json() or `lanewise run -o` wrote. Raises InputError when the text is none.")
      .def(
          "__eq__", [](Trace const& a, Trace const& b) { return a == b; }, py::is_operator())
      .def("__repr__", [](Trace const& self) {
        return fmt::format("<Trace on {} ({}): {} steps, {}>", self.machine, self.mode, self.steps.size(),
                           rounded_text(self.makespan));
      });
}

}  // namespace

void bind_running(py::module_& module) {
  bind_parts(module);
  bind_trace(module);
  module.def(
      "run", &run, py::arg("plan"), py::arg("machine") = py::none(), py::kw_only(), py::arg("mode") = "sim",
      py::call_guard<py::gil_scoped_release>(),
      "Runs a plan: simulated (sim), or as the planner itself estimates it (estimate).\n\n"
      "machine: when given, the plan must have been made for it as it is.\n\n"
      "Simulations of one process run one at a time, whatever its threads ask for.\n\n"
      "Raises InputError for another machine or a mode that there is not, PlanError when a step needs an unknown\n"
      "figure, and MissingError in mode sim where the simulator is not installed.");
}

}  // namespace lanewise::python
