// lanewise.check: a scenario run on its machines and held to its expectations.
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "lanewise/io/bundled.hpp"
#include "lanewise/verdict/scenario_check.hpp"
#include "python/executors.hpp"
#include "python/machine.hpp"
#include "python/module.hpp"
#include "python/values.hpp"

namespace lanewise::python {
namespace {

namespace fs = std::filesystem;

using MachineOrName = std::variant<std::string, SharedMachine>;

// Puts these machines in place of those that the scenario names. Returns those that were given as objects, by name.
std::map<std::string, SharedMachine> use_machines(Scenario& scenario, std::vector<MachineOrName> const& machines) {
  std::map<std::string, SharedMachine> given;
  scenario.machines.clear();
  scenario.machine_positions.clear();
  for (auto const& machine : machines) {
    auto const* object = std::get_if<SharedMachine>(&machine);
    auto const name = object != nullptr ? object->machine().name : std::get<std::string>(machine);
    scenario.machines.push_back(name);
    if (object != nullptr && !given.emplace(name, *object).second)
      throw InputError(fmt::format("two machines are called '{}'; rename one: machine.renamed(\"...\")", name));
  }
  return given;
}

ScenarioVerdict check(Scenario scenario, std::optional<std::vector<MachineOrName>> const& machines,
                      std::string const& mode, std::optional<std::string> const& objective, std::string const& effort) {
  require_mode(mode);
  std::map<std::string, SharedMachine> given;
  if (machines) given = use_machines(scenario, *machines);
  Catalogue catalogue(topology_folders());
  auto const folder = fs::path(scenario.pos.file).parent_path();
  CheckContext context{.machine =
                           [&](std::string const& name) {
                             if (auto const found = given.find(name); found != given.end())
                               return found->second.machine();
                             auto const beside = folder / name;
                             return catalogue.machine(fs::is_regular_file(beside) ? beside.string() : name);
                           },
                       .executor = [&](Model const& model) { return make_executor(mode, model); },
                       .catalogue = catalogue,
                       .mode = mode,
                       .effort = value_of(parse_effort(effort))};
  if (objective) context.objective = value_of(parse_objective(*objective));
  return check_scenario(scenario, context);
}

// One variant on one machine.
struct RunView {
  RunView(VariantRun const& run, ScenarioVerdict const& verdict)
      : machine(run.machine),
        variant(run.variant),
        passed(verdict.passed(run)),
        failure(text_or_none(run.failure)),
        bound(run.bound) {
    if (run.ran()) trace = run.trace;
  }
  std::string machine, variant;
  bool passed;
  std::optional<std::string> failure;
  std::optional<Trace> trace;
  std::optional<LowerBound> bound;
};

std::vector<RunView> runs_of(ScenarioVerdict const& verdict) {
  std::vector<RunView> runs;
  for (auto const& run : verdict.runs) runs.emplace_back(run, verdict);
  return runs;
}

void bind_results(py::module_& module) {
  py::class_<RunView>(module, "CheckedRun", "One variant of a scenario on one machine.")
      .def_readonly("machine", &RunView::machine, "The machine's name.")
      .def_readonly("variant", &RunView::variant, "The variant's name; empty: the scenario has none.")
      .def_readonly("passed", &RunView::passed, "Whether it ran, or failed as expected, and all its expectations hold.")
      .def_readonly("failure", &RunView::failure, "Why nothing ran; None: it ran.")
      .def_readonly("trace", &RunView::trace, "When each step ran; None: nothing ran.")
      .def_readonly("bound", &RunView::bound, "What no plan beats; None where nothing ran or a cost is unknown.")
      .def("__repr__", [](RunView const& self) {
        return fmt::format("<CheckedRun {} {}: {}>", self.machine, self.variant, self.passed ? "passed" : "failed");
      });
  using Result = ExpectationResult;
  py::class_<Result>(module, "Result", "One expectation on one machine and variant.")
      .def_readonly("machine", &Result::machine, "The machine's name.")
      .def_readonly("variant", &Result::variant, "The variant's name; empty: the scenario has none.")
      .def_readonly("expected", &Result::what, "What is expected, as \"there: mechanism pcie_p2p\".")
      .def_readonly("passed", &Result::passed, "Whether it holds.")
      .def_readonly("found", &Result::found, "The figure, or what was found instead.")
      .def_readonly("rules", &Result::rules, "Ids of the rules that explain what was found.")
      .def_property_readonly("location", &Result::location, "Where it is written: \"FILE:LINE:COLUMN\".")
      .def("__repr__", [](Result const& self) {
        return fmt::format("<Result {}: {}; found {}>", self.what, self.passed ? "passed" : "failed", self.found);
      });
  py::class_<CheckError>(module, "CheckError", "Why a scenario could not be checked on a machine.")
      .def_readonly("machine", &CheckError::machine, "The machine's name; empty: on any.")
      .def_property_readonly(
          "file", [](CheckError const& self) { return self.pos.file; }, "The file that is wrong.")
      .def_property_readonly(
          "line", [](CheckError const& self) { return self.pos.line; }, "From 1; 0: the whole file.")
      .def_readonly("message", &CheckError::message, "What is wrong.")
      .def("__repr__", [](CheckError const& self) { return "<CheckError " + self.message + ">"; });
}

}  // namespace

void bind_checking(py::module_& module) {
  bind_results(module);
  py::class_<ScenarioVerdict>(module, "Verdict", "What ran in each variant on each machine, and what holds.")
      .def_readonly("scenario", &ScenarioVerdict::scenario, "The scenario's name.")
      .def_readonly("mode", &ScenarioVerdict::mode, "sim or estimate.")
      .def_property_readonly(
          "passed", [](ScenarioVerdict const& self) { return self.passed(); },
          "Whether everything ran, or failed as expected, every expectation holds, and there is no error.")
      .def_property_readonly("runs", &runs_of, "Each variant on each machine.")
      .def_readonly("results", &ScenarioVerdict::results, "Each expectation on each of them.")
      .def_readonly("errors", &ScenarioVerdict::errors,
                    "Machines that are not known or that the scenario does not fit.")
      .def(
          "to_dict", [](ScenarioVerdict const& self) { return dict_from([&] { return verdict_json({self}); }); },
          "What `lanewise check --json` prints (verdict/1).")
      .def("__repr__", [](ScenarioVerdict const& self) {
        return fmt::format("<Verdict on {}: {}>", self.scenario, self.passed() ? "passed" : "failed");
      });
  module.def("check_scenario", &check, py::arg("scenario"), py::arg("machines"), py::arg("mode"), py::arg("objective"),
             py::arg("effort"), py::call_guard<py::gil_scoped_release>(), "What check() calls.");
}

}  // namespace lanewise::python
