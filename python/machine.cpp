// lanewise.Machine: found by name, looked at, changed, read and written.
#include "python/machine.hpp"

#include <fmt/format.h>
#include <pybind11/stl/filesystem.h>

#include <functional>

#include "lanewise/explain/places.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/machine/setting.hpp"
#include "python/module.hpp"
#include "python/values.hpp"

namespace lanewise::python {
namespace {

using Names = std::vector<std::string>;

// A device of the PCI tree, with names in place of ids.
struct Device {
  std::string name;
  std::string kind;
  std::optional<std::string> part;
  std::optional<std::string> link;
  std::optional<std::string> address;
  std::string cpu;
  std::string memory;
};

std::vector<Device> devices_of(Machine const& machine) {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < machine.functions.size(); ++i) {
    PciId const id{static_cast<std::uint32_t>(i)};
    auto const& function = machine.at(id);
    Device device{.name = function.name,
                  .kind = std::string(to_string(function.kind)),
                  .part = {},
                  .link = {},
                  .address = text_or_none(function.bdf),
                  .cpu = machine.at(machine.socket_of(id)).name,
                  .memory = machine.at(machine.numa_of(id)).name};
    if (auto const* part = machine.part_of(id)) device.part = part->name;
    if (function.link) device.link = to_string(*function.link);
    devices.push_back(std::move(device));
  }
  return devices;
}

Names names_of(Machine const& machine, PciKind kind) {
  Names names;
  for (auto const id : machine.all(kind)) names.push_back(machine.at(id).name);
  return names;
}

template <class Thing>
Names names_of(std::vector<Thing> const& things) {
  Names names;
  for (auto const& thing : things) names.push_back(thing.name);
  return names;
}

// Every catalogue is of one call: it belongs to one thread, and files that changed meanwhile are read again.
Catalogue new_catalogue() { return Catalogue(topology_folders()); }

SharedMachine load(std::filesystem::path const& name_or_path) {
  return SharedMachine(new_catalogue().machine(name_or_path.string()));
}

SharedMachine from_yaml(std::string text, std::string name) {
  return SharedMachine(new_catalogue().machine_from(SourceText::from_memory(std::move(name), std::move(text))));
}

SharedMachine with_settings(SharedMachine const& self, Names const& settings) {
  auto catalogue = new_catalogue();
  auto machine = self.machine();
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), catalogue);
  return SharedMachine(std::move(machine));
}

SharedMachine renamed(SharedMachine const& self, std::string const& name) {
  auto machine = self.machine();
  if (machine.hosts.size() == 1) machine.hosts.front().machine = name;
  machine.name = name;
  return SharedMachine(std::move(machine));
}

void bind_devices(py::module_& module) {
  py::class_<Device>(module, "Device", "A device, switch or root port of a machine's PCI tree.")
      .def_readonly("name", &Device::name, "Its name in the machine, such as \"gpu0\".")
      .def_readonly("kind", &Device::kind, "gpu, nic, nvme, device, switch or root_port.")
      .def_readonly("part", &Device::part, "The part, such as \"a100-sxm4-80g\"; None: unknown, or a root port.")
      .def_readonly("link", &Device::link, "The PCIe link above it, such as \"gen4 x16\"; None: unknown.")
      .def_readonly("address", &Device::address, "Its PCI address; None: unknown.")
      .def_readonly("cpu", &Device::cpu, "The CPU socket that it is below.")
      .def_readonly("memory", &Device::memory, "The host memory (NUMA node) next to it.")
      .def("__repr__", [](Device const& device) { return fmt::format("<Device {} ({})>", device.name, device.kind); });
}

using Machines = py::class_<SharedMachine>;

