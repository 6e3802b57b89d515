// lanewise.why and lanewise.why_run: why a transfer goes its way, and why a run takes so long.
#include <fmt/format.h>

#include "lanewise/explain/choice_explanation.hpp"
#include "lanewise/explain/run_explanation.hpp"
#include "python/candidate.hpp"
#include "python/executors.hpp"
#include "python/machine.hpp"
#include "python/module.hpp"
#include "python/planned.hpp"
#include "python/values.hpp"

namespace lanewise::python {

CandidateView::CandidateView(Candidate const& candidate, Machine const& machine)
    : way(text_of(candidate.way, machine)),
      mechanism(to_string(candidate.way.mechanism)),
      op(to_string(candidate.op)),
      legal(candidate.legal()),
      refused_by(text_or_none(candidate.refused_by)),
      reason(text_or_none(candidate.reason)),
      remarks(candidate.remarks),
      route(candidate.route),
      time_us(in_us(candidate.time)),
      range_us(in_us(candidate.range)),
      latency_us(in_us(candidate.latency)),
      bandwidth_GBps(in_gigabytes_per_second(candidate.rate)),
      binding(text_or_none(candidate.binding)) {}

std::vector<CandidateView> views_of(std::vector<Candidate> const& candidates, Machine const& machine) {
  std::vector<CandidateView> views;
  views.reserve(candidates.size());
  for (auto const& candidate : candidates) views.emplace_back(candidate, machine);
  return views;
}

namespace {

struct Choice {
  SharedMachine machine;
  ChoiceExplanation explanation;
};

Choice why(SharedMachine const& machine, std::string const& source, std::string const& target, Size const& bytes,
           std::string const& op) {
  Request const request{.id = "why",
                        .from = machine.machine().place(source),
                        .to = machine.machine().place(target),
                        .bytes = bytes_of(bytes),
                        .op = value_of(parse_op(op))};
  return {machine, explain_choice(machine.model(), request)};
}

py::object why_run(PlannedWork const& planned, std::string const& mode) {
  return dict_from([&] {
    auto const& model = planned.machine.model();
    auto const trace = make_executor(mode, model)->run(planned.plan);
    Replanner const replanner{planned.replan, [&](Model const& other) { return make_executor(mode, other); }};
    return why_run_json(explain_run(planned.plan, trace, model, replanner), model.machine());
  });
}

void bind_choice(py::module_& module) {
  py::class_<Choice>(module, "Choice", "One decision: every way of a transfer, and the one that is taken.")
      .def_property_readonly(
          "distance", [](Choice const& self) { return self.explanation.distance; },
          "What lies between the two places, as nvidia-smi topo -m has it: \"PIX\", \"SYS, NV4\".")
      .def_property_readonly(
          "candidates",
          [](Choice const& self) { return views_of(self.explanation.candidates, self.machine.machine()); },
          "Every way, in order of preference where times are equal.")
      .def_property_readonly(
          "chosen",
          [](Choice const& self) {
            auto const& [request, distance, candidates, chosen] = self.explanation;
            return chosen ? std::optional(CandidateView(candidates[*chosen], self.machine.machine())) : std::nullopt;
          },
          "The way that is taken; None: no way is legal.")
      .def(
          "to_dict",
          [](Choice const& self) {
            return dict_from([&] { return why_json(self.explanation, self.machine.machine()); });
          },
          "What `lanewise why --json` prints.")
      .def("__repr__", [](Choice const& self) {
        auto const& [request, distance, candidates, chosen] = self.explanation;
        return fmt::format("<Choice of {} ways: {}>", candidates.size(),
                           chosen ? text_of(candidates[*chosen].way, self.machine.machine()) : "none is legal");
      });
}

}  // namespace

void bind_candidates(py::module_& module) {
  using View = CandidateView;
  py::class_<View>(module, "Candidate", "A way that was considered, and why it was refused or what it costs.")
      .def_readonly("way", &View::way, "The mechanism with its choices: \"host_staged through numa0, 4 MiB chunks\".")
      .def_readonly("mechanism", &View::mechanism, "nvlink, pcie_p2p, host_staged, gdr, ...")
      .def_readonly("op", &View::op, "What moves it: copy, or a kernel's write or read.")
      .def_readonly("legal", &View::legal, "Whether no rule refuses it.")
      .def_readonly("refused_by", &View::refused_by, "The id of the rule that refuses it; None: legal.")
      .def_readonly("reason", &View::reason, "Of the refusal, or the unknown figure without which it has no time.")
      .def_readonly("remarks", &View::remarks, "Ids of rules that changed the way.")
      .def_readonly("route", &View::route, "What it passes, hop by hop; empty where there is no route.")
      .def_readonly("time_us", &View::time_us,
                    "Microseconds alone on an idle machine; None: refused, or a figure is unknown.")
      .def_readonly("range_us", &View::range_us, "Nine of ten measurements of the time lie between these two.")
      .def_readonly("latency_us", &View::latency_us, "Microseconds before the data flows.")
      .def_readonly("bandwidth_GBps", &View::bandwidth_GBps, "GB/s while the data flows.")
      .def_readonly("binding", &View::binding, "What limits that rate.")
      .def("__repr__", [](View const& self) {
        return fmt::format("<Candidate {}{}>", self.way, self.legal ? "" : ", refused by " + *self.refused_by);
      });
}

void bind_explanations(py::module_& module) {
  bind_choice(module);
  module.def("why", &why, py::arg("machine"), py::arg("source"), py::arg("target"), py::arg("bytes") = "256 MiB",
             py::kw_only(), py::arg("op") = "copy", py::call_guard<py::gil_scoped_release>(),
             "Why a transfer goes the way it goes: every way with its time, and what refuses or limits it.\n\n"
             "bytes: a number of bytes, or a text such as \"256 MiB\".\n\n"
             "Raises InputError for a place, size or op that there is not, and PlanError if no mechanism at all moves\n"
             "data between these places.");
  module.def(
      "why_run", &why_run, py::arg("plan"), py::kw_only(), py::arg("mode") = "sim",
      "Why a run takes as long as it does: its critical path, which resources were busiest when, and what\n"
      "would shorten it, as the dicts of `lanewise why SCENARIO --json` (times in microseconds, rates in GB/s).\n"
      "Plans and runs the work again for every possible upgrade, which takes a while for large plans.\n\n"
      "Raises MissingError in mode sim where the simulator is not installed.");
}

}  // namespace lanewise::python
