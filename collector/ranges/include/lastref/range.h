// Named ranges in a recording of lastref, such as tests: the report then says which range left what behind.
//
// For any C++11 program; links against nothing. Where lastref is not recording, each of these does nothing.
#ifndef LASTREF_RANGE_H
#define LASTREF_RANGE_H

#include <dlfcn.h>

namespace lastref {

// Begins a range of the process, whichever threads work in it, and returns its number; 0 where nothing is recorded.
// Ranges may overlap. The name is copied. Any thread; not from a signal handler.
inline unsigned long long begin_range(char const* name) {
    using function = unsigned long long (*)(char const*);
    static function const begin = reinterpret_cast<function>(dlsym(RTLD_DEFAULT, "lastref_range_begin"));
    return begin != nullptr ? begin(name) : 0;
}

// Ends it, on any thread. 0 does nothing.
inline void end_range(unsigned long long number) {
    using function = void (*)(unsigned long long);
    static function const end = reinterpret_cast<function>(dlsym(RTLD_DEFAULT, "lastref_range_end"));
    if (end != nullptr && number != 0) end(number);
}

// A range for as long as it lives.
class range {
  public:
    explicit range(char const* name) : number_(begin_range(name)) {}
    ~range() { end_range(number_); }
    range(range const&) = delete;
    range& operator=(range const&) = delete;

  private:
    unsigned long long number_;
};

}  // namespace lastref

#endif
