// The kernel's readiness notification, which Swift's Glibc module leaves out.
#include <sys/epoll.h>
