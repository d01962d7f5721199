/* The first and only program of a small guest: a server of requests, or a batch on every vCPU.
 *
 * Linked statically; the kernel hands it ROLE and WORK from its command line as environment. Both
 * write a line a second to the console: what they did, and for how long threads that never wait
 * found themselves not running, which is what the guest can see of its vCPUs' dispatch waits. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7, GAP_NS = 1000000 };

static _Atomic uint64_t done, gap_ns, gaps;
static uint64_t work_ns;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Time that passed without us counts as a gap, not as work. */
static void work(uint64_t for_ns) {
    uint64_t last = now_ns(), left = for_ns;
    while (left) {
        const uint64_t now = now_ns(), passed = now - last;
        last = now;
        if (passed >= GAP_NS) {
            atomic_fetch_add(&gap_ns, passed);
            atomic_fetch_add(&gaps, 1);
        } else {
            left -= passed < left ? passed : left;
        }
    }
}

static void *serve(void *connection) {
    const int fd = (int)(intptr_t)connection;
    char request[8];
    while (recv(fd, request, sizeof(request), MSG_WAITALL) == (ssize_t)sizeof(request)) {
        work(work_ns);
        atomic_fetch_add(&done, 1);
        if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
            break;
    }
    close(fd);
    return NULL;
}

static void *accept_all(void *unused) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    (void)unused;
    if (bind(listener, (const struct sockaddr *)&any, sizeof(any)) || listen(listener, 64))
        perror("listen");
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        pthread_t thread;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        if (fd >= 0 && !pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
            pthread_detach(thread);
    }
    return NULL;
}

static void *spin(void *unused) {
    (void)unused;
    for (;;) {
        work(work_ns);
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

static void load_modules(void) {
    static const char *const paths[] = {"/failover.ko", "/net_failover.ko", "/virtio_net.ko"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const int fd = open(paths[i], O_RDONLY);
        if (fd >= 0) {
            syscall(SYS_finit_module, fd, "", 0);
            close(fd);
        }
    }
}

/* The address that QEMU's user network gives its first guest. */
static void bring_up(const char *name, const char *address) {
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    in->sin_family = AF_INET;
    inet_pton(AF_INET, address, &in->sin_addr);
    ioctl(fd, SIOCSIFADDR, &request);
    inet_pton(AF_INET, "255.255.255.0", &in->sin_addr);
    ioctl(fd, SIOCSIFNETMASK, &request);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    ioctl(fd, SIOCSIFFLAGS, &request);
    close(fd);
}

static uint64_t steal_ticks(void) {
    unsigned long long t[8] = {0};
    FILE *file = fopen("/proc/stat", "r");
    if (file) {
        if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
                   &t[4], &t[5], &t[6], &t[7]) != 8)
            t[7] = 0;
        fclose(file);
    }
    return t[7];
}

int main(void) {
    const char *role = getenv("ROLE"), *text = getenv("WORK");
    pthread_t thread;
    mkdir("/proc", 0755);
    mount("none", "/proc", "proc", 0, NULL);
    load_modules();
    work_ns = (text ? strtoull(text, NULL, 10) : 200) * 1000;
    if (role && strcmp(role, "server") == 0) {
        bring_up("lo", "127.0.0.1");
        bring_up("eth0", "10.0.2.15");
        pthread_create(&thread, NULL, accept_all, NULL);
    } else {
        for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--)
            pthread_create(&thread, NULL, spin, NULL);
    }
    for (;;) {
        printf("{\"done\": %llu, \"gap_ns\": %llu, \"gaps\": %llu, \"steal_ticks\": %llu}\n",
               (unsigned long long)done, (unsigned long long)gap_ns, (unsigned long long)gaps,
               (unsigned long long)steal_ticks());
        fflush(stdout);
        sleep(1);
    }
}
