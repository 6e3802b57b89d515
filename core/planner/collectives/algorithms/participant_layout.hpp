#pragma once
#include <optional>
#include <vector>

#include "core/planner/collectives/trees/packing.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// The participants whose nearest host memory this is.
struct NearMemory {
  NumaId memory{};
  std::vector<std::size_t> participants;
};

// Where the participants of a collective are, as far as algorithms need to know. Participants are numbered as they are
// listed.
struct ParticipantLayout {
  std::vector<std::vector<std::size_t>> rings;   // orders of all participants; no two rings share a link
  std::vector<std::vector<std::size_t>> groups;  // by node; within one node, by NVLink
  // Where the groups are nodes of different sizes: of each the members with the numbers, among all GPUs of their node,
  // that every group has; and the rest. Empty otherwise, and where groups have fewer than two such numbers in common.
  std::vector<std::vector<std::size_t>> common_groups, other_members;
  // Whether each two participants of a group have NVLink or xGMI links of their own, as on a full mesh.
  bool groups_are_meshes = false;
  [[nodiscard]] bool is_one_mesh() const { return groups_are_meshes && groups.size() == 1; }
  std::size_t pipeline_chunks = 1;  // of data that goes along chains and trees
  // Memory m is participant n + m of a schedule. Empty if a participant is no GPU or on another node.
  std::vector<NearMemory> near_memories;
  std::optional<Packing> packing;  // over the participants and these memories
};

ParticipantLayout layout_of(Model const& model, Collective const& collective);

}  // namespace lanewise
