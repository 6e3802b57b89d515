#pragma once
// The nodes that run plans, seen from one of their processes. The first process plans and runs; the others serve it.
#include <memory>
#include <string>
#include <vector>

#include "core/measurement/meter.hpp"
#include "hw/options/hardware_settings.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

class Nodes {
 public:
  Nodes() = default;
  Nodes(Nodes const&) = delete;
  Nodes& operator=(Nodes const&) = delete;
  virtual ~Nodes() = default;  // in the first process: ends the others

  [[nodiscard]] virtual int processes() const = 0;
  [[nodiscard]] virtual bool is_first() const = 0;
  // The name of each process's host.
  [[nodiscard]] virtual std::vector<std::string> const& hosts() const = 0;
  // Every process's text, in every process. All call it together, before the others serve.
  virtual std::vector<std::string> gather(std::string text) = 0;
  // Takes part in every plan that the first process runs, until that ends.
  virtual void serve() = 0;
  // The first process of each of a machine's nodes. Throws MissingError when the processes do not match them.
  [[nodiscard]] virtual std::vector<int> first_of_nodes(std::size_t nodes) const = 0;
  // In the first process: an executor of plans that cross the network. Throws MissingError when the processes do not
  // match the machine's nodes.
  virtual std::unique_ptr<Executor> make_executor(Model const& model, HardwareSettings const& settings) = 0;
  // The same of a meter of transfers between nodes.
  virtual std::unique_ptr<Meter> make_meter(Model const& model, HardwareSettings const& settings) = 0;
};

}  // namespace lanewise::hw
