#pragma once
// The numbers of a version's release segment, "1.26.4". Nearly every version has four or fewer, and
// an index lists tens of thousands of versions: these few need no memory of their own.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace axle::wheel {

/// Like a vector.
class ReleaseNumbers {
 public:
  ReleaseNumbers() = default;
  ReleaseNumbers(std::initializer_list<std::uint64_t> numbers) { assign(numbers); }

  void assign(std::span<const std::uint64_t> numbers) {
    *this = {};
    for (const std::uint64_t number : numbers) push_back(number);
  }
  void push_back(std::uint64_t number) {
    if (many_.empty() && count_ < few_.size()) {
      few_[count_++] = number;
      return;
    }
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    many_.push_back(number);
  }
  /// There must be one.
  void pop_back() {
    if (many_.empty()) {
      --count_;
    } else {
      many_.pop_back();
      if (many_.empty()) count_ = 0;
    }
  }

  [[nodiscard]] std::size_t size() const { return many_.empty() ? count_ : many_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const std::uint64_t* begin() const {
    return many_.empty() ? few_.data() : many_.data();
  }
  [[nodiscard]] const std::uint64_t* end() const { return begin() + size(); }
  [[nodiscard]] std::uint64_t operator[](std::size_t place) const { return begin()[place]; }
  [[nodiscard]] std::uint64_t front() const { return *begin(); }
  [[nodiscard]] std::uint64_t back() const { return *(end() - 1); }
  [[nodiscard]] std::uint64_t& back() {
    return many_.empty() ? few_[std::size_t{count_} - 1] : many_.back();
  }

  /// As lists: 1.0 is not 1.0.0 here.
  friend bool operator==(const ReleaseNumbers& left, const ReleaseNumbers& right) {
    return std::ranges::equal(left, right);
  }
  friend std::strong_ordering operator<=>(const ReleaseNumbers& left, const ReleaseNumbers& right) {
    return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(),
                                                  right.end());
  }

 private:
  std::array<std::uint64_t, 4> few_{};
  std::uint8_t count_ = 0;           ///< of `few_`
  std::vector<std::uint64_t> many_;  ///< all, if they are more
};

}  // namespace axle::wheel
