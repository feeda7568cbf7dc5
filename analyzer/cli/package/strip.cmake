# Before a package is closed: debugging information of lastref's own programs goes. That of the demo stays, since its report
# shows functions and lines.
find_program(strip_program strip)
set(top ${CPACK_TEMPORARY_DIRECTORY})
file(GLOB_RECURSE programs ${top}/lastref ${top}/lastref-gui ${top}/liblastref*.so ${top}/libcuda.so.1)
list(FILTER programs INCLUDE REGEX "/bin/lastref(-gui)?$|/lib/liblastref[a-z_]*\\.so$|/lib/lastref/simdriver/libcuda\\.so\\.1$")
foreach(program IN LISTS programs)
  if(strip_program AND NOT IS_SYMLINK ${program})
    execute_process(COMMAND ${strip_program} --strip-debug ${program} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
