#pragma once
// The parts of the extension module, by subject. Each adds its types and functions; types that others use come first.
#include <pybind11/pybind11.h>

namespace lanewise::python {

void bind_errors(pybind11::module_& module);
void bind_machine(pybind11::module_& module);
void bind_matrix(pybind11::module_& module);
void bind_candidates(pybind11::module_& module);
void bind_planning(pybind11::module_& module);
void bind_running(pybind11::module_& module);
void bind_explanations(pybind11::module_& module);
void bind_checking(pybind11::module_& module);

}  // namespace lanewise::python