void bind_contents(Machines& type) {
  type.def_property_readonly(
          "name", [](SharedMachine const& self) { return self.machine().name; }, "Its name.")
      .def_property_readonly(
          "title", [](SharedMachine const& self) { return self.machine().title; }, "What it is, in a sentence.")
      .def_property_readonly(
          "notes", [](SharedMachine const& self) { return self.machine().notes; },
          "What an importer inferred or could not find out.")
      .def_property_readonly(
          "gpus", [](SharedMachine const& self) { return all_gpus(self.machine()); }, "Names of GPUs, by number.")
      .def_property_readonly(
          "nics", [](SharedMachine const& self) { return names_of(self.machine(), PciKind::Nic); }, "Names of NICs.")
      .def_property_readonly(
          "drives", [](SharedMachine const& self) { return names_of(self.machine(), PciKind::Nvme); },
          "Names of NVMe drives.")
      .def_property_readonly(
          "cpus", [](SharedMachine const& self) { return names_of(self.machine().sockets); },
          "Names of CPU sockets. As a place, a CPU is the host memory of its first NUMA node.")
      .def_property_readonly(
          "memories", [](SharedMachine const& self) { return names_of(self.machine().numa_nodes); },
          "Names of NUMA nodes: host memory.")
      .def_property_readonly(
          "places", [](SharedMachine const& self) { return all_endpoints(self.machine()); },
          "Where data can be: GPUs, NICs, drives, host memories. Of a cluster only those of its first two nodes.")
      .def_property_readonly(
          "nodes", [](SharedMachine const& self) { return names_of(self.machine().hosts); },
          "Names of a cluster's nodes; one empty name for a single machine.")
      .def_property_readonly(
          "devices", [](SharedMachine const& self) { return devices_of(self.machine()); },
          "Everything in its PCI tree, parents before children.")
      .def_property_readonly(
          "fingerprint", [](SharedMachine const& self) { return fingerprint(self.machine()); },
          "A text that changes with whatever a plan rests on: hardware, parts, settings.");
}

void bind_changes(Machines& type) {
  type.def(
          "set",
          [](SharedMachine const& self, py::args const& settings) {
            auto const texts = settings.cast<Names>();
            return without_gil([&] { return with_settings(self, texts); });
          },
          "A copy with these settings, such as \"acs=on\", \"iommu=translated\", \"link@gpu3=gen3 x8\": those of\n"
          "`lanewise --set`, applied in order. Raises InputError with the allowed keys, values or names.")
      .def("renamed", &renamed, py::arg("name"), py::call_guard<py::gil_scoped_release>(), "A copy with another name.")
      .def_static(
          "from_yaml", &from_yaml, py::arg("text"), py::arg("name") = "machine.yaml",
          py::call_guard<py::gil_scoped_release>(),
          "Reads a machine or a cluster from a text; `name` stands for the file in messages. Raises InputError\n"
          "with every problem.")
      .def(
          "to_yaml", [](SharedMachine const& self) { return write_machine(self.machine()); },
          py::call_guard<py::gil_scoped_release>(),
          "The machine file, which reads back to an equal machine. Raises PlanError for a cluster.")
      .def(
          "to_dict", [](SharedMachine const& self) { return dict_from([&] { return machine_tree(self.machine()); }); },
          "The machine file as dicts and lists. Raises PlanError for a cluster.");
}

}  // namespace

void bind_machine(py::module_& module) {
  bind_devices(module);
  Machines type(
      module, "Machine",
      "The hardware and settings of one machine, or of all nodes of a cluster. A value: it never changes, and\n"
      "set() returns a changed copy. Equal machines compare equal and have one hash.");
  bind_contents(type);
  bind_changes(type);
  type.def(
          "__eq__", [](SharedMachine const& a, SharedMachine const& b) { return a.machine() == b.machine(); },
          py::is_operator())
      .def("__hash__", [](SharedMachine const& self) { return std::hash<std::string>()(fingerprint(self.machine())); })
      .def("__repr__", [](SharedMachine const& self) {
        return fmt::format("<Machine {}: {} GPUs>", self.machine().name, self.machine().all(PciKind::Gpu).size());
      });
  module.def(
      "machine", &load, py::arg("name_or_path"), py::call_guard<py::gil_scoped_release>(),
      "A bundled machine or cluster by its name, or one from a file. Raises InputError when there is neither, or\n"
      "with every problem of the file. Names are looked up in the folder that the environment variable\n"
      "LANEWISE_TOPOLOGIES names, if any, then among those that come with lanewise.");
  module.def(
      "machines", [] { return new_catalogue().machine_names(); }, py::call_guard<py::gil_scoped_release>(),
      "The names of all machines that machine() knows.");
  module.def(
      "clusters", [] { return new_catalogue().cluster_names(); }, py::call_guard<py::gil_scoped_release>(),
      "The names of all clusters that machine() knows.");
}

}  // namespace lanewise::python
