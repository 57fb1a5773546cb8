// Many datagrams with one system call, which Swift's Glibc module leaves out: recvmmsg(2), with struct iovec, msghdr and mmsghdr as 64-bit Linux has them.
#include <stddef.h>

struct datagram_room {
    void *base;
    size_t size;
};

struct datagram_header {
    void *sender;
    unsigned int sender_size;
    struct datagram_room *rooms;
    size_t room_count;
    void *control;
    size_t control_size;
    int flags;
};

struct datagram {
    struct datagram_header header;
    unsigned int received;
};

_Static_assert(sizeof(struct datagram) == 64, "struct mmsghdr of this system");

extern int recvmmsg(int socket, struct datagram *datagrams, unsigned int count, int flags, void *timeout);
