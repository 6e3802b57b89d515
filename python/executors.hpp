#pragma once
#include <memory>
#include <string>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::python {

// Throws InputError for a mode other than "sim" and "estimate".
void require_mode(std::string const& mode);
// The executor of a mode: "sim" or "estimate". The model must outlive it. Throws as require_mode(), and MissingError
// where the simulator is not installed. The first of mode "sim" loads SimGrid.
std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model);

}  // namespace lanewise::python
