# cmake -DPROGRAM= -DMUTANT= -P expect_failure.cmake: the tests named by the mutant must fail, and for the expected reason.
#
# What needs an unlucky interleaving is tried several times, so that a mutant survives by luck only once in many years.
include(${MUTANT})
set(ENV{TSAN_OPTIONS} "halt_on_error=1")
foreach(attempt RANGE 1 20)
  execute_process(COMMAND ${PROGRAM} --gtest_filter=${TESTS} --gtest_brief=1 --gtest_fail_fast RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 100)
  if(NOT status EQUAL 0)
    if(output MATCHES "${EXPECT}")
      message("caught at attempt ${attempt}: ${CMAKE_MATCH_0}")
      return()
    endif()
    message(FATAL_ERROR "the mutant failed for another reason than ${EXPECT}: ${status}\n${output}")
  endif()
endforeach()
message(FATAL_ERROR "the mutant was not caught")
