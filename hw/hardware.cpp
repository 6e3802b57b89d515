#include "hw/hardware.hpp"

#include "hw/executor_factory.hpp"

lanewise::hw::Hardware const* lanewise_hardware() {
  static constexpr lanewise::hw::Hardware kHardware{lanewise::hw::make_cuda_executor, lanewise::hw::make_cuda_meter,
                                                    lanewise::hw::cuda_text, lanewise::hw::discover,
                                                    lanewise::hw::discovery_json};
  return &kHardware;
}
