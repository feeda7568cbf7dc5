# Runs one exhaustive check: cmake -DMODEL= -DDEFINES= -DFOLDER= -DSPIN= -DCC= [-DMUTANT=] -P check_model.cmake
#
# Without a mutant every state must have been visited without an error. With one, the check must fail in the way that the mutant's file
# expects (EXPECT, a regular expression over pan's report).
include(${CMAKE_CURRENT_LIST_DIR}/mutate.cmake)

function(run_or_die)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(checked ${MODEL})
if(MUTANT)
  set(checked ${FOLDER}/mutant.pml)
  mutate(${MODEL} ${checked} ${MUTANT})
endif()

# COLLAPSE compresses states; MEMLIM is in MiB: running out of it is reported by pan and fails the check.
separate_arguments(DEFINES)
run_or_die(${SPIN} -a ${DEFINES} ${checked})
run_or_die(${CC} -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=1900 -o pan pan.c)
execute_process(COMMAND ./pan -m100000 -n WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE report ERROR_VARIABLE report)
message("${report}")

if(MUTANT)
  include(${MUTANT})
  if(NOT report MATCHES "${EXPECT}")
    message(FATAL_ERROR "the mutant was not caught: expected ${EXPECT}")
  endif()
elseif(NOT report MATCHES "errors: 0" OR report MATCHES "not completed|too small|out of memory|max search depth")
  message(FATAL_ERROR "the model is broken, or was not searched to the end")
endif()
file(REMOVE_RECURSE ${FOLDER})
