// What collector/nvtx believes of NVTX's ABI, against NVTX's own headers.
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "collector/nvtx/abi.h"

namespace lastref::nvtx::abi {
namespace {

#define SAME_PLACE(ours, our_field, theirs, their_field)                        \
    static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                  sizeof(ours::our_field) == sizeof(theirs::their_field))

TEST(nvtx_abi, structures) {
    EXPECT_EQ(sizeof(event_attributes), sizeof(nvtxEventAttributes_t));
    SAME_PLACE(event_attributes, size, nvtxEventAttributes_t, size);
    SAME_PLACE(event_attributes, category, nvtxEventAttributes_t, category);
    SAME_PLACE(event_attributes, payload_type, nvtxEventAttributes_t, payloadType);
    SAME_PLACE(event_attributes, payloads, nvtxEventAttributes_t, reserved0);
    SAME_PLACE(event_attributes, payload, nvtxEventAttributes_t, payload);
    SAME_PLACE(event_attributes, message_type, nvtxEventAttributes_t, messageType);
    SAME_PLACE(event_attributes, message, nvtxEventAttributes_t, message);
    EXPECT_EQ(sizeof(resource_attributes), sizeof(nvtxResourceAttributes_t));
    SAME_PLACE(resource_attributes, identifier_type, nvtxResourceAttributes_t, identifierType);
    SAME_PLACE(resource_attributes, identifier, nvtxResourceAttributes_t, identifier);
    SAME_PLACE(resource_attributes, message_type, nvtxResourceAttributes_t, messageType);
    SAME_PLACE(resource_attributes, message, nvtxResourceAttributes_t, message);
    SAME_PLACE(payload_data, size, nvtxPayloadData_t, size);
    SAME_PLACE(payload_data, payload, nvtxPayloadData_t, payload);
    SAME_PLACE(callbacks_table, module_table, NvtxExportTableCallbacks, GetModuleFunctionTable);
}

TEST(nvtx_abi, numbers) {
    EXPECT_EQ(payload_extended, NVTX_PAYLOAD_TYPE_EXT);
    EXPECT_EQ(first_static_schema, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
    EXPECT_EQ(int{payload_float}, int{NVTX_PAYLOAD_TYPE_FLOAT});
    EXPECT_EQ(int{message_registered}, int{NVTX_MESSAGE_TYPE_REGISTERED});
    EXPECT_EQ(int{native_thread}, int{NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE});
    EXPECT_EQ(int{cuda_stream}, int{NVTX_RESOURCE_TYPE_CUDA_STREAM});
    EXPECT_EQ(int{cuda_context}, int{NVTX_RESOURCE_TYPE_CUDA_CONTEXT});
    EXPECT_EQ(int{runtime_stream}, int{NVTX_RESOURCE_TYPE_CUDART_STREAM});
    EXPECT_EQ(int{runtime_event}, int{NVTX_RESOURCE_TYPE_CUDART_EVENT});
    EXPECT_EQ(callbacks_table_id, std::uint32_t{NVTX_ETID_CALLBACKS});
    EXPECT_EQ(int{core2}, int{NVTX_CB_MODULE_CORE2});
    EXPECT_EQ(int{cudart}, int{NVTX_CB_MODULE_CUDART});
    EXPECT_GE(int{modules}, int{NVTX_CB_MODULE_SIZE});
}

TEST(nvtx_abi, places_in_the_tables) {
    EXPECT_EQ(unsigned{range_push_a}, unsigned{NVTX_CBID_CORE_RangePushA});
    EXPECT_EQ(unsigned{range_pop}, unsigned{NVTX_CBID_CORE_RangePop});
    EXPECT_EQ(unsigned{name_category_a}, unsigned{NVTX_CBID_CORE_NameCategoryA});
    EXPECT_EQ(unsigned{name_os_thread_a}, unsigned{NVTX_CBID_CORE_NameOsThreadA});
    EXPECT_EQ(unsigned{range_start_a}, unsigned{NVTX_CBID_CORE_RangeStartA});
    EXPECT_EQ(unsigned{range_end}, unsigned{NVTX_CBID_CORE_RangeEnd});
    EXPECT_EQ(unsigned{domain_mark_ex}, unsigned{NVTX_CBID_CORE2_DomainMarkEx});
    EXPECT_EQ(unsigned{domain_range_pop}, unsigned{NVTX_CBID_CORE2_DomainRangePop});
    EXPECT_EQ(unsigned{domain_resource_create}, unsigned{NVTX_CBID_CORE2_DomainResourceCreate});
    EXPECT_EQ(unsigned{domain_register_string_a}, unsigned{NVTX_CBID_CORE2_DomainRegisterStringA});
    EXPECT_EQ(unsigned{domain_create_a}, unsigned{NVTX_CBID_CORE2_DomainCreateA});
    EXPECT_EQ(unsigned{domain_name_category_a}, unsigned{NVTX_CBID_CORE2_DomainNameCategoryA});
    EXPECT_EQ(unsigned{name_event_a}, unsigned{NVTX_CBID_CUDA_NameCuEventA});
    EXPECT_EQ(unsigned{name_stream_a}, unsigned{NVTX_CBID_CUDA_NameCuStreamA});
    EXPECT_EQ(unsigned{name_runtime_stream_a}, unsigned{NVTX_CBID_CUDART_NameCudaStreamA});
    EXPECT_LE(int{NVTX_CBID_CORE_SIZE}, int{most_functions});
    EXPECT_LE(int{NVTX_CBID_CORE2_SIZE}, int{most_functions});
}

}  // namespace
}  // namespace lastref::nvtx::abi
