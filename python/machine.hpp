#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "lanewise/machine/machine.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise::python {

// A machine that never changes, and its model once something asks for it. Copies share both, in any thread.
class SharedMachine {
 public:
  explicit SharedMachine(Machine machine) : state_(std::make_shared<State>(std::move(machine))) {}
  [[nodiscard]] Machine const& machine() const { return state_->machine; }
  [[nodiscard]] Model const& model() const {
    std::call_once(state_->modelled, [this] { state_->model.emplace(state_->machine); });
    return *state_->model;
  }

 private:
  struct State {
    explicit State(Machine of) : machine(std::move(of)) {}
    Machine machine;
    std::once_flag modelled;
    std::optional<Model> model;
  };
  std::shared_ptr<State> state_;
};

}  // namespace lanewise::python
