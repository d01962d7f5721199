#include "lab/serverless/balancer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define UNHEALTHY_S 10.0

int sh_faas_balancer_init(struct sh_faas_balancer *balancer, const struct sh_faas_options *options,
                          uint32_t functions, uint32_t slots, uint64_t seed, uint64_t stream) {
    *balancer =
        (struct sh_faas_balancer){.options = *options, .functions = functions, .slots = slots};
    sh_sim_random_seed(&balancer->random, seed, stream);
    balancer->sets = calloc(functions, sizeof(*balancer->sets));
    balancer->found = calloc(slots, sizeof(*balancer->found));
    balancer->mark = calloc(slots, sizeof(*balancer->mark));
    balancer->steps = calloc(slots, sizeof(*balancer->steps));
    if (!balancer->sets || !balancer->found || !balancer->mark || !balancer->steps)
        return -ENOMEM;
    return 0;
}

void sh_faas_balancer_destroy(struct sh_faas_balancer *balancer) {
    for (uint32_t i = 0; balancer->sets && i < balancer->functions; i++)
        free(balancer->sets[i].members);
    free(balancer->sets);
    free(balancer->found);
    free(balancer->mark);
    free(balancer->steps);
}

static double trusted_cores(const struct sh_faas_view *view, double now_s,
                            const struct sh_faas_options *options) {
    const double age_s = now_s - view->reported_s;
    if (age_s <= options->fresh_s)
        return view->cores;
    const double kept = view->min_cores < view->cores ? view->min_cores : view->cores;
    if (age_s >= options->lost_s)
        return kept;
    const double part = (age_s - options->fresh_s) / (options->lost_s - options->fresh_s);
    return view->cores - (view->cores - kept) * part;
}

static double crowding(const struct sh_faas_view *view, double cores) {
    return cores > 0.0 ? (view->load + 1.0) / cores : INFINITY;
}

static bool has_memory(const struct sh_faas_view *view, const struct sh_faas_function *function) {
    return view->busy_memory_mib + function->memory_mib <= view->memory_mib;
}

static bool has_notice(const struct sh_faas_view *view) {
    return view->eviction_s < INFINITY;
}

/* --- Join-the-Shortest-Queue ------------------------------------------------------------------ */

static int64_t shortest_queue(struct sh_faas_balancer *balancer,
                              const struct sh_faas_function *function,
                              const struct sh_faas_pool *pool, const uint8_t *warm, double now_s) {
    uint32_t count = 0;
    double least = INFINITY;
    bool with_memory = false;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct sh_faas_view *view = &pool->views[pool->order[i]];
        if (has_notice(view))
            continue;
        const bool fits = has_memory(view, function);
        if (with_memory && !fits)
            continue;
        double length = crowding(view, trusted_cores(view, now_s, &balancer->options));
        if (!warm[pool->order[i]])
            length *= 1.0 + balancer->options.cold_cost;
        if (!count || length < least || fits > with_memory) {
            count = 1;
            balancer->found[0] = pool->order[i];
            least = length;
            with_memory = fits;
        } else if (length == least) {
            balancer->found[count++] = pool->order[i];
        }
    }
    if (!count)
        return -EAGAIN;
    return balancer->found[count > 1 ? sh_sim_below(&balancer->random, count) : 0];
}

/* --- power of two choices --------------------------------------------------------------------- */

static int64_t two_choices(struct sh_faas_balancer *balancer,
                           const struct sh_faas_function *function, const struct sh_faas_pool *pool,
                           double now_s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        if (!has_notice(&pool->views[pool->order[i]]))
            balancer->found[count++] = pool->order[i];
    if (count < 2)
        return count ? (int64_t)balancer->found[0] : -EAGAIN;
    const uint32_t first = sh_sim_below(&balancer->random, count);
    const uint32_t second = sh_sim_below(&balancer->random, count - 1);
    const uint32_t a = balancer->found[first];
    const uint32_t b = balancer->found[second + (second >= first)];
    const bool fits_a = has_memory(&pool->views[a], function);
    const bool fits_b = has_memory(&pool->views[b], function);
    if (fits_a != fits_b)
        return fits_a ? a : b;
    const double length_a =
        crowding(&pool->views[a], trusted_cores(&pool->views[a], now_s, &balancer->options));
    const double length_b =
        crowding(&pool->views[b], trusted_cores(&pool->views[b], now_s, &balancer->options));
    return length_b < length_a ? b : a;
}

