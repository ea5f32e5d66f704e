# Writes OUT: a C++ file holding every ROOT/**/*.cuh as text, sorted by name, found through
# aicf::cuda::EmbeddedSources() (kernels/cuda/embedded.h).
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.cuh)
list(SORT files)
set(text "#include \"kernels/cuda/embedded.h\"\n\nnamespace aicf::cuda {\nnamespace {\n\n")
string(APPEND text "const EmbeddedSource kSources[] = {\n")
foreach(file ${files})
  # Character codes, not a raw literal: compilers limit a literal's length.
  file(READ ${ROOT}/${file} hex HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
  string(REGEX REPLACE "([^\n]+)" "\"\\1\"" hex "${hex}")
  file(SIZE ${ROOT}/${file} bytes)
  string(APPEND text "    {\"${file}\", {${hex}\"\", ${bytes}}},\n")
endforeach()
string(APPEND text "    {\"\", {}},\n};\n\n}  // namespace\n\n")
string(APPEND text "std::span<const EmbeddedSource> EmbeddedSources() {\n")
string(APPEND text "  return std::span(kSources).first(std::size(kSources) - 1);\n}\n\n}  // namespace aicf::cuda\n")
file(WRITE ${OUT} "${text}")
