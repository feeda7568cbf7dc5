# mutate(SOURCE DESTINATION MUTANT): copies a file with the one change that the mutant's file describes.
#
# A mutant is a file that sets FROM and TO, a text that stands exactly once in the source and what takes its place. A source that has
# moved on fails here: a mutant that changes nothing would prove nothing.
function(mutate source destination mutant)
  include(${mutant})
  file(READ ${source} text)
  string(FIND "${text}" "${FROM}" first)
  string(FIND "${text}" "${FROM}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "${mutant}: the text to change must stand exactly once in ${source}")
  endif()
  string(REPLACE "${FROM}" "${TO}" text "${text}")
  file(CONFIGURE OUTPUT ${destination} CONTENT "${text}" @ONLY)
endfunction()
