#pragma once
// A conflict as a text file (tests/cases/conflicts/*.conflict; the directives are explained in the
// README there): a small world, what is asked for, and the text that says why it cannot be.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/resolver/solver_world.h"

namespace axle::testing {

class ConflictCase {
 public:
  /// Throws std::runtime_error with the line for a case that cannot be read.
  explicit ConflictCase(const std::string& path);

  /// As a terminal shows it: the message, what it leaves open, the hint; or, where something else
  /// is chosen, the remarks.
  [[nodiscard]] std::string outcome();
  /// Of the last outcome.
  [[nodiscard]] const resolver::Unresolved& unresolved() const { return unresolved_; }
  [[nodiscard]] const std::string& expected() const { return expected_; }
  /// Writes the case again with `outcome` as what is expected.
  void expect(const std::string& outcome) const;

 private:
  using Words = std::vector<std::string>;
  struct Wheel {
    WheelRecipe recipe;
    std::map<std::string, std::string> options;
  };

  void read_line(const std::string& line);
  void wheels(const Words& words, const std::string& needs);
  void build(const Words& words, const std::string& needs);
  void variant(const Words& words, const std::string& needs);
  void add_wheel(const Wheel& wheel);
  void option(const Words& words);
  void publish_variants();

  std::string path_;
  std::string given_;  ///< everything but what is expected
  std::string expected_;
  World world_;
  MemoryIndex first_{"https://first.test"};  ///< asked before the world's own
  Words requests_;
  Words overrides_;
  std::map<std::pair<std::string, std::string>, wheel::VariantMetadata> variants_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Words>> variant_needs_;
  resolver::Unresolved unresolved_;
};

}  // namespace axle::testing
