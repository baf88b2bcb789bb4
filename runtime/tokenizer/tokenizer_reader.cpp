#include "runtime/tokenizer/tokenizer_reader.h"

namespace axle::runtime {

Result<void> TokenizerReader::add_text(std::int64_t id, std::string text, bool special) {
  if (id < 0 || id >= static_cast<std::int64_t>(most_tokens))
    return failure(AXLE_MALFORMED, "%s: token \"%s\" has the id %lld; ids are 0 to %zu",
                   where_.c_str(), text.c_str(), static_cast<long long>(id), most_tokens - 1);
  const std::size_t place = static_cast<std::size_t>(id);
  if (place >= tokenizer_.texts_.size()) {
    tokenizer_.texts_.resize(place + 1);
    tokenizer_.special_.resize(place + 1);
  }
  std::string& own = tokenizer_.texts_[place];
  if (!own.empty() && own != text)
    return failure(AXLE_MALFORMED, "%s: tokens \"%s\" and \"%s\" have the same id %zu",
                   where_.c_str(), own.c_str(), text.c_str(), place);
  own = text;
  tokenizer_.special_[place] = tokenizer_.special_[place] || special;
  tokenizer_.ids_.try_emplace(std::move(text), static_cast<std::int32_t>(id));
  return {};
}

}  // namespace axle::runtime
