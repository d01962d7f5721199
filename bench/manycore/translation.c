/* Keeps QEMU from running code that is no longer there.
 *
 * QEMU 7.2 reads a guest's code, translates it, and only then puts the translation on the list of
 * those that end when the code is written. Where another virtual CPU writes in between, the old
 * code stays: Linux, which patches itself under a breakpoint, later runs into that breakpoint and
 * dies. So every write to a page with translations leaves its time here, and a translation that was
 * begun before, or not long after, is used once and not kept.
 *
 * Calls of three functions of QEMU are redirected to ours; where there are none of these names, as
 * in a later QEMU, which does this itself, nothing is. */
#define _GNU_SOURCE
#include "page.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define SETTLED_NS 20000000LL /* the writer is held up between its word and its write no longer */
enum { PAGES = 1 << 12, PAGE_SHIFT = 12, CALL = 0xe8, CALL_BYTES = 5, GENERATOR_BYTES = 2048 };
enum { REACH = 1 << 30, STEP = 1 << 20, STUB_BYTES = 12, STUBS_BYTES = 4096 };

typedef uint64_t read_code(void *, uint64_t, void **);
typedef void *link_translation(void *, uint64_t, uint64_t);
typedef void code_is_written(void *, uint64_t, int, uintptr_t);

static _Atomic int64_t written_ns[PAGES]; /* by the page's number, modulo */
static _Thread_local int64_t began_ns;
static read_code *qemu_read;
static link_translation *qemu_link;
static code_is_written *qemu_written;
static void (*qemu_forget)(void *, uint64_t);

static int64_t now_ns(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now); /* the library's is dilated */
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static _Atomic int64_t *of_page(uint64_t address) {
    return &written_ns[address >> PAGE_SHIFT & (PAGES - 1)];
}

static uint64_t on_read(void *state, uint64_t address, void **host) {
    began_ns = now_ns();
    return qemu_read(state, address, host);
}

static void on_written(void *pages, uint64_t address, int bytes, uintptr_t from) {
    atomic_store(of_page(address), now_ns());
    qemu_written(pages, address, bytes, from);
}

static bool may_be_old(uint64_t address) {
    const int64_t last_ns = address + 1 ? atomic_load(of_page(address)) : 0;
    return last_ns && last_ns + SETTLED_NS > began_ns;
}

static void *on_link(void *translation, uint64_t address, uint64_t next_page) {
    void *linked = qemu_link(translation, address, next_page);
    if (may_be_old(address) || may_be_old(next_page))
        qemu_forget(linked, UINT64_MAX);
    return linked;
}

struct text {
    unsigned char *begin;
    size_t bytes;
};

static int of_program(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            *(struct text *)found = (struct text){
                (unsigned char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                info->dlpi_phdr[i].p_memsz,
            };
    return 1; /* the program is the first */
}

/* A page that a call from anywhere in the program reaches. */
static unsigned char *near(const struct text *text) {
    const uintptr_t begin = (uintptr_t)text->begin & ~(uintptr_t)(STEP - 1);
    for (uintptr_t distance = STEP; distance < REACH; distance += STEP) {
        void *found =
            mmap((void *)(begin - distance), STUBS_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (found != MAP_FAILED)
            return found;
    }
    return NULL;
}

/* Has all calls of `function` within `text` go to `stub`, which jumps to `ours`. */
static void redirect(const struct text *text, const void *function, unsigned char *stub,
                     uintptr_t ours) {
    unsigned char jump[STUB_BYTES] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    memcpy(jump + 2, &ours, sizeof(ours)); /* mov rax; jmp rax */
    memcpy(stub, jump, sizeof(jump));
    for (unsigned char *at = text->begin; at + CALL_BYTES <= text->begin + text->bytes; at++) {
        int32_t offset;
        memcpy(&offset, at + 1, sizeof(offset));
        if (*at != CALL || at + CALL_BYTES + offset != (const unsigned char *)function)
            continue;
        offset = (int32_t)(stub - (at + CALL_BYTES));
        memcpy(at + 1, &offset, sizeof(offset));
    }
}

void translation_start(void) {
    struct text text = {NULL, 0};
    unsigned char *generator = dlsym(RTLD_DEFAULT, "tb_gen_code");
    *(void **)&qemu_read = dlsym(RTLD_DEFAULT, "get_page_addr_code_hostp");
    *(void **)&qemu_link = dlsym(RTLD_DEFAULT, "tb_link_page");
    *(void **)&qemu_written = dlsym(RTLD_DEFAULT, "tb_invalidate_phys_page_fast");
    *(void **)&qemu_forget = dlsym(RTLD_DEFAULT, "tb_phys_invalidate");
    if (!generator || !qemu_read || !qemu_link || !qemu_written || !qemu_forget)
        return;
    dl_iterate_phdr(of_program, &text);
    unsigned char *stubs = text.begin ? near(&text) : NULL;
    const uintptr_t begin = (uintptr_t)text.begin & ~(uintptr_t)(STUBS_BYTES - 1);
    const size_t bytes = (uintptr_t)text.begin + text.bytes - begin;
    if (!stubs || mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    const struct text in_generator = {generator, GENERATOR_BYTES};
    redirect(&in_generator, (void *)qemu_read, stubs, (uintptr_t)on_read);
    redirect(&text, (void *)qemu_link, stubs + STUB_BYTES, (uintptr_t)on_link);
    redirect(&text, (void *)qemu_written, stubs + 2 * STUB_BYTES, (uintptr_t)on_written);
    mprotect((void *)begin, bytes, PROT_READ | PROT_EXEC);
}
