// entry_points.txt. Whatever is accepted must be fit to become a file name and a line of Python.
#include "wheel/entry_points.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "installer/environment/scripts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)axle::installer::rewrite_script(text, "#!/p\n");
  (void)axle::installer::render_shebang(text);
  if (const auto plugins = axle::wheel::parse_plugin_entry_points(text, "fuzz")) {
    for (const axle::wheel::PluginEntry& plugin : *plugins) {
      if (plugin.ns.empty() || !axle::wheel::is_plugin_api(plugin.plugin_api)) std::abort();
    }
  }
  const auto scripts = axle::wheel::parse_entry_points(text, "fuzz");
  if (!scripts) return 0;
  for (const axle::wheel::ScriptEntry& script : *scripts) {
    if (!axle::wheel::is_script_name(script.name)) std::abort();
    if (axle::wheel::is_reserved_script(script.name)) std::abort();
    if (script.name.find('/') != std::string::npos) std::abort();
    for (const char c : script.module + script.object) {
      if (static_cast<unsigned char>(c) <= ' ' || c == ';' || c == '(' || c == '\'') std::abort();
    }
  }
  return 0;
}
