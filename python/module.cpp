// The extension module lanewise._lanewise. The package around it (python/lanewise) is what users import.
#include "python/module.hpp"

PYBIND11_MODULE(_lanewise, module) {
  // Signatures are in the stubs, with the types that users see.
  pybind11::options options;
  options.disable_function_signatures();
  module.doc() = "What the package lanewise is made of; import that.";
  module.attr("__version__") = LANEWISE_VERSION;
  lanewise::python::bind_errors(module);
  lanewise::python::bind_machine(module);
  lanewise::python::bind_matrix(module);
  lanewise::python::bind_candidates(module);
  lanewise::python::bind_planning(module);
  lanewise::python::bind_running(module);
  lanewise::python::bind_explanations(module);
  lanewise::python::bind_checking(module);
}
