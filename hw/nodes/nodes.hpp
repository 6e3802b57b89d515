#pragma once
// The nodes that a program runs plans on, seen from one of their processes: the first plans and asks, the others serve.
#include <memory>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "hw/repetition.hpp"

namespace lanewise::hw {

class Nodes {
 public:
  Nodes() = default;
  Nodes(Nodes const&) = delete;
  Nodes& operator=(Nodes const&) = delete;
  virtual ~Nodes() = default;  // of the first: lets the others go

  [[nodiscard]] virtual int processes() const = 0;
  [[nodiscard]] virtual bool is_first() const = 0;
  // Does its part of every plan that the first runs, until that is done.
  virtual void serve() = 0;
  // Of the first: plans whose steps cross the network. Throws MissingError when the processes are not as many as the
  // machine's nodes.
  virtual std::unique_ptr<Executor> make_executor(Model const& model, Repetition repetition) = 0;
};

}  // namespace lanewise::hw
