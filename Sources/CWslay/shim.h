/* _GNU_SOURCE is not defined here: it would give fd_set another shape than Swift's Glibc module has. */
#include <wslay/wslay.h>
