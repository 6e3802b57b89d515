#pragma once
#include "lanewise/model/model.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {

// Two H200 of one host, joined by NVLink.
inline Model const& two_gpus() {
  static auto const machine = bundled().machine("h200x2-vm");
  static Model const model(machine);
  return model;
}

}  // namespace lanewise::test
