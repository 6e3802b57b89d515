// lanewise.Scenario, lanewise.Plan and lower bounds. Python's lanewise.plan() makes a scenario of what it is given.
#include <fmt/format.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>

#include "lanewise/io/bundled.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/scenario/prepared_plan.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "python/candidate.hpp"
#include "python/module.hpp"
#include "python/planned.hpp"
#include "python/values.hpp"

namespace lanewise::python {
namespace {

namespace fs = std::filesystem;

// ---------------------------------------------------------------------------------------------------------- scenarios

Scenario load_scenario(fs::path const& name_or_path) {
  return read_scenario(SourceText::load(scenario_file(name_or_path.string())));
}

Scenario scenario_from(std::string text, std::string name) {
  return read_scenario(SourceText::from_memory(std::move(name), std::move(text)));
}

std::vector<std::string> variants_of(Scenario const& scenario) {
  std::vector<std::string> names;
  for (auto const& variant : scenario.variants)
    if (!variant.name.empty()) names.push_back(variant.name);
  return names;
}

void bind_scenario(py::module_& module) {
  py::class_<Scenario>(module, "Scenario", "A workload, and what is known to be true of it.")
      .def_readonly("name", &Scenario::name, "Its name.")
      .def_readonly("title", &Scenario::title, "What it shows, in a sentence.")
      .def_readonly("source", &Scenario::source, "Where its expectations come from.")
      .def_readonly("machines", &Scenario::machines, "The machines that it names, by name or file.")
      .def_property_readonly("variants", &variants_of, "Names of its variants of settings; empty: there are none.")
      .def_static("from_yaml", &scenario_from, py::arg("text"), py::arg("name") = "scenario.yaml",
                  py::call_guard<py::gil_scoped_release>(),
                  "Reads a scenario from a text; `name` stands for the file in messages. Raises InputError with every\n"
                  "problem.")
      .def("__repr__", [](Scenario const& self) { return fmt::format("<Scenario {}>", self.name); });
  module.def("scenario", &load_scenario, py::arg("name_or_path"), py::call_guard<py::gil_scoped_release>(),
             "A scenario from a file, or one that comes with lanewise by its name. Raises InputError when there is\n"
             "neither, or with every problem of the file.");
}

// -------------------------------------------------------------------------------------------------------------- plans

PlannedWork plan_scenario(SharedMachine const& machine, Scenario const& scenario, std::string const& variant,
                          std::optional<std::string> const& objective, std::string const& effort, bool unfolded) {
  Catalogue catalogue(topology_folders());
  auto changed = machine.machine();
  apply_variant(changed, scenario, variant, catalogue);
  auto const used = changed == machine.machine() ? machine : SharedMachine(std::move(changed));
  Aim const aim{objective ? value_of(parse_objective(*objective)) : scenario.objective, value_of(parse_effort(effort)),
                unfolded ? Detail::EveryStep : Detail::Folded};
  return {used, plan_of(scenario, used.model(), aim),
          [scenario, aim](Model const& other) { return plan_of(scenario, other, aim); }};
}

PlannedWork plan_from(std::string const& text, SharedMachine const& machine) {
  nlohmann::ordered_json json;
  try {
    json = nlohmann::ordered_json::parse(text);
  } catch (nlohmann::json::parse_error const& error) {
    throw InputError(fmt::format("not a plan: {}", error.what()));
  }
  auto plan = plan_from_json(json, machine.machine());
  return {machine, plan, [plan](Model const&) { return plan; }};
}

// A step or a decision, with names in place of ids.
struct StepView {
  StepView(Step const& step, Machine const& machine)
      : transfer(step.transfer),
        source(machine.name_of(step.from)),
        target(machine.name_of(step.to)),
        bytes(step.bytes.value()),
        op(to_string(step.op)),
        way(text_of(step.way, machine)),
        mechanism(to_string(step.way.mechanism)),
        reduces(step.reduces),
        work_us(in_us(step.work)),
        count(step.count) {
    for (auto const id : step.after) after.push_back(index(id));
    for (auto const id : step.order_only) order_only.push_back(index(id));
  }
  std::string transfer, source, target;
  std::int64_t bytes;
  std::string op, way, mechanism;
  std::vector<std::size_t> after, order_only;
  bool reduces;
  double work_us;
  std::uint32_t count;
};

struct DecisionView {
  DecisionView(Decision const& decision, Machine const& machine)
      : transfer(decision.transfer),
        step(index(decision.step)),
        candidates(views_of(decision.candidates, machine)),
        chosen(candidates.at(decision.chosen)) {
    for (auto const& piece : decision.others) pieces.emplace_back(index(piece.step), candidates.at(piece.candidate));
  }
  std::string transfer;
  std::size_t step;
  std::vector<CandidateView> candidates;
  CandidateView chosen;
  std::vector<std::pair<std::size_t, CandidateView>> pieces;
};

template <class View, class Item>
std::vector<View> views_of_all(std::vector<Item> const& items, Machine const& machine) {
  std::vector<View> views;
  views.reserve(items.size());
  for (auto const& item : items) views.emplace_back(item, machine);
  return views;
}

void bind_steps(py::module_& module) {
  py::class_<StepView>(module, "Step", "What starts and finishes in a run: a move of bytes, or a computation.")
      .def_readonly("transfer", &StepView::transfer, "The transfer or job that it belongs to.")
      .def_readonly("source", &StepView::source, "The place that the data comes from, or where it computes.")
      .def_readonly("target", &StepView::target, "The place that the data goes to.")
      .def_readonly("bytes", &StepView::bytes, "Bytes that it moves; 0: it computes.")
      .def_readonly("op", &StepView::op, "copy, write, read, ...")
      .def_readonly("way", &StepView::way, "The mechanism with its choices.")
      .def_readonly("mechanism", &StepView::mechanism, "nvlink, pcie_p2p, host_staged, ...")
      .def_readonly("after", &StepView::after, "Steps that must have finished, by position.")
      .def_readonly("order_only", &StepView::order_only,
                    "Steps that must have finished too, only to avoid contention: no data of theirs is needed.")
      .def_readonly("reduces", &StepView::reduces, "Whether it adds what arrives to what the target holds.")
      .def_readonly("work_us", &StepView::work_us, "Microseconds of computing; 0: it moves bytes.")
      .def_readonly("count", &StepView::count,
                    "The steps that it stands for, in a plan that says of many alike nodes what one does; 1: itself.")
      .def("__repr__", [](StepView const& self) {
        return fmt::format("<Step {}: {} to {}, {}>", self.transfer, self.source, self.target, self.way);
      });
  py::class_<DecisionView>(module, "Decision", "Which way a transfer takes, and what it was compared with.")
      .def_readonly("transfer", &DecisionView::transfer, "The transfer's id.")
      .def_readonly("step", &DecisionView::step, "Its step by position; of a split transfer the largest piece's.")
      .def_readonly("candidates", &DecisionView::candidates, "Every way that was considered.")
      .def_readonly("chosen", &DecisionView::chosen, "The way of that step.")
      .def_readonly("pieces", &DecisionView::pieces, "Step and way of the other pieces of a split transfer.")
      .def("__repr__",
           [](DecisionView const& self) { return fmt::format("<Decision {}: {}>", self.transfer, self.chosen.way); });
}

std::string json_text(PlannedWork const& self) { return to_json(self.plan, self.machine.machine()).dump(2); }

void bind_plan(py::module_& module) {
  py::class_<PlannedWork>(module, "Plan", "Steps with dependencies, each with its way, and what was compared.")
      .def_readonly("machine", &PlannedWork::machine, "The machine that it was made for, with the scenario's settings.")
      .def_property_readonly(
          "steps",
          [](PlannedWork const& self) { return views_of_all<StepView>(self.plan.steps, self.machine.machine()); },
          "What runs. A trace has its steps in the same order.")
      .def_property_readonly(
          "decisions",
          [](PlannedWork const& self) {
            return views_of_all<DecisionView>(self.plan.decisions, self.machine.machine());
          },
          "One for each transfer of a set.")
      .def_property_readonly(
          "algorithm",
          [](PlannedWork const& self) {
            auto const& collective = self.plan.collective;
            return collective ? text_or_none(to_string(collective->algorithm)) : std::nullopt;
          },
          "How a collective is done: ring, packed_trees, ...; None where the plan is no single collective.")
      .def("to_json", &json_text, py::call_guard<py::gil_scoped_release>(), "The plan as JSON (plan/3).")
      .def(
          "to_dict",
          [](PlannedWork const& self) { return dict_from([&] { return to_json(self.plan, self.machine.machine()); }); },
          "The plan's JSON as dicts and lists.")
      .def_static(
          "from_json", &plan_from, py::arg("text"), py::arg("machine"), py::call_guard<py::gil_scoped_release>(),
          "Reads a plan that to_json() or `lanewise plan -o` wrote. Raises InputError when the text is no plan or the\n"
          "plan was made for another machine, and PlanError when its steps do not fit one another.")
      .def(
          "__eq__", [](PlannedWork const& a, PlannedWork const& b) { return a.plan == b.plan; }, py::is_operator())
      .def("__repr__", [](PlannedWork const& self) {
        return fmt::format("<Plan for {}: {} steps>", self.plan.machine, self.plan.steps.size());
      });
}

void bind_bound(py::module_& module) {
  py::class_<LowerBound>(module, "Bound", "A time that no plan of the same work beats.")
      .def_property_readonly(
          "makespan_us", [](LowerBound const& self) { return in_us(self.makespan); }, "Microseconds.")
      .def_property_readonly(
          "binding",
          [](LowerBound const& self) {
            std::vector<std::pair<std::string, double>> parts;
            for (auto const& part : self.binding) parts.emplace_back(part.name, part.share);
            return parts;
          },
          "Resources and engines that set it, each with its share: by how much it falls, relative to itself, for each\n"
          "relative increase of that one's capacity. Largest first.")
      .def(
          "gap", [](LowerBound const& self, double makespan_us) { return self.gap(Seconds(makespan_us * 1e-6)); },
          py::arg("makespan_us"), "How much longer a run takes: 0.05 is 5 %.")
      .def("__repr__", [](LowerBound const& self) {
        return fmt::format("<Bound {}: {}>", rounded_text(self.makespan), binding_text(self));
      });
  module.def(
      "bound", [](PlannedWork const& planned) { return lower_bound(planned.plan, planned.machine.model()); },
      py::arg("plan"), py::call_guard<py::gil_scoped_release>(),
      "A lower bound on the time of any plan of this work; None where a transfer has no way of known cost.");
}

}  // namespace

void bind_planning(py::module_& module) {
  bind_scenario(module);
  bind_steps(module);
  bind_plan(module);
  bind_bound(module);
  module.def("plan_scenario", &plan_scenario, py::arg("machine"), py::arg("scenario"), py::arg("variant"),
             py::arg("objective"), py::arg("effort"), py::arg("unfolded"), py::call_guard<py::gil_scoped_release>(),
             "What plan() calls.");
}

}  // namespace lanewise::python
