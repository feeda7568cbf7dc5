#include "tests/simdriver/core/arrays.h"

#include <algorithm>

namespace lastref::simdriver {

handle_table<CUarray, array>& arrays() {
    static auto* const table = new handle_table<CUarray, array>;
    return *table;
}

handle_table<CUmipmappedArray, mipmapped_array>& mipmapped_arrays() {
    static auto* const table = new handle_table<CUmipmappedArray, mipmapped_array>;
    return *table;
}

std::size_t element_bytes(CUarray_format format, unsigned channels) {
    if (channels != 1 && channels != 2 && channels != 4) return 0;
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return channels;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2u * channels;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            return 4u * channels;
        default:
            return 0;
    }
}

std::shared_ptr<array> make_array(context_ptr const& owner, CUDA_ARRAY3D_DESCRIPTOR const& shape) {
    std::size_t const element = element_bytes(shape.Format, shape.NumChannels);
    if (!element || !shape.Width) return nullptr;
    auto made = std::make_shared<array>();
    made->owner = owner;
    made->shape = shape;
    made->row_bytes = shape.Width * element;
    made->rows = std::max<std::size_t>(shape.Height, 1);
    made->layers = std::max<std::size_t>(shape.Depth, 1);
    made->bytes.resize(made->row_bytes * made->rows * made->layers);
    arrays().add(made);
    return made;
}

}  // namespace lastref::simdriver
