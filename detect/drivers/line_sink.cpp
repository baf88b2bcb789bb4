#include "detect/drivers/line_sink.h"

#include <cerrno>
#include <string>

#include <unistd.h>

#include "detect/drivers/driver_lines.h"

namespace axle::detect {

void LineSink::say(std::string_view word, std::initializer_list<std::string_view> fields) {
  std::string line(word);
  for (const std::string_view field : fields) {
    line += '\t';
    line += sanitise(field, longest_field);
  }
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LineSink::say(std::string_view word, std::int64_t value) {
  say(word, {std::to_string(value)});
}

}  // namespace axle::detect
