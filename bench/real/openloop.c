/* An open-loop load generator: every request is sent at the moment it was drawn for, whether or not
 * earlier ones were answered, and its latency counts from that moment (no coordinated omission).
 *
 *   openloop PORT CONNECTIONS TERMINATOR ARRIVALS REQUESTS LATENCIES
 *
 * ARRIVALS: native int64, ns after the start, ascending. REQUESTS: as many, each a native uint32
 * length and the bytes to send. An answer ends with TERMINATOR. LATENCIES receives one int64 a
 * request, ns, -1 where no answer came. Request i goes over connection i modulo CONNECTIONS, and a
 * server answers a connection in order. Prints "ready", begins when a line is read from standard
 * input, and ends with the last answer or 10 s after the last request. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 256, PATIENCE_MS = 10000, CHUNK = 65536 };
#define NS_PER_S 1000000000LL

struct connection {
    int fd;
    size_t answered; /* requests of this connection */
    size_t matched;  /* bytes of the terminator seen at the end of what was read */
};

static struct connection connections[MAX_CONNECTIONS];
static size_t connection_count, request_count;
static const int64_t *arrival_ns;
static const char *requests, *terminator;
static int64_t *latency_ns, start_ns;
static _Atomic size_t answered_in_all;

static void die(const char *what) {
    fprintf(stderr, "openloop: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *map_file(const char *path, size_t *size) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        die(path);
    *size = (size_t)status.st_size;
    void *mapped = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (mapped == MAP_FAILED)
        die(path);
    close(fd);
    return mapped;
}

static int connect_to(uint16_t port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* Counts the answers in what was read; a terminator may be cut by the end of a read. */
static void take_answers(struct connection *connection, const char *bytes, size_t length) {
    const size_t ending = strlen(terminator);
    const int64_t elapsed_ns = now_ns() - start_ns;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == terminator[connection->matched])
            connection->matched++;
        else
            connection->matched = bytes[i] == terminator[0];
        if (connection->matched < ending)
            continue;
        const size_t index =
            connection->answered * connection_count + (size_t)(connection - connections);
        connection->matched = 0;
        if (index >= request_count) {
            errno = EPROTO;
            die("more answers than requests");
        }
        latency_ns[index] = elapsed_ns - arrival_ns[index];
        connection->answered++;
        atomic_fetch_add_explicit(&answered_in_all, 1, memory_order_relaxed);
    }
}

static void *receive(void *argument) {
    static char bytes[CHUNK];
    const int epoll = *(const int *)argument;
    struct epoll_event events[MAX_CONNECTIONS];
    while (atomic_load_explicit(&answered_in_all, memory_order_relaxed) < request_count) {
        const int ready = epoll_wait(epoll, events, MAX_CONNECTIONS, PATIENCE_MS);
        if (ready == 0)
            break;
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            const ssize_t got = recv(connection->fd, bytes, sizeof(bytes), 0);
            if (got <= 0) {
                errno = got == 0 ? ECONNRESET : errno;
                die("the server");
            }
            take_answers(connection, bytes, (size_t)got);
        }
    }
    return NULL;
}

static void send_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        const ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0)
            die("send");
        bytes += sent;
        length -= (size_t)sent;
    }
}

int main(int argc, char **argv) {
    size_t size;
    pthread_t receiver;
    char line[16];
    if (argc != 7) {
        fprintf(stderr, "openloop PORT CONNECTIONS TERMINATOR ARRIVALS REQUESTS LATENCIES\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, 9);
    prctl(PR_SET_TIMERSLACK, 1UL); /* the default slack of 50 us would be part of every latency */
    connection_count = strtoul(argv[2], NULL, 10);
    if (connection_count < 1 || connection_count > MAX_CONNECTIONS) {
        errno = EINVAL;
        die("CONNECTIONS");
    }
    terminator = argv[3];
    arrival_ns = map_file(argv[4], &size);
    request_count = size / sizeof(*arrival_ns);
    requests = map_file(argv[5], &size);
    latency_ns = malloc(request_count * sizeof(*latency_ns));
    if (!latency_ns)
        die("memory");
    memset(latency_ns, 0xff, request_count * sizeof(*latency_ns));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < connection_count; i++) {
        connections[i].fd = connect_to((uint16_t)strtoul(argv[1], NULL, 10));
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) != 0)
            die("epoll");
    }
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 1;

    start_ns = now_ns();
    if (pthread_create(&receiver, NULL, receive, &epoll) != 0)
        die("pthread_create");
    for (size_t i = 0; i < request_count; i++) {
        const int64_t due_ns = start_ns + arrival_ns[i];
        const struct timespec due = {due_ns / NS_PER_S, due_ns % NS_PER_S};
        uint32_t length;
        if (now_ns() < due_ns)
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        memcpy(&length, requests, sizeof(length));
        send_all(connections[i % connection_count].fd, requests + sizeof(length), length);
        requests += sizeof(length) + length;
    }
    pthread_join(receiver, NULL);

    int out = open(argv[6], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const size_t bytes = request_count * sizeof(*latency_ns);
    if (out < 0 || write(out, latency_ns, bytes) != (ssize_t)bytes)
        die(argv[6]);
    return 0;
}
