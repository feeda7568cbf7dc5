// Preloaded in place of the collector.
extern "C" void lastref_harmless() {}
