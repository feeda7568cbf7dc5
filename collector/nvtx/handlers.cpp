#include "collector/nvtx/handlers.h"

#include <atomic>
#include <cstring>

#include "collector/nvtx/annotations.h"
#include "collector/nvtx/names.h"
#include "collector/nvtx/record.h"
#include "collector/preload/record/process.h"

namespace lastref::nvtx::handlers {
namespace {

using attributes = abi::event_attributes const*;
using range_id = std::uint64_t;

std::atomic<abi::function> others[abi::modules][abi::most_functions];

template <class Function>
Function other(abi::module m, unsigned id) {
    return reinterpret_cast<Function>(others[m][id].load(std::memory_order_relaxed));
}

// Calls the other tool's function of the type of ours, if there is one; else it is `otherwise`.
template <class Result, class... Arguments>
Result hand_on(abi::module m, unsigned id, Result otherwise, Arguments... arguments) {
    auto const f = other<Result (*)(Arguments...)>(m, id);
    return f != nullptr ? f(arguments...) : otherwise;
}
template <class... Arguments>
void hand_on_to(abi::module m, unsigned id, Arguments... arguments) {
    if (auto const f = other<void (*)(Arguments...)>(m, id); f != nullptr) f(arguments...);
}

// --- what attributes say
// ---------------------------------------------------------------------------------------------------

constexpr std::size_t fields_of_old_attributes = offsetof(abi::event_attributes, message) + sizeof(void*);

// Texts of wide characters need room, which the caller has.
class understood {
  public:
    understood(std::uint32_t domain, attributes given) { take(domain, given); }
    saying what;

  private:
    void take(std::uint32_t domain, attributes given) {
        what.domain = domain;
        if (given == nullptr || given->size < fields_of_old_attributes) return;
        what.category = given->category;
        take_message(*given);
        take_payload(*given);
    }

    void take_message(abi::event_attributes const& given) {
        if (given.message == nullptr) return;
        if (given.message_type == abi::message_ascii) what.message = text_of(static_cast<char const*>(given.message));
        if (given.message_type == abi::message_registered) what.message = names::string_of(given.message);
        if (given.message_type == abi::message_wide) what.message = wide(static_cast<wchar_t const*>(given.message));
    }

    [[gnu::noinline]] text wide(wchar_t const* message) {
        narrow const narrowed(message);
        std::size_t const length = strlen(narrowed.get());
        memcpy(room_, narrowed.get(), length);
        return {room_, length};
    }

    void take_payload(abi::event_attributes const& given) {
        using spool::nvtx_payload;
        what.payload = given.payload;
        std::uint32_t const low = static_cast<std::uint32_t>(given.payload);
        switch (given.payload_type) {
            case abi::payload_u64:
                what.payload_kind = nvtx_payload::u64;
                break;
            case abi::payload_i64:
                what.payload_kind = nvtx_payload::i64;
                break;
            case abi::payload_double:
                what.payload_kind = nvtx_payload::f64;
                break;
            case abi::payload_u32:
                what.payload_kind = nvtx_payload::u64;
                what.payload = low;
                break;
            case abi::payload_i32:
                what.payload_kind = nvtx_payload::i64;
                what.payload = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
                break;
            case abi::payload_float: {
                float small;
                memcpy(&small, &low, sizeof small);
                double const number = small;
                what.payload_kind = nvtx_payload::f64;
                memcpy(&what.payload, &number, sizeof number);
                break;
            }
            default:
                what.payload = 0;
        }
    }

