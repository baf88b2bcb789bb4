# Writes OUT, a C++ file with the texts of FILES: see axle_embed_texts (Library.cmake), whose arguments come as variables.
set(rows "")
foreach(file IN LISTS FILES)
  if(ROOT)
    file(RELATIVE_PATH name "${ROOT}" "${file}")
  else()
    get_filename_component(name "${file}" NAME_WE)
  endif()
  file(READ "${file}" text)
  string(APPEND rows "    {\"${name}\", R\"text(${text})text\"},\n")
endforeach()
# The standard asks for literals of 64 KiB and -Wpedantic of clang warns beyond; every compiler that we use takes more.
file(WRITE "${OUT}.new" "// Made by cmake/embed_texts.cmake.
#include \"${HEADER}\"

#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif

namespace ${NAMESPACE} {
namespace {

constexpr ${TYPE} ${FUNCTION}_texts[] = {
${rows}};

}  // namespace

std::span<const ${TYPE}> ${FUNCTION}() { return ${FUNCTION}_texts; }

}  // namespace ${NAMESPACE}
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
