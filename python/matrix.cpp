// lanewise.matrix: one figure for every pair of places, as numpy arrays.
#include "lanewise/explain/matrix.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <limits>

#include "lanewise/explain/places.hpp"
#include "python/executors.hpp"
#include "python/machine.hpp"
#include "python/module.hpp"
#include "python/values.hpp"

namespace lanewise::python {
namespace {

struct MachineMatrix {
  Matrix matrix;
  std::string machine;
};

MachineMatrix matrix_of(SharedMachine const& machine, std::optional<std::vector<std::string>> const& places,
                        Size const& bytes, std::string const& op, std::string const& mode, bool bidirectional) {
  auto const& model = machine.model();
  MatrixQuery query;
  query.bytes = bytes_of(bytes);
  query.op = value_of(parse_op(op));
  query.bidirectional = bidirectional;
  for (auto const& name : places ? places_named(model.machine(), *places) : all_gpus(model.machine()))
    query.places.push_back(model.machine().place(name));
  auto const executor = mode == "model" ? nullptr : make_executor(mode, model);
  return {make_matrix(model, query, executor.get()), model.machine().name};
}

// A figure of every cell; nan where the cell has none.
template <class Figure>
py::array_t<double> array_of(MachineMatrix const& self, Figure figure) {
  auto const& cells = self.matrix.cells;
  auto const count = static_cast<py::ssize_t>(cells.size());
  py::array_t<double> array({count, count});
  auto values = array.mutable_unchecked<2>();
  for (py::ssize_t i = 0; i < count; ++i)
    for (py::ssize_t k = 0; k < count; ++k)
      values(i, k) = figure(cells[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)])
                         .value_or(std::numeric_limits<double>::quiet_NaN());
  return array;
}

// A text of every cell, or None.
template <class Text>
std::vector<std::vector<std::optional<std::string>>> texts_of(MachineMatrix const& self, Text text) {
  std::vector<std::vector<std::optional<std::string>>> rows;
  for (auto const& cells : self.matrix.cells) {
    auto& row = rows.emplace_back();
    for (auto const& cell : cells) row.push_back(text_or_none(text(cell)));
  }
  return rows;
}

using Cell = Matrix::Cell;

void bind_figures(py::class_<MachineMatrix>& type) {
  type.def_property_readonly(
          "bandwidth_GBps",
          [](MachineMatrix const& self) {
            return array_of(self, [](Cell const& cell) { return in_gigabytes_per_second(cell.rate); });
          },
          "Rates in GB/s (10^9 bytes per second), [from, to]: bytes over the whole time, or the sum of both "
          "directions.\n"
          "nan where there is no legal way, or a figure is unknown.")
      .def_property_readonly(
          "time_us",
          [](MachineMatrix const& self) { return array_of(self, [](Cell const& cell) { return in_us(cell.time); }); },
          "Times in microseconds, [from, to]; nan where there is no legal way, or a figure is unknown.")
      .def_property_readonly(
          "mechanisms",
          [](MachineMatrix const& self) { return texts_of(self, [](Cell const& cell) { return cell.mechanism; }); },
          "The mechanism of each pair, [from][to]; None where there is no legal way.")
      .def_property_readonly(
          "path_classes",
          [](MachineMatrix const& self) { return texts_of(self, [](Cell const& cell) { return cell.path; }); },
          "What lies between each pair in the words of nvidia-smi topo -m (PIX, PXB, PHB, NODE, SYS), [from][to].")
      .def_property_readonly(
          "missing",
          [](MachineMatrix const& self) { return texts_of(self, [](Cell const& cell) { return cell.missing; }); },
          "The unknown figure that keeps a legal way from having a time, [from][to]; None where there is none.");
}

}  // namespace

void bind_matrix(py::module_& module) {
  py::class_<MachineMatrix> type(module, "Matrix", "One figure for every pair of places, each pair by itself.");
  type.def_readonly("machine", &MachineMatrix::machine, "The machine's name.")
      .def_property_readonly(
          "names", [](MachineMatrix const& self) { return self.matrix.names; }, "The places, of rows and of columns.")
      .def_property_readonly(
          "mode", [](MachineMatrix const& self) { return self.matrix.mode; }, "model, sim or estimate.")
      .def_property_readonly(
          "bytes", [](MachineMatrix const& self) { return self.matrix.question.bytes.value(); },
          "The size of each transfer in bytes.")
      .def(
          "to_dict",
          [](MachineMatrix const& self) { return dict_from([&] { return matrix_json(self.matrix, self.machine); }); },
          "What `lanewise matrix --json` prints.")
      .def("__repr__", [](MachineMatrix const& self) {
        return fmt::format("<Matrix of {}: {} places, {}>", self.machine, self.matrix.names.size(), self.matrix.mode);
      });
  bind_figures(type);
  module.def(
      "matrix", &matrix_of, py::arg("machine"), py::kw_only(), py::arg("places") = py::none(),
      py::arg("bytes") = "256 MiB", py::arg("op") = "copy", py::arg("mode") = "model", py::arg("bidirectional") = false,
      py::call_guard<py::gil_scoped_release>(),
      "The time and rate of a transfer between every two places, each pair by itself.\n\n"
      "places: names and ranges, [\"gpu0..gpu3\", \"cpu0\", \"nic0\"]; all GPUs when absent.\n"
      "bytes: the size of each transfer: a number of bytes, or a text such as \"256 MiB\".\n"
      "op: copy, write, read, load_store, atomic, prefetch or fault.\n"
      "mode: model (each pair alone on an idle machine), sim (simulated) or estimate (as the planner does).\n"
      "bidirectional: both directions at once, and the sum of their rates; only in modes sim and estimate.\n\n"
      "Raises InputError for a place, size, op or mode that there is not, PlanError for both directions in mode\n"
      "model, and MissingError in mode sim where the simulator is not installed.");
}

}  // namespace lanewise::python
