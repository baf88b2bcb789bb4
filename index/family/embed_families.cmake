# Writes OUT, a C++ file that holds every family of FILES: `cmake -DOUT=… -DFILES=a;b -P embed_families.cmake`.
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  string(APPEND rows "    {\"${name}\", R\"family(${text})family\"},\n")
endforeach()
# The standard asks for literals of 64 KiB and -Wpedantic of clang warns beyond; every compiler that we use takes more.
file(WRITE "${OUT}.new" "// Made from index/families by embed_families.cmake.
#include \"index/family/shipped_families.h\"

#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif

namespace axle::index {
namespace {

constexpr ShippedFamily families[] = {
${rows}};

}  // namespace

std::span<const ShippedFamily> shipped_families() { return families; }

}  // namespace axle::index
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
