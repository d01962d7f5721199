# The C tests of this folder, with the C core, under each sanitizer: build/native/memory/test_*, build/native/threads/test_*.

OUT   := build/native
FLAGS := -std=c11 -O1 -g1 -Wall -Wextra -Werror -fno-sanitize-recover=all -Icsrc -Itests/native -MMD -MP
CORE  := $(filter-out csrc/bpf/%,$(wildcard csrc/*/*.c csrc/*/*/*.c))
TESTS := $(basename $(notdir $(wildcard tests/native/test_*.c)))
THREADED := test_affinity test_cpuset test_demo test_events test_core_hold test_loop_thread test_nudge \
	test_proc_sensor test_recorder test_rescue test_standstill test_task_list test_vigil

SANITIZER_memory  := -fsanitize=address,undefined
# It does not follow fences; what has one is not run by threads here.
SANITIZER_threads := -fsanitize=thread -Wno-tsan

.PHONY: all
.SECONDARY:

# What has no threads of its own, nor is used by any.
ALONE := csrc/learner/% csrc/lab/serverless/% csrc/lab/simulator/% csrc/sensors/perf_%
CORE_memory  := $(CORE)
CORE_threads := $(filter-out $(ALONE),$(CORE))

# $(1): the folder; $(2): its programs.
define sanitized
all $(1): $(addprefix $(OUT)/$(1)/,$(2))

$(addprefix $(OUT)/$(1)/,$(2)): $(OUT)/$(1)/%: $(OUT)/$(1)/tests/native/%.o $(OUT)/$(1)/core.a
	$$(CC) $(SANITIZER_$(1)) $$^ -lpthread -lm -o $$@

$(OUT)/$(1)/core.a: $(CORE_$(1):%.c=$(OUT)/$(1)/%.o)
	@rm -f $$@
	$$(AR) rcs $$@ $$^

$(OUT)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(CC) $(FLAGS) $(SANITIZER_$(1)) -c $$< -o $$@

-include $(CORE_$(1):%.c=$(OUT)/$(1)/%.d) $(2:%=$(OUT)/$(1)/tests/native/%.d)
endef

$(eval $(call sanitized,memory,$(TESTS)))
$(eval $(call sanitized,threads,$(THREADED)))
