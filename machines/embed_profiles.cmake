# Writes OUT, a C++ file that holds every profile of FILES: `cmake -DOUT=… -DFILES=a;b -P embed_profiles.cmake`.
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  string(APPEND rows "    {\"${name}\", R\"profile(${text})profile\"},\n")
endforeach()
file(WRITE "${OUT}.new" "// Made from machines/profiles by embed_profiles.cmake.
#include \"machines/shipped_profiles.h\"

namespace axle::machines {
namespace {

constexpr ShippedProfile profiles[] = {
${rows}};

}  // namespace

std::span<const ShippedProfile> shipped_profiles() { return profiles; }

}  // namespace axle::machines
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