/* --- vanilla OpenWhisk ------------------------------------------------------------------------ */

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void find_steps(struct sh_faas_balancer *balancer, uint32_t count) {
    balancer->steps_for = count;
    balancer->step_count = 0;
    for (uint32_t number = 1; number <= count; number++) {
        bool coprime = common_divisor(number, count) == 1;
        for (uint32_t i = 0; coprime && i < balancer->step_count; i++)
            coprime = common_divisor(number, balancer->steps[i]) == 1;
        if (coprime)
            balancer->steps[balancer->step_count++] = number;
    }
}

static bool healthy(const struct sh_faas_view *view, double now_s) {
    return now_s - view->reported_s <= UNHEALTHY_S;
}

static int64_t home_invoker(struct sh_faas_balancer *balancer,
                            const struct sh_faas_function *function,
                            const struct sh_faas_pool *pool, double now_s) {
    if (!pool->count)
        return -EAGAIN;
    if (balancer->steps_for != pool->count)
        find_steps(balancer, pool->count);
    uint32_t index = function->hash % pool->count;
    const uint32_t step = balancer->steps[function->hash % balancer->step_count];
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct sh_faas_view *view = &pool->views[pool->order[index]];
        if (healthy(view, now_s) && has_memory(view, function))
            return pool->order[index];
        index = (uint32_t)(((uint64_t)index + step) % pool->count);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        if (healthy(&pool->views[pool->order[i]], now_s))
            balancer->found[count++] = pool->order[i];
    if (count)
        return balancer->found[sh_sim_below(&balancer->random, count)];
    return pool->order[sh_sim_below(&balancer->random, pool->count)];
}

/* --- Min-Worker-Set --------------------------------------------------------------------------- */

static bool has_room(const struct sh_faas_balancer *balancer, const struct sh_faas_view *view,
                     const struct sh_faas_function *function, double cores) {
    const bool fits =
        view->load + 1.0 <= balancer->options.fill * cores || (view->load == 0.0 && cores >= 1.0);
    return fits && has_memory(view, function);
}

/* A member with room, or -EAGAIN; those who went, have notice or were not needed leave the set. */
static int64_t choose_member(const struct sh_faas_balancer *balancer, struct sh_faas_set *set,
                             const struct sh_faas_function *function,
                             const struct sh_faas_pool *pool, const uint8_t *warm, double now_s) {
    int64_t with_room = -EAGAIN;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct sh_faas_member member = set->members[i];
        const struct sh_faas_view *view = &pool->views[member.slot];
        const bool done = with_room >= 0 && warm[with_room];
        if (!done && (!view->present || has_notice(view) ||
                      now_s - member.used_s > balancer->options.forget_s))
            continue;
        set->members[kept++] = member;
        if (done || (with_room >= 0 && !warm[member.slot]))
            continue;
        if (!warm[member.slot] && balancer->options.cold_cost > 0.0)
            continue;
        if (has_room(balancer, view, function, trusted_cores(view, now_s, &balancer->options)))
            with_room = member.slot;
    }
    set->count = kept;
    return with_room;
}

static void mark_members(struct sh_faas_balancer *balancer, const struct sh_faas_set *set) {
    balancer->stamp++;
    for (uint32_t i = 0; i < set->count; i++)
        balancer->mark[set->members[i].slot] = balancer->stamp;
}

/* No member has room: the best of all workers, from the function's home on. */
static int64_t choose_outside(struct sh_faas_balancer *balancer, const struct sh_faas_set *set,
                              const struct sh_faas_function *function,
                              const struct sh_faas_pool *pool, const uint8_t *warm, double now_s) {
    int64_t best = -EAGAIN, emptiest = -EAGAIN, member = -EAGAIN;
    bool best_cold = true;
    double best_length = INFINITY, least = INFINITY, least_member = INFINITY;
    mark_members(balancer, set);
    uint32_t at = pool->count ? function->hash % pool->count : 0;
    for (uint32_t i = 0; i < pool->count; i++, at = at + 1 == pool->count ? 0 : at + 1) {
        const uint32_t slot = pool->order[at];
        const struct sh_faas_view *view = &pool->views[slot];
        if (has_notice(view))
            continue;
        const double cores = trusted_cores(view, now_s, &balancer->options);
        const double length = crowding(view, cores);
        if (emptiest < 0 || length < least) {
            emptiest = slot;
            least = length;
        }
        if (balancer->mark[slot] == balancer->stamp) {
            if (member < 0 || length < least_member) {
                member = slot;
                least_member = length;
            }
        } else if (has_room(balancer, view, function, cores)) {
            const bool cold = !warm[slot];
            if (best < 0 || cold < best_cold || (cold == best_cold && length < best_length)) {
                best = slot;
                best_cold = cold;
                best_length = length;
            }
        }
    }
    if (best >= 0)
        return best;
    /* Without cores anywhere the difference is no number: nothing is gained by growing. */
    if (member >= 0 && !(least_member - least >= balancer->options.grow_at))
        return member;
    return emptiest;
}

