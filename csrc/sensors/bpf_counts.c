/* What the in-kernel sensor has counted: copies over all CPUs, their differences and quantiles. */
#include <string.h>

#include "sensors/bpf_inside.h"

/* --- waits ------------------------------------------------------------------------------------ */

void sh_bpf_sensor_waits(const struct sh_bpf_sensor *bpf, struct sh_bpf_waits *waits) {
    memset(waits, 0, sizeof(*waits));
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++) {
        const struct sh_bpf_cpu *own = &bpf->cpus[cpu];
        waits->counts.waits += LOAD(own->waits.waits);
        waits->counts.total_ns += LOAD(own->waits.total_ns);
        waits->counts.longer += LOAD(own->waits.longer);
        waits->counts.longer_while_lent += LOAD(own->waits.longer_while_lent);
        waits->counts.longer_after_elastic += LOAD(own->waits.longer_after_elastic);
        waits->counts.longer_throttled += LOAD(own->waits.longer_throttled);
        waits->counts.longer_blamed += LOAD(own->waits.longer_blamed);
        for (uint32_t i = 0; i < SH_BPF_WAIT_BUCKETS; i++)
            waits->histogram[i] += own->histogram[i];
    }
}

void sh_bpf_waits_since(struct sh_bpf_waits *waits, const struct sh_bpf_waits *earlier) {
    waits->counts.waits -= earlier->counts.waits;
    waits->counts.total_ns -= earlier->counts.total_ns;
    waits->counts.longer -= earlier->counts.longer;
    waits->counts.longer_while_lent -= earlier->counts.longer_while_lent;
    waits->counts.longer_after_elastic -= earlier->counts.longer_after_elastic;
    waits->counts.longer_throttled -= earlier->counts.longer_throttled;
    waits->counts.longer_blamed -= earlier->counts.longer_blamed;
    for (uint32_t i = 0; i < SH_BPF_WAIT_BUCKETS; i++)
        waits->histogram[i] -= earlier->histogram[i];
}

/* Middle of a bucket of 16 an octave, the first of which is at 2^first. */
static uint64_t octave_middle(uint32_t bucket, uint32_t first) {
    const uint64_t step = bucket % 16, shift = first - 4 + bucket / 16;
    return ((16 + step) << shift) + (UINT64_C(1) << shift) / 2;
}

uint64_t sh_bpf_wait_middle(uint32_t bucket) {
    if (bucket < SH_BPF_WAIT_LINEAR)
        return ((uint64_t)bucket << SH_BPF_WAIT_SHIFT) + (1 << (SH_BPF_WAIT_SHIFT - 1));
    return octave_middle(bucket - SH_BPF_WAIT_LINEAR, SH_BPF_WAIT_LOG2);
}

uint64_t sh_bpf_run_middle(uint32_t bucket) {
    return bucket ? octave_middle(bucket - 1, SH_BPF_RUN_LOG2) : 1 << (SH_BPF_RUN_LOG2 - 1);
}

static uint64_t quantile(const uint64_t *histogram, uint32_t buckets,
                         uint64_t (*middle)(uint32_t bucket), double q) {
    uint64_t total = 0, below = 0;
    for (uint32_t i = 0; i < buckets; i++)
        total += histogram[i];
    for (uint32_t i = 0; i < buckets; i++) {
        below += histogram[i];
        if (below > 0 && (double)below >= q * (double)total)
            return middle(i);
    }
    return 0;
}

uint64_t sh_bpf_waits_quantile(const struct sh_bpf_waits *waits, double q) {
    return quantile(waits->histogram, SH_BPF_WAIT_BUCKETS, sh_bpf_wait_middle, q);
}

/* --- run times -------------------------------------------------------------------------------- */

void sh_bpf_sensor_runs(const struct sh_bpf_sensor *bpf, struct sh_bpf_runs *runs) {
    memset(runs, 0, sizeof(*runs));
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++) {
        const struct sh_bpf_cpu *own = &bpf->cpus[cpu];
        runs->counts.runs += LOAD(own->runs.runs);
        runs->counts.total_ns += LOAD(own->runs.total_ns);
        for (uint32_t i = 0; i < SH_BPF_RUN_BUCKETS; i++)
            runs->histogram[i] += own->run_histogram[i];
    }
}

