// Our exceptions as Python's: lanewise.Error, and InputError, PlanError, MissingError and DeviceError below it.
#include "lanewise/io/error.hpp"

#include "python/module.hpp"
#include "python/values.hpp"

namespace lanewise::python {
namespace {

// Types of Python live as long as the process: a module is never unloaded.
struct ErrorTypes {
  py::handle error, input, plan, missing, device;
};

ErrorTypes& types() {
  static ErrorTypes all;
  return all;
}

py::handle new_type(py::module_& module, std::string const& name, py::handle base, char const* doc) {
  auto* const type = PyErr_NewExceptionWithDoc(("lanewise." + name).c_str(), doc, base.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  module.add_object(name.c_str(), type);
  return type;
}

void raise(py::handle type, std::exception const& error, char const* attribute, py::object const& value) {
  py::object const instance = type(error.what());
  instance.attr(attribute) = value;
  PyErr_SetObject(type.ptr(), instance.ptr());
}

void translate(std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param): pybind11's signature
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (InputError const& error) {
    raise(types().input, error, "problems", py::cast(error.diagnostics()));
  } catch (DeviceError const& error) {
    raise(types().device, error, "code", py::cast(error.code()));
  } catch (PlanError const& error) {
    PyErr_SetString(types().plan.ptr(), error.what());
  } catch (MissingError const& error) {
    PyErr_SetString(types().missing.ptr(), error.what());
  } catch (Error const& error) {
    PyErr_SetString(types().error.ptr(), error.what());
  }
}

}  // namespace

void bind_errors(py::module_& module) {
  py::class_<Diagnostic>(module, "Problem", "One thing that is wrong in a file or a text.")
      .def_property_readonly(
          "file", [](Diagnostic const& problem) { return problem.pos.file; }, "The file, or the name of the text.")
      .def_property_readonly(
          "line", [](Diagnostic const& problem) { return problem.pos.line; }, "From 1; 0: the whole file.")
      .def_property_readonly(
          "column", [](Diagnostic const& problem) { return problem.pos.column; }, "From 1; 0: the whole file.")
      .def_readonly("text", &Diagnostic::message, "What is wrong.")
      .def_readonly("source_line", &Diagnostic::source_line, "The line itself; empty where none is shown.")
      .def("__repr__", [](Diagnostic const& problem) {
        return "<Problem " + problem.pos.file + ":" + std::to_string(problem.pos.line) + ": " + problem.message + ">";
      });
  auto& all = types();
  all.error = new_type(module, "Error", PyExc_Exception, "Everything that lanewise raises.");
  all.input = new_type(module, "InputError", all.error,
                       "A file, a text, a name or an argument is wrong. `problems` lists what is wrong in a file or a\n"
                       "text, each with its place; it is empty where the argument itself is wrong.");
  all.plan = new_type(module, "PlanError", all.error,
                      "A well-formed request has no answer: no legal way, or a figure is unknown.");
  all.missing = new_type(module, "MissingError", all.error,
                         "Something is not installed, such as the simulator. The message says what provides it.");
  all.device = new_type(module, "DeviceError", all.error, "A device or its driver failed. `code` is its error number.");
  all.input.attr("problems") = py::list();
  all.device.attr("code") = 0;
  py::register_exception_translator(translate);
}

}  // namespace lanewise::python
