// {fmt}, compiled into the program: Debian has it as a shared library only, and each C++ library
// that the loader has to open costs every start 0.2 ms. What is instantiated here is what the
// headers declare `extern`.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float x) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double x) noexcept;
template locale_ref::locale_ref(const std::locale& loc);
template std::locale locale_ref::get<std::locale>() const;
template auto thousands_sep_impl(locale_ref loc) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref loc) -> char;
template void buffer<char>::append(const char* begin, const char* end);
template void vformat_to(buffer<char>& out, string_view format,
                         basic_format_args<FMT_BUFFER_CONTEXT(char)> arguments, locale_ref loc);

}  // namespace detail
FMT_END_NAMESPACE