void sh_bpf_runs_since(struct sh_bpf_runs *runs, const struct sh_bpf_runs *earlier) {
    runs->counts.runs -= earlier->counts.runs;
    runs->counts.total_ns -= earlier->counts.total_ns;
    for (uint32_t i = 0; i < SH_BPF_RUN_BUCKETS; i++)
        runs->histogram[i] -= earlier->histogram[i];
}

uint64_t sh_bpf_runs_quantile(const struct sh_bpf_runs *runs, double q) {
    return quantile(runs->histogram, SH_BPF_RUN_BUCKETS, sh_bpf_run_middle, q);
}

/* --- harm ------------------------------------------------------------------------------------- */

bool sh_bpf_sensor_tells_harm(const struct sh_bpf_sensor *bpf) {
    return bpf->config.parts & SH_BPF_HARM;
}

static void add_side(struct sh_bpf_harm_side *sum, const struct sh_bpf_harm_side *side) {
    sum->counts.wait_ns += LOAD(side->counts.wait_ns);
    sum->counts.wake_to_sleep_ns += LOAD(side->counts.wake_to_sleep_ns);
    sum->counts.agent_ns += LOAD(side->counts.agent_ns);
    sum->counts.long_waits += LOAD(side->counts.long_waits);
    sum->counts.behind_elastic += LOAD(side->counts.behind_elastic);
    sum->counts.behind_elastic_here += LOAD(side->counts.behind_elastic_here);
    sum->counts.unjudged += LOAD(side->counts.unjudged);
    for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++) {
        sum->waits[i] += LOAD(side->waits[i]);
        sum->wakes_to_sleeps[i] += LOAD(side->wakes_to_sleeps[i]);
    }
}

void sh_bpf_sensor_harm(const struct sh_bpf_sensor *bpf, uint32_t primary,
                        struct sh_bpf_harm *harm) {
    const uint32_t primaries = bpf->config.primary_count;
    memset(harm, 0, sizeof(*harm));
    if (!sh_bpf_sensor_tells_harm(bpf) || primary >= primaries)
        return;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++) {
        const struct sh_bpf_harm *own = &bpf->harms[cpu * primaries + primary];
        add_side(&harm->sides[0], &own->sides[0]);
        add_side(&harm->sides[1], &own->sides[1]);
        for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++) {
            harm->harmed[i] += LOAD(own->harmed[i]);
            harm->unharmed[i] += LOAD(own->unharmed[i]);
            harm->harmed_waits[i] += LOAD(own->harmed_waits[i]);
            harm->unharmed_waits[i] += LOAD(own->unharmed_waits[i]);
        }
        harm->lost += LOAD(own->lost);
        harm->idle_answers += LOAD(own->idle_answers);
        harm->idle_answer_ns += LOAD(own->idle_answer_ns);
        harm->woken_by_own += LOAD(own->woken_by_own);
    }
}

static void side_since(struct sh_bpf_harm_side *side, const struct sh_bpf_harm_side *earlier) {
    side->counts.wait_ns -= earlier->counts.wait_ns;
    side->counts.wake_to_sleep_ns -= earlier->counts.wake_to_sleep_ns;
    side->counts.agent_ns -= earlier->counts.agent_ns;
    side->counts.long_waits -= earlier->counts.long_waits;
    side->counts.behind_elastic -= earlier->counts.behind_elastic;
    side->counts.behind_elastic_here -= earlier->counts.behind_elastic_here;
    side->counts.unjudged -= earlier->counts.unjudged;
    for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++) {
        side->waits[i] -= earlier->waits[i];
        side->wakes_to_sleeps[i] -= earlier->wakes_to_sleeps[i];
    }
}

void sh_bpf_harm_since(struct sh_bpf_harm *harm, const struct sh_bpf_harm *earlier) {
    side_since(&harm->sides[0], &earlier->sides[0]);
    side_since(&harm->sides[1], &earlier->sides[1]);
    for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++) {
        harm->harmed[i] -= earlier->harmed[i];
        harm->unharmed[i] -= earlier->unharmed[i];
        harm->harmed_waits[i] -= earlier->harmed_waits[i];
        harm->unharmed_waits[i] -= earlier->unharmed_waits[i];
    }
    harm->lost -= earlier->lost;
    harm->idle_answers -= earlier->idle_answers;
    harm->idle_answer_ns -= earlier->idle_answer_ns;
    harm->woken_by_own -= earlier->woken_by_own;
}

uint64_t sh_bpf_harm_quantile(const uint64_t *histogram, double q) {
    return quantile(histogram, SH_BPF_HARM_BUCKETS, sh_bpf_wait_middle, q);
}
