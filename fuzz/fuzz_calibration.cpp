// Fuzzes the reader and the writer of calibrations. The property: any text is a calibration or a lanewise::Error; a
// calibration reads back the same, and applies to a machine or is refused.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/calibration/calibration.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace {

constexpr char kMachine[] =
    "{lanewise: machine/1, machine: m, parts: {gpu: {kind: gpu, link: gen4 x16, memory_bandwidth: 900 GB/s}, "
    "cpu: {kind: cpu, root_port_generation: 4}}, sockets: [{socket: cpu0, part: cpu, pcie: ["
    "{gpu: gpu0, part: gpu}, {gpu: gpu1, part: gpu}, {nic: nic0, part: unknown}]}]}";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({});
  static Machine const machine = catalogue.machine_from(SourceText::from_memory("machine.yaml", kMachine));
  static auto const machine_fingerprint = fingerprint(machine);
  std::string const text(data, data + size);
  try {
    auto calibration = read_calibration(SourceText::from_memory("fuzz.yaml", text));
    auto const written = write_calibration(calibration);
    auto const again = write_calibration(read_calibration(SourceText::from_memory("written.yaml", written)));
    if (again != written) throw std::logic_error("a calibration does not read back the same:\n" + written);
    calibration.machine = machine.name;
    calibration.fingerprint = machine_fingerprint;
    auto changed = machine;
    apply(calibration, changed);
    Model const model(std::move(changed));
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
