/* Thread ids from a group's file and from a process's directory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "sensors/task_list.h"
#include "threads.h"

enum { MOST = 20000 };

struct found {
    int32_t tids[MOST];
    int count;
};

static void note(void *ctx, int32_t tid) {
    struct found *found = ctx;
    CHECK(found->count < MOST);
    found->tids[found->count++] = tid;
}

static bool has(const struct found *found, int32_t tid) {
    for (int i = 0; i < found->count; i++)
        if (found->tids[i] == tid)
            return true;
    return false;
}

static void test_every_line_of_a_long_file_is_one_task(void) {
    static char text[MOST * 8];
    static struct found found;
    size_t used = 0;
    const int fd = scratch_file();
    /* Long enough that numbers lie across the ends of several reads. */
    for (int i = 0; i < MOST; i++)
        used += (size_t)sprintf(text + used, "%d\n", 1 + i * 7);
    fill(fd, text);
    CHECK_EQ(sh_list_task_file(fd, note, &found), 0);
    CHECK_EQ(found.count, MOST);
    for (int i = 0; i < MOST; i++)
        CHECK_EQ(found.tids[i], 1 + i * 7);
    close(fd);
}

static void test_a_file_is_read_from_its_start_every_time(void) {
    static struct found found;
    const int fd = scratch_file();
    CHECK_EQ(sh_list_task_file(fd, note, &found), 0);
    CHECK_EQ(found.count, 0);
    fill(fd, "12\n345"); /* the last line without its end */
    for (int i = 0; i < 2; i++) {
        found.count = 0;
        CHECK_EQ(sh_list_task_file(fd, note, &found), 0);
        CHECK_EQ(found.count, 2);
        CHECK_EQ(found.tids[0], 12);
        CHECK_EQ(found.tids[1], 345);
    }
    close(fd);
}

static void test_a_file_that_cannot_be_read_is_an_error(void) {
    static struct found found;
    CHECK_EQ(sh_list_task_file(-1, note, &found), -EBADF);
    CHECK_EQ(sh_list_task_directory(-1, note, &found), -EBADF);
    CHECK_EQ(found.count, 0);
}

static void test_a_directory_names_every_thread_once_and_again(void) {
    static struct worker workers[5];
    static struct found found;
    const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    for (int i = 0; i < 5; i++)
        worker_start(&workers[i], false, -1);
    for (int round = 0; round < 2; round++) {
        found.count = 0;
        CHECK_EQ(sh_list_task_directory(fd, note, &found), 0);
        CHECK(has(&found, (int32_t)getpid()));
        for (int i = 0; i < 5; i++)
            CHECK(has(&found, workers[i].tid));
        for (int i = 1; i < found.count; i++)
            CHECK(found.tids[i] > found.tids[i - 1]);
    }
    for (int i = 0; i < 5; i++)
        worker_stop(&workers[i]);
    found.count = 0;
    CHECK_EQ(sh_list_task_directory(fd, note, &found), 0);
    CHECK(has(&found, (int32_t)getpid()));
    for (int i = 0; i < 5; i++)
        CHECK(!has(&found, workers[i].tid));
    close(fd);
}

static void test_the_directory_of_a_dead_process_is_an_error(void) {
    static struct found found;
    char path[64];
    const pid_t child = fork_sleeper();
    snprintf(path, sizeof(path), "/proc/%d/task", child);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(sh_list_task_directory(fd, note, &found), 0);
    CHECK_EQ(found.tids[0], child);
    found.count = 0;
    end_child(child);
    CHECK_EQ(sh_list_task_directory(fd, note, &found), -ESRCH);
    CHECK_EQ(found.count, 0);
    close(fd);
}

int main(void) {
    RUN(test_the_directory_of_a_dead_process_is_an_error); /* forks: before there are threads */
    RUN(test_every_line_of_a_long_file_is_one_task);
    RUN(test_a_file_is_read_from_its_start_every_time);
    RUN(test_a_file_that_cannot_be_read_is_an_error);
    RUN(test_a_directory_names_every_thread_once_and_again);
    return 0;
}