    char room_[1024];
};

saying plain(char const* message) {
    return {.message = text_of(message)};
}

// --- marks and ranges
// ------------------------------------------------------------------------------------------------------

#define FRAME __builtin_frame_address(0), __builtin_return_address(0)

void mark_in(std::uint32_t domain, attributes given, void* frame, void* caller) {
    understood const said(domain, given);
    if (names::is_ours(domain) && given != nullptr) return annotate(*given, said.what.message, frame, caller);
    mark(said.what);
}

void mark_ex(attributes given) {
    mark_in(names::default_domain, given, FRAME);
    hand_on_to(abi::core, abi::mark_ex, given);
}
void mark_a(char const* message) {
    mark(plain(message));
    hand_on_to(abi::core, abi::mark_a, message);
}
void mark_w(wchar_t const* message) {
    mark(plain(narrow(message).get()));
    hand_on_to(abi::core, abi::mark_a + 1, message);
}
void domain_mark_ex(void* domain, attributes given) {
    mark_in(names::domain_of(domain), given, FRAME);
    hand_on_to(abi::core2, abi::domain_mark_ex, domain, given);
}

// Another tool's number, where there is one, since the program ends the range by it.
template <class... Arguments>
range_id started(saying const& what, abi::module m, unsigned id, Arguments... arguments) {
    auto const f = other<range_id (*)(Arguments...)>(m, id);
    range_id const number = f != nullptr ? f(arguments...) : new_number();
    start(what, number);
    return number;
}
range_id range_start_ex(attributes given) {
    return started(understood(names::default_domain, given).what, abi::core, abi::range_start_ex, given);
}
range_id range_start_a(char const* message) {
    return started(plain(message), abi::core, abi::range_start_a, message);
}
range_id range_start_w(wchar_t const* message) {
    return started(plain(narrow(message).get()), abi::core, abi::range_start_a + 1, message);
}
range_id domain_range_start_ex(void* domain, attributes given) {
    return started(understood(names::domain_of(domain), given).what, abi::core2, abi::domain_range_start_ex, domain,
                   given);
}
// What it would have given for a range that it was not told of.
range_id its_number(range_id number) {
    return is_own_number(number) ? 0 : number;
}
void range_end(range_id number) {
    end(number);
    hand_on_to(abi::core, abi::range_end, its_number(number));
}
void domain_range_end(void* domain, range_id number) {
    end(number);
    hand_on_to(abi::core2, abi::domain_range_end, domain, its_number(number));
}

int range_push_ex(attributes given) {
    return hand_on(abi::core, abi::range_push_ex, push(understood(names::default_domain, given).what), given);
}
int range_push_a(char const* message) {
    return hand_on(abi::core, abi::range_push_a, push(plain(message)), message);
}
int range_push_w(wchar_t const* message) {
    return hand_on(abi::core, abi::range_push_a + 1, push(plain(narrow(message).get())), message);
}
int domain_range_push_ex(void* domain, attributes given) {
    return hand_on(abi::core2, abi::domain_range_push_ex, push(understood(names::domain_of(domain), given).what),
                   domain, given);
}
int range_pop() {
    return hand_on(abi::core, abi::range_pop, pop(names::default_domain));
}
int domain_range_pop(void* domain) {
    return hand_on(abi::core2, abi::domain_range_pop, pop(names::domain_of(domain)), domain);
}

// --- domains, strings, categories
// --------------------------------------------------------------------------------------

void* domain_create_a(char const* name) {
    return names::make_domain(text_of(name), hand_on<void*>(abi::core2, abi::domain_create_a, nullptr, name));
}
void* domain_create_w(wchar_t const* name) {
    return names::make_domain(text_of(narrow(name).get()),
                              hand_on<void*>(abi::core2, abi::domain_create_a + 1, nullptr, name));
}
void* domain_register_string_a(void* domain, char const* string) {
    return names::make_string(text_of(string),
                              hand_on<void*>(abi::core2, abi::domain_register_string_a, nullptr, domain, string));
}
void* domain_register_string_w(void* domain, wchar_t const* string) {
    return names::make_string(text_of(narrow(string).get()),
                              hand_on<void*>(abi::core2, abi::domain_register_string_a + 1, nullptr, domain, string));
}
void name_category_a(std::uint32_t category, char const* name) {
    names::name_category(names::default_domain, category, text_of(name));
    hand_on_to(abi::core, abi::name_category_a, category, name);
}
void name_category_w(std::uint32_t category, wchar_t const* name) {
    names::name_category(names::default_domain, category, text_of(narrow(name).get()));
    hand_on_to(abi::core, abi::name_category_a + 1, category, name);
}
void domain_name_category_a(void* domain, std::uint32_t category, char const* name) {
    names::name_category(names::domain_of(domain), category, text_of(name));
    hand_on_to(abi::core2, abi::domain_name_category_a, domain, category, name);
}
void domain_name_category_w(void* domain, std::uint32_t category, wchar_t const* name) {
    names::name_category(names::domain_of(domain), category, text_of(narrow(name).get()));
    hand_on_to(abi::core2, abi::domain_name_category_a + 1, domain, category, name);
}

// --- names of resources
// ----------------------------------------------------------------------------------------------------

using spool::nvtx_resource;

std::uint64_t number_of(void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle);
}
std::uint64_t number_of(int ordinal) {
    return static_cast<std::uint32_t>(ordinal);
}
std::uint64_t number_of(std::uint32_t tid) {
    return tid;
}

template <class Handle, nvtx_resource resource, abi::module m, unsigned id>
void name_a(Handle handle, char const* called) {
    name(resource, number_of(handle), text_of(called));
    hand_on_to(m, id, handle, called);
}
template <class Handle, nvtx_resource resource, abi::module m, unsigned id>
void name_w(Handle handle, wchar_t const* called) {
    name(resource, number_of(handle), text_of(narrow(called).get()));
    hand_on_to(m, id + 1, handle, called);
}

nvtx_resource resource_of(std::int32_t type) {
    switch (type) {
        case abi::native_thread:
            return nvtx_resource::thread;
        case abi::cuda_device:
        case abi::runtime_device:
            return nvtx_resource::device;
        case abi::cuda_context:
            return nvtx_resource::context;
        case abi::cuda_stream:
        case abi::runtime_stream:
            return nvtx_resource::stream;
        case abi::cuda_event:
        case abi::runtime_event:
            return nvtx_resource::event;
        default:
            return nvtx_resource::other;
    }
}

// Where no other tool gives one out, the name itself is the handle: the program only ever destroys it.
void* domain_resource_create(void* domain, abi::resource_attributes* given) {
    void* const handle = hand_on<void*>(abi::core2, abi::domain_resource_create, nullptr, domain, given);
    if (given == nullptr || given->size < sizeof *given || given->message == nullptr) return handle;
    abi::event_attributes as_message{};
    as_message.size = sizeof as_message;
    as_message.message_type = given->message_type;
    as_message.message = given->message;
    understood const said(names::default_domain, &as_message);
    name(resource_of(given->identifier_type), given->identifier, said.what.message);
    return handle != nullptr ? handle : names::make_string(said.what.message, nullptr);
}

// --- the places
// ------------------------------------------------------------------------------------------------------------

struct handler {
    abi::module module;
    unsigned id;
    abi::function ours;
};

template <class Function>
handler of(abi::module m, unsigned id, Function* f) {
    return {m, id, reinterpret_cast<abi::function>(f)};
}
template <class Handle, nvtx_resource resource, abi::module m, unsigned id>
void name_handlers(handler*& next) {
    *next++ = of(m, id, &name_a<Handle, resource, m, id>);
    *next++ = of(m, id + 1, &name_w<Handle, resource, m, id>);
}

struct handler_list {
    handler all[64];
    std::size_t count;
};

handler_list list() {
    handler_list out{};
    handler* next = out.all;
    using namespace abi;
    for (handler const& each : {of(core, abi::mark_ex, &handlers::mark_ex),
                                of(core, abi::mark_a, &handlers::mark_a),
                                of(core, abi::mark_a + 1, &mark_w),
                                of(core, abi::range_start_ex, &handlers::range_start_ex),
                                of(core, abi::range_start_a, &handlers::range_start_a),
                                of(core, abi::range_start_a + 1, &range_start_w),
                                of(core, abi::range_end, &handlers::range_end),
                                of(core, abi::range_push_ex, &handlers::range_push_ex),
                                of(core, abi::range_push_a, &handlers::range_push_a),
                                of(core, abi::range_push_a + 1, &range_push_w),
                                of(core, abi::range_pop, &handlers::range_pop),
                                of(core, abi::name_category_a, &handlers::name_category_a),
                                of(core, abi::name_category_a + 1, &name_category_w),
                                of(core2, abi::domain_mark_ex, &handlers::domain_mark_ex),
                                of(core2, abi::domain_range_start_ex, &handlers::domain_range_start_ex),
                                of(core2, abi::domain_range_end, &handlers::domain_range_end),
                                of(core2, abi::domain_range_push_ex, &handlers::domain_range_push_ex),
                                of(core2, abi::domain_range_pop, &handlers::domain_range_pop),
                                of(core2, abi::domain_resource_create, &handlers::domain_resource_create),
                                of(core2, abi::domain_name_category_a, &handlers::domain_name_category_a),
                                of(core2, abi::domain_name_category_a + 1, &domain_name_category_w),
                                of(core2, abi::domain_register_string_a, &handlers::domain_register_string_a),
                                of(core2, abi::domain_register_string_a + 1, &domain_register_string_w),
                                of(core2, abi::domain_create_a, &handlers::domain_create_a),
                                of(core2, abi::domain_create_a + 1, &domain_create_w)})
        *next++ = each;
    name_handlers<std::uint32_t, nvtx_resource::thread, core, name_os_thread_a>(next);
    name_handlers<int, nvtx_resource::device, cuda, name_device_a>(next);
    name_handlers<void*, nvtx_resource::context, cuda, name_context_a>(next);
    name_handlers<void*, nvtx_resource::stream, cuda, name_stream_a>(next);
    name_handlers<void*, nvtx_resource::event, cuda, name_event_a>(next);
    name_handlers<int, nvtx_resource::device, cudart, name_runtime_device_a>(next);
    name_handlers<void*, nvtx_resource::stream, cudart, name_runtime_stream_a>(next);
    name_handlers<void*, nvtx_resource::event, cudart, name_runtime_event_a>(next);
    out.count = static_cast<std::size_t>(next - out.all);
    return out;
}

// Two objects may have got different functions from the other tool, of which ours could hand on to one only: there the
// other tool's stays, and what is said through it goes unrecorded.
bool may_take(handler const& each, abi::function now, abi::function before) {
    abi::function const its = now != before ? now : nullptr;
    auto& known = others[each.module][each.id];
    abi::function expected = nullptr;
    if (its == nullptr || its == each.ours) return true;
    if (known.compare_exchange_strong(expected, its, std::memory_order_acq_rel) || expected == its) return true;
    preload::process::count(spool::loss::nvtx_unrecorded);
    return false;
}

}  // namespace

places::places(abi::callbacks_table const& callbacks) : at_{}, before_{} {
    handler_list const all = list();
    for (std::size_t i = 0; i < all.count; ++i) {
        auto const& each = all.all[i];
        abi::function_table table = nullptr;
        unsigned size = 0;
        if (callbacks.module_table(each.module, &table, &size) == 0 || table == nullptr || each.id >= size) continue;
        at_[each.module][each.id] = table[each.id];
        if (table[each.id] != nullptr) before_[each.module][each.id] = *table[each.id];
    }
}

void places::take() {
    handler_list const all = list();
    for (std::size_t i = 0; i < all.count; ++i) {
        auto const& each = all.all[i];
        abi::function* const place = at_[each.module][each.id];
        if (place != nullptr && may_take(each, *place, before_[each.module][each.id])) *place = each.ours;
    }
}

}  // namespace lastref::nvtx::handlers
