// A saved image as an archive: its files and its manifests.
#include "doctor/audit/image/image_manifest.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "doctor/audit/image/image_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto files = doctor::ImageFiles::of_archive(wheel::memory_source(bytes), "fuzz");
  if (files) (void)doctor::read_saved_images(*files);
  return 0;
}
