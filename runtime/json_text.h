#pragma once
// JSON that is written as text: a tree of nlohmann-json allocates while it is taken down, which
// ends the process where there is no memory.

#include <string>
#include <string_view>

namespace axle::runtime {

/// Appends `text`, which is valid UTF-8, as a string of JSON.
void append_json_string(std::string& to, std::string_view text);

}  // namespace axle::runtime
