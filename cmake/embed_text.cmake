# aicf_embed_text(OUT file): the file's bytes as C++ string literals. Character codes, not a raw literal:
# compilers limit a literal's length.
function(aicf_embed_text out file)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
  string(REGEX REPLACE "([^\n]+)" "\"\\1\"" hex "${hex}")
  set(${out} "${hex}\"\"" PARENT_SCOPE)
endfunction()
