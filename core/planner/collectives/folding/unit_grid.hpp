#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/collective.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// The units of a collective (nodes, or nodes that NVLink joins) as points of a grid whose dimensions are the tiers of
// the fabric: the number of the pod, of the leaf within its pod, of the unit below its leaf, each divided into prime
// factors. Adding a displacement to all positions, digit by digit, moves the fabric onto itself. So an algorithm in
// which every unit sends to the unit at the same displacement looks alike from everywhere.
class UnitGrid {
 public:
  // Nullopt unless the nodes can be told apart, are joined by a tree of switches with equally many below each switch of
  // a tier, have the same participants, and are of at most kMaxClasses kinds.
  static std::optional<UnitGrid> of(Model const& model, Collective const& collective, ParticipantLayout const& layout);
  // So many units of one kind, in a grid of these radices, without nodes: for tests of algorithms.
  static UnitGrid of(std::vector<std::vector<std::size_t>> participants, std::vector<std::size_t> radices);
  // The same with a mesh of links within each unit.
  static UnitGrid of_meshes(std::vector<std::vector<std::size_t>> participants, std::vector<std::size_t> radices);

  static constexpr std::size_t kMaxClasses = 4;

  // The same with classes divided until units of one class meet, at each of these displacements, units of one class
  // too: then they do the same at the same time, however late others make them. Ends before there are more than
  // `max_classes`.
  [[nodiscard]] UnitGrid refined(std::vector<std::size_t> const& displacements, std::size_t max_classes) const;

  // Whether each two members of a unit have NVLink or xGMI links of their own.
  [[nodiscard]] bool units_are_meshes() const { return units_are_meshes_; }
  [[nodiscard]] std::size_t units() const { return participants_.size(); }
  [[nodiscard]] std::size_t members() const { return participants_.front().size(); }
  // The participant that is a member of the unit at a position.
  [[nodiscard]] std::size_t participant(std::size_t position, std::size_t member) const {
    return participants_[position][member];
  }
  // Coarsest first.
  [[nodiscard]] std::vector<std::size_t> const& radices() const { return radices_; }
  // The position at a displacement from another.
  [[nodiscard]] std::size_t plus(std::size_t position, std::size_t displacement) const;
  // The displacement back.
  [[nodiscard]] std::size_t negative(std::size_t displacement) const;

  [[nodiscard]] std::size_t classes() const { return folding_.size(); }
  [[nodiscard]] std::uint32_t class_of(std::size_t position) const { return class_of_[position]; }
  // The position of the first unit of a class.
  [[nodiscard]] std::size_t first_of(std::size_t unit_class) const { return firsts_[unit_class]; }
  [[nodiscard]] Folding const& folding() const { return folding_; }

 private:
  void set_classes(std::vector<std::uint32_t> class_of);

  std::vector<std::vector<std::size_t>> participants_;  // by position
  std::vector<std::vector<HostId>> hosts_;              // by position
  std::vector<std::size_t> radices_;
  std::vector<std::uint32_t> class_of_;
  std::vector<std::size_t> firsts_;
  Folding folding_;
  bool units_are_meshes_ = false;
};

}  // namespace lanewise
