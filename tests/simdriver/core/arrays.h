// Arrays: host memory with a shape.
#pragma once

#include <memory>
#include <vector>

#include "tests/simdriver/abi/cuda_abi.h"
#include "tests/simdriver/core/handle_table.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

struct array {
    CUarray handle = nullptr;
    context_ptr owner;
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    std::size_t row_bytes = 0, rows = 0, layers = 0;
    std::vector<unsigned char> bytes;
};

struct mipmapped_array {
    CUmipmappedArray handle = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    std::vector<CUarray> levels;
};

handle_table<CUarray, array>& arrays();
handle_table<CUmipmappedArray, mipmapped_array>& mipmapped_arrays();

// Bytes of one element; 0 for a format that the simulated driver does not know.
std::size_t element_bytes(CUarray_format format, unsigned channels);
std::shared_ptr<array> make_array(context_ptr const& owner, CUDA_ARRAY3D_DESCRIPTOR const& shape);

}  // namespace lastref::simdriver