/* No warm member has room: where an invocation ends first, a cold start included; of equal ones
 * that with the fewest warm functions. */
static int64_t choose_least_costly(struct sh_faas_balancer *balancer, const struct sh_faas_set *set,
                                   const struct sh_faas_function *function,
                                   const struct sh_faas_pool *pool, const uint8_t *warm,
                                   double now_s) {
    const struct sh_faas_options *options = &balancer->options;
    int64_t best = -EAGAIN;
    double least = INFINITY;
    uint32_t least_warm = 0;
    bool with_memory = false;
    mark_members(balancer, set);
    uint32_t at = pool->count ? function->hash % pool->count : 0;
    for (uint32_t i = 0; i < pool->count; i++, at = at + 1 == pool->count ? 0 : at + 1) {
        const uint32_t slot = pool->order[at];
        const struct sh_faas_view *view = &pool->views[slot];
        if (has_notice(view))
            continue;
        const bool fits = has_memory(view, function);
        if (with_memory && !fits)
            continue;
        const double length = crowding(view, trusted_cores(view, now_s, options));
        double cost = length > 1.0 ? length : 1.0;
        if (set->count && length > options->fill && balancer->mark[slot] != balancer->stamp)
            cost += options->grow_at;
        if (!warm[slot])
            cost *= 1.0 + options->cold_cost;
        if (best < 0 || fits > with_memory || cost < least ||
            (cost == least && view->warm < least_warm)) {
            best = slot;
            least = cost;
            least_warm = view->warm;
            with_memory = fits;
        }
    }
    return best;
}

static int remember(struct sh_faas_set *set, uint32_t slot, double now_s) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->members[i].slot == slot) {
            set->members[i].used_s = now_s;
            return 0;
        }
    }
    if (set->count == set->capacity) {
        const uint32_t capacity = set->capacity ? 2 * set->capacity : 4;
        struct sh_faas_member *members = realloc(set->members, capacity * sizeof(*set->members));
        if (!members)
            return -ENOMEM;
        set->members = members;
        set->capacity = capacity;
    }
    set->members[set->count++] = (struct sh_faas_member){slot, now_s};
    return 0;
}

static int64_t min_worker_set(struct sh_faas_balancer *balancer,
                              const struct sh_faas_function *function,
                              const struct sh_faas_pool *pool, const uint8_t *warm, double now_s) {
    struct sh_faas_set *set = &balancer->sets[function->number];
    int64_t chosen = choose_member(balancer, set, function, pool, warm, now_s);
    if (chosen < 0)
        chosen = (balancer->options.cold_cost > 0.0 ? choose_least_costly : choose_outside)(
            balancer, set, function, pool, warm, now_s);
    if (chosen < 0)
        return chosen;
    const int err = remember(set, (uint32_t)chosen, now_s);
    return err ? err : chosen;
}

int64_t sh_faas_choose(struct sh_faas_balancer *balancer, const struct sh_faas_function *function,
                       const struct sh_faas_pool *pool, const uint8_t *warm, double now_s) {
    switch (balancer->options.kind) {
    case SH_FAAS_MIN_WORKER_SET:
        return min_worker_set(balancer, function, pool, warm, now_s);
    case SH_FAAS_SHORTEST_QUEUE:
        return shortest_queue(balancer, function, pool, warm, now_s);
    case SH_FAAS_HOME_INVOKER:
        return home_invoker(balancer, function, pool, now_s);
    case SH_FAAS_TWO_CHOICES:
        return two_choices(balancer, function, pool, now_s);
    }
    return -EINVAL;
}
