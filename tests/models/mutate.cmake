# mutate(SOURCE DESTINATION MUTANT): copies a file with the change that the mutant's file describes.
#
# A mutant is a file that sets FROM and TO, a text that stands exactly once in the source and what takes its place (and ALSO_FROM,
# ALSO_TO where one is not enough). A source that has moved on fails here: a mutant that changes nothing would prove nothing.
macro(replace_once from to)
  string(FIND "${text}" "${from}" first)
  string(FIND "${text}" "${from}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "${mutant}: what it changes must stand exactly once in ${source}")
  endif()
  string(REPLACE "${from}" "${to}" text "${text}")
endmacro()

function(mutate source destination mutant)
  include(${mutant})
  file(READ ${source} text)
  replace_once("${FROM}" "${TO}")
  if(ALSO_FROM)
    replace_once("${ALSO_FROM}" "${ALSO_TO}")
  endif()
  file(CONFIGURE OUTPUT ${destination} CONTENT "${text}" @ONLY)
endfunction()
