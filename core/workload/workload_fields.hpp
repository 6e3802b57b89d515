#pragma once
// The keys of the simple blocks of a workload, and the members that they fill.
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/field.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

std::vector<Field<Precisions>> const& precision_fields();
std::vector<Field<Parallelism>> const& parallel_fields();
std::vector<Field<Batch>> const& batch_fields();
std::vector<Field<ExpertRouting>> const& routing_fields();
std::vector<Field<Overlap>> const& overlap_fields();

std::vector<Field<Offload>> const& offload_fields();
std::vector<Field<Checkpoint>> const& checkpoint_fields();
std::vector<Field<DataLoading>> const& data_fields();

MapSpec const& precision_spec();
MapSpec const& parallel_spec();
MapSpec const& batch_spec();
MapSpec const& routing_spec();
MapSpec const& overlap_spec();
MapSpec const& offload_spec();
MapSpec const& checkpoint_spec();
MapSpec const& data_spec();

// A key whose value is a mapping.
FieldSpec map_field(std::string name, std::string doc, MapSpec const& map);

template <class Object>
void read_fields(MapReader& reader, std::vector<Field<Object>> const& fields, Object& object) {
  for (auto const& field : fields) field.read(object, reader);
}

template <class Object>
void read_block(MapReader& reader, std::string_view key, std::vector<Field<Object>> const& fields, Object& object) {
  if (auto block = reader.map(key)) read_fields(*block, fields, object);
}

}  // namespace lanewise
