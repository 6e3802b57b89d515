// Fuzzes the readers of design briefs, prices and language models. The property: any text is one of them or a
// lanewise::Error. The first byte says which.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/design/brief.hpp"
#include "core/design/prices.hpp"
#include "core/workload/traffic.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/workload/language_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  if (size == 0) return 0;
  auto const source = [&] { return SourceText::from_memory("fuzz", std::string(data + 1, data + size)); };
  try {
    switch (data[0] % 4) {
      case 0:
        for (auto const& job : read_design_brief(source()).jobs)
          if (job.scenario.workload) static_cast<void>(traffic_of(*job.scenario.workload));
        break;
      case 1: static_cast<void>(read_prices(source())); break;
      case 2: static_cast<void>(count_parameters(read_language_model(source()))); break;
      default: static_cast<void>(count_parameters(read_hugging_face_config(source())));
    }
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
