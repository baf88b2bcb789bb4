#pragma once
// What a server says to people when it refuses a request.

#include <string>

#include "index/http/transport.h"

namespace axle::index {

/// On one line and not long, of HTML without its tags.
[[nodiscard]] std::string answer_words(const HttpResponse& response);

}  // namespace axle::index
