#include "installer/store/seen_parts.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace axle::installer {
namespace {

class RememberingSource final : public wheel::ByteSource {
 public:
  RememberingSource(std::unique_ptr<wheel::ByteSource> source, std::shared_ptr<SeenParts> seen)
      : source_(std::move(source)), seen_(std::move(seen)) {}

  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (auto got = source_->read(offset, out); !got) return got;
    seen_->add(offset, out);
    return {};
  }

 private:
  std::unique_ptr<wheel::ByteSource> source_;
  std::shared_ptr<SeenParts> seen_;
};

}  // namespace

void SeenParts::add(std::uint64_t offset, std::span<const std::byte> bytes) {
  parts_.push_back(
      {offset, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
}

std::uint64_t SeenParts::begin() const {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  for (const Part& part : parts_) begin = std::min(begin, part.offset);
  return begin;
}

std::uint64_t SeenParts::end() const {
  std::uint64_t end = 0;
  for (const Part& part : parts_) end = std::max(end, part.offset + part.bytes.size());
  return end;
}

bool SeenParts::agree(std::uint64_t offset, std::span<const std::byte> bytes) const {
  return std::ranges::all_of(parts_, [&](const Part& part) {
    const std::uint64_t from = std::max(part.offset, offset);
    const std::uint64_t to = std::min(part.offset + part.bytes.size(), offset + bytes.size());
    return from >= to || std::memcmp(part.bytes.data() + (from - part.offset),
                                     bytes.data() + (from - offset), to - from) == 0;
  });
}

std::unique_ptr<wheel::ByteSource> remember_parts(std::unique_ptr<wheel::ByteSource> source,
                                                  std::shared_ptr<SeenParts> seen) {
  return std::make_unique<RememberingSource>(std::move(source), std::move(seen));
}

}  // namespace axle::installer
