# cython: language_level=3, boundscheck=True, wraparound=False
"""The csoaa learner in C. No logic lives here."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from cpython.pycapsule cimport PyCapsule_New

from smartharvest.core._c.csoaa cimport (
    SH_CSOAA_MAX_CLASSES,
    SH_CSOAA_MAX_FEATURES,
    sh_csoaa,
    sh_csoaa_adopt,
    sh_csoaa_init,
    sh_csoaa_learn,
    sh_csoaa_predict,
    sh_csoaa_size,
    sh_csoaa_state_size,
)

from smartharvest.core._c.decider cimport (
    atomic_exchange,
    atomic_int,
    atomic_store,
    sh_decider,
    sh_decider_config,
    sh_decider_decide,
    sh_decider_init,
)
from smartharvest.core._c.loop cimport (
    SH_WINDOW_EXHAUSTED,
    SH_WINDOW_STALE,
    sh_summary,
)

cdef class Csoaa:
    cdef sh_csoaa model
    cdef atomic_int taken
    cdef void *block
    cdef const float[:, ::1] costs
    cdef double values[SH_CSOAA_MAX_FEATURES]

    def __cinit__(self, const float[:, ::1] costs, float learning_rate=0.1, uint32_t features=5):
        cdef uint32_t classes = <uint32_t>costs.shape[0]
        cdef size_t size = sh_csoaa_size(classes, features + 1)
        self.block = NULL
        if costs.shape[1] != costs.shape[0]:
            raise ValueError("the table of costs has one row and one column for every class")
        if size == 0:
            raise ValueError(
                f"1..{SH_CSOAA_MAX_CLASSES} classes and 0..{SH_CSOAA_MAX_FEATURES - 1} features"
            )
        self.block = calloc(1, size)
        if self.block == NULL:
            raise MemoryError()
        if sh_csoaa_init(&self.model, classes, features + 1, learning_rate, self.block) != 0:
            raise ValueError(f"{learning_rate} is not a learning rate")
        self.costs = costs

    def __dealloc__(self):
        free(self.block)

    @property
    def lessons(self):
        return self.model.lessons

    cdef int take(self, tuple features) except -1:
        cdef uint32_t i
        if <uint32_t>len(features) + 1 != self.model.features:
            raise ValueError(f"{self.model.features - 1} features, not {len(features)}")
        for i in range(self.model.features - 1):
            self.values[i] = features[i]
        return 0

    def learn(self, tuple features, uint32_t label):
        self.take(features)
        sh_csoaa_learn(&self.model, self.values, &self.costs[label, 0])

    def predict(self, tuple features):
        self.take(features)
        return sh_csoaa_predict(&self.model, self.values)

    def scores(self, tuple features):
        cdef uint32_t c
        self.predict(features)
        return [self.model.score[c] for c in range(self.model.classes)]

    def weights(self):
        cdef uint32_t c, f
        return [
            [self.model.weight[f * self.model.pitch + c] for f in range(self.model.features)]
            for c in range(self.model.classes)
        ]

    def replay(
        self,
        const double[:, ::1] features,
        const uint32_t[::1] labels,
        float[:, ::1] scores,
        uint32_t[::1] decisions,
    ):
        cdef Py_ssize_t i, n = features.shape[0]
        cdef uint32_t classes = self.model.classes
        if (
            features.shape[1] + 1 != self.model.features
            or labels.shape[0] != n
            or decisions.shape[0] != n
            or scores.shape[0] != n
            or scores.shape[1] != classes
        ):
            raise ValueError("one row of features and scores, one label and decision a window")
        for i in range(n):
            if labels[i] >= classes:
                raise ValueError(f"label {labels[i]} is not in 0..{classes - 1}")
        with nogil:
            for i in range(n):
                decisions[i] = sh_csoaa_predict(&self.model, &features[i, 0])
                memcpy(&scores[i, 0], self.model.score, classes * sizeof(float))
                sh_csoaa_learn(&self.model, &features[i, 0], &self.costs[labels[i], 0])

    def state(self):
        cdef size_t size = sh_csoaa_state_size(&self.model)
        while atomic_exchange(&self.taken, 1):  # a decider is amid a lesson, for microseconds
            pass
        try:
            return (
                self.model.least_cost,
                self.model.highest_cost,
                self.model.lessons,
                (<const char *>self.block)[:size],
            )
        finally:
            atomic_store(&self.taken, 0)

    def adopt(self, float least_cost, float highest_cost, unsigned long long lessons, bytes state):
        cdef size_t size = sh_csoaa_state_size(&self.model)
        if <size_t>len(state) != size:
            raise ValueError(f"{size} bytes of state, not {len(state)}")
        memcpy(self.block, <const char *>state, size)
        if sh_csoaa_adopt(&self.model, least_cost, highest_cost, lessons) != 0:
            raise ValueError("the state holds what no model does")


cdef class Decider:
    cdef sh_decider decider
    cdef readonly Csoaa learner
    cdef readonly object capsule

    def __cinit__(
        self,
        Csoaa learner not None,
        *,
        uint32_t keep_idle=1,
        bint label_demand=False,
        bint aggressive=False,
        bint train_exhausted=False,
        bint broken_features=False,
    ):
        cdef sh_decider_config config
        config.total = <uint32_t>learner.costs.shape[0] - 1
        config.keep_idle = keep_idle
        config.label_demand = label_demand
        config.aggressive = aggressive
        config.train_exhausted = train_exhausted
        config.broken_features = broken_features
        if sh_decider_init(
            &self.decider, &config, &learner.model, &learner.costs[0, 0], &learner.taken
        ) != 0:
            raise ValueError("a decider needs a learner of five features and one core or more")
        self.learner = learner
        self.capsule = PyCapsule_New(&self.decider.decide, "smartharvest.decide", NULL)

    def decide(self, window):
        cdef sh_summary s
        s.start_ns, s.end_ns, s.seq = window.start_ns, window.end_ns, window.seq
        s.features.min, s.features.max = window.busy_min, window.busy_max
        s.features.mean, s.features.std = window.busy_mean, window.busy_std
        s.features.median = window.busy_median
        s.busy_max, s.busy_last = window.busy_max, window.busy_last
        s.demand_max, s.primary_cores = window.demand_max, window.primary_cores
        s.flags = (SH_WINDOW_EXHAUSTED if window.exhausted else 0) | (
            SH_WINDOW_STALE if window.stale else 0
        )
        sh_decider_decide(&self.decider, &s)
        return s.planned_cores, s.planned_safe_cores, None if s.label < 0 else s.label
