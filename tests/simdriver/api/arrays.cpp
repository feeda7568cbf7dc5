// Arrays and mipmapped arrays.
#include "tests/simdriver/core/arrays.h"

#include <algorithm>

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

CUresult create(call const& c, CUarray* out, CUDA_ARRAY3D_DESCRIPTOR const& shape) {
    context_ptr current;
    SIM_TRY(current_context(c, current));
    SIM_TRY(unsafe(c));
    auto const made = make_array(current, shape);
    if (!made) return CUDA_ERROR_INVALID_VALUE;
    *out = made->handle;
    return CUDA_SUCCESS;
}

CUDA_ARRAY3D_DESCRIPTOR widened(CUDA_ARRAY_DESCRIPTOR const& flat) {
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    shape.Width = flat.Width;
    shape.Height = flat.Height;
    shape.Format = flat.Format;
    shape.NumChannels = flat.NumChannels;
    return shape;
}

CUDA_ARRAY3D_DESCRIPTOR halved(CUDA_ARRAY3D_DESCRIPTOR shape, unsigned level) {
    auto const half = [level](std::size_t size) { return size ? std::max<std::size_t>(size >> level, 1) : 0; };
    shape.Width = half(shape.Width);
    shape.Height = half(shape.Height);
    shape.Depth = half(shape.Depth);
    return shape;
}

}  // namespace

namespace api {

CUresult cuArrayCreate(call const& c, CUarray* out, CUDA_ARRAY_DESCRIPTOR const* shape) {
    return any_null(out, shape) ? CUDA_ERROR_INVALID_VALUE : create(c, out, widened(*shape));
}

CUresult cuArray3DCreate(call const& c, CUarray* out, CUDA_ARRAY3D_DESCRIPTOR const* shape) {
    return any_null(out, shape) ? CUDA_ERROR_INVALID_VALUE : create(c, out, *shape);
}

CUresult cuArrayDestroy(call const& c, CUarray handle) {
    auto const gone = arrays().find(handle);
    if (!gone) return CUDA_ERROR_INVALID_HANDLE;
    SIM_TRY(unsafe(c));
    synchronize(c, *gone->owner);
    arrays().remove(handle);
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor(call const&, CUDA_ARRAY3D_DESCRIPTOR* shape, CUarray handle) {
    auto const of = arrays().find(handle);
    if (!shape) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    *shape = of->shape;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor(call const&, CUDA_ARRAY_DESCRIPTOR* shape, CUarray handle) {
    auto const of = arrays().find(handle);
    if (!shape) return CUDA_ERROR_INVALID_VALUE;
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    *shape = {of->shape.Width, of->shape.Height, of->shape.Format, of->shape.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(call const& c, CUmipmappedArray* out, CUDA_ARRAY3D_DESCRIPTOR const* shape,
                                unsigned int levels) {
    if (any_null(out, shape) || !levels) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<mipmapped_array>();
    made->shape = *shape;
    for (unsigned level = 0; level < levels; ++level) {
        CUarray one = nullptr;
        SIM_TRY(create(c, &one, halved(*shape, level)));
        made->levels.push_back(one);
    }
    *out = mipmapped_arrays().add(made);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(call const&, CUarray* out, CUmipmappedArray handle, unsigned int level) {
    auto const of = mipmapped_arrays().find(handle);
    if (!of) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || level >= of->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *out = of->levels[level];
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(call const&, CUmipmappedArray handle) {
    auto const gone = mipmapped_arrays().remove(handle);
    if (!gone) return CUDA_ERROR_INVALID_HANDLE;
    for (CUarray const each : gone->levels) arrays().remove(each);
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
