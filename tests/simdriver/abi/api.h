// The behaviour of the entry points: for each signature of each entry point one function
//
//   CUresult lastref::simdriver::api::cuXxx(call const&, parameters...)
//
// All ABI variants of one signature (_v2, _ptsz ...) end in the same function. The declarations below come from the
// tables and are weak: an entry point that no file of api/ defines returns CUDA_ERROR_NOT_SUPPORTED. A definition whose
// signature no declaration has is an error of the compiler (-Wmissing-declarations). Every function runs under the
// driver's lock.
#pragma once

#include "cuda_abi.h"
#include "tests/simdriver/core/call.h"

namespace lastref::simdriver {

template <class Function>
struct with_call;

template <class... Parameters>
struct with_call<CUresult(Parameters...)> {
    using type = CUresult(call const&, Parameters...);
};

namespace api {

#define SIMDRIVER_ABI(name, symbol, streams, parameters, arguments) \
    with_call<CUresult parameters>::type name __attribute__((weak));
#include "every_abi.h"

}  // namespace api
}  // namespace lastref::simdriver
