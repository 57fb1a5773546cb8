// The Swift runtime's hook for whoever counts allocations, which it exports but declares in no header (stdlib/public/runtime/HeapObject.cpp).
#include <stdbool.h>
#include <stddef.h>

typedef void *(*swift_allocate_object)(const void *metadata, size_t size, size_t alignment_mask);

__attribute__((swift_attr("nonisolated(unsafe)"))) extern swift_allocate_object _swift_allocObject;
__attribute__((swift_attr("nonisolated(unsafe)"))) extern bool _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly;
