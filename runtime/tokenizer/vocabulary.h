#pragma once
// The tokens of a model by their ids and by their texts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axle::runtime {

class Vocabulary {
 public:
  static constexpr std::int32_t none = -1;

  enum class Added : std::uint8_t { yes, taken, too_high };

  /// Room for the tokens of a file; ids may go up to some multiple of it.
  explicit Vocabulary(std::size_t expected = 0);

  /// `text` gets the id; of two ids with one text the first is found. `taken`: the id has another
  /// text. `too_high`: the id is negative, or out of all proportion to the number of tokens.
  [[nodiscard]] Added add(std::int64_t id, std::string_view text);

  /// One more than the highest id.
  [[nodiscard]] std::size_t size() const { return places_.size(); }

  /// Empty for an id that no token has.
  [[nodiscard]] std::string_view text(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= places_.size()) return {};
    const Place& place = places_[static_cast<std::size_t>(id)];
    return std::string_view(bytes_).substr(place.start, place.size);
  }

  /// The id, or `none`.
  [[nodiscard]] std::int32_t find(std::string_view text) const { return index_[slot_of(text)]; }

  [[nodiscard]] std::size_t longest() const { return longest_; }  ///< text, in bytes

 private:
  struct Place {
    std::size_t start = 0;
    std::size_t size = 0;
  };

  /// Where `text` is in the index, or the free place where it would be.
  [[nodiscard]] std::size_t slot_of(std::string_view text) const;
  void grow();

  std::string bytes_;                ///< all texts, one behind the other
  std::vector<Place> places_;        ///< by id
  std::vector<std::int32_t> index_;  ///< hash table with open addressing; at most half full
  std::size_t used_ = 0;             ///< places of the index
  std::size_t longest_ = 0;
  std::size_t highest_;
};

}  // namespace axle::runtime
