#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "core/io/yaml.hpp"

namespace lanewise::test {

// Values of a field as they stand in a file. One at least is not the default.
inline std::vector<nlohmann::ordered_json> field_samples(FieldSpec const& spec) {
  switch (spec.type) {
    case ValueType::Flag: return {true, false};
    case ValueType::Word: return {spec.words.begin(), spec.words.end()};
    case ValueType::Count: return {7};
    case ValueType::Size: return {"384 B"};
    case ValueType::Rate: return {"12.5 GB/s"};
    case ValueType::Time: return {"77 ns"};
    case ValueType::Frequency: return {"19.2 M/s"};
    case ValueType::Work: return {"1.5 TFLOP"};
    case ValueType::WorkRate: return {"312 TFLOP/s"};
    case ValueType::Power: return {"350 W"};
    case ValueType::Ratio: return {"0.875"};
    case ValueType::List: return {nlohmann::ordered_json::array({"one", "two"})};
    case ValueType::Custom: return {"gen3 x8"};
    default: return {"text"};
  }
}

}  // namespace lanewise::test
