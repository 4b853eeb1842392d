// See clock_load.h.
#include "worker/match/clock_load.h"

#include <unistd.h>

enum {
    SHORT_MOVE_NS = 5000000,
    ENGINE_FRESH_NS = 10000000, // greatest age of a reading before a move
    THREAD_FRESH_NS = 2000000,
    STOLEN_FRESH_NS = 1000000000,
    SCAN_NS = 1000000000,     // greatest age of the list of threads
    LONG_MOVE_NS = 50000000,  // a move that is long enough for a new list of threads
    SCAN_AFTER_NS = 20000000, // … unless the list is younger than this
};

void load_open(SlotLoad *slot, const int *cpus, int cpu_count) {
    *slot = (SlotLoad){.file = os_thread_usage_open(), .cpus = cpus, .cpu_count = cpu_count};
}

void load_close(SlotLoad *slot) {
    if (slot->file >= 0)
        close(slot->file);
    slot->file = -1;
}

// ---- while the engine is not to move ------------------------------------------------------------

void load_rest_begins(EngineProcess *engine) {
    engine->cpu_ns = os_meter_cpu(&engine->meter);
    engine->cpu_at_ns = os_now_ns();
    engine->own_ns = 0;
}

int64_t load_rest_ns(EngineProcess *engine, int64_t age_ns) {
    int64_t known = engine->cpu_ns + engine->own_ns;
    if (os_now_ns() - engine->cpu_at_ns < age_ns)
        return 0;
    bool measured = engine->cpu_ns >= 0;
    load_rest_begins(engine);
    return measured && engine->cpu_ns > known ? engine->cpu_ns - known : 0;
}

// ---- a move -------------------------------------------------------------------------------------

void load_move_begins(SlotLoad *slot, EngineProcess *engine) {
    int64_t now_ns = os_now_ns();
    OsUsage usage;
    if (engine->worked_since && now_ns - engine->delay_at_ns > ENGINE_FRESH_NS) {
        engine->delay_at_ns = now_ns;
        engine->worked_since = !os_meter_read(&engine->meter, SCAN_NS, &usage);
        engine->delay_ns = usage.delay_ns;
    }
    if (now_ns - slot->thread_at_ns > THREAD_FRESH_NS) {
        slot->thread_at_ns = now_ns;
        os_thread_usage(slot->file, &slot->thread);
    }
    if (now_ns - slot->stolen_at_ns > STOLEN_FRESH_NS) {
        slot->stolen_at_ns = now_ns;
        slot->stolen_ns = os_stolen_ns(slot->cpus, slot->cpu_count);
    }
}

static int64_t at_most(int64_t value, int64_t limit) {
    return value < 0 ? 0 : value > limit ? limit : value;
}

// A game has as many CPUs as its engines have threads.
static int64_t threads_of(const EngineProcess *engine) {
    return engine->spec->threads > 1 ? engine->spec->threads : 1;
}

// The CPU time since the last reading, minus the part that is known to belong to earlier moves. No
// more of it belongs to this move than the engine's threads could use in the time of the move.
static int64_t cpu_of_move(EngineProcess *engine, int64_t elapsed_ns) {
    int64_t now = os_meter_cpu(&engine->meter);
    if (engine->cpu_ns < 0 || now < 0)
        return -1;
    int64_t most = elapsed_ns * (engine->meter.count > 0 ? engine->meter.count : 1);
    int64_t used = at_most(now - engine->cpu_ns - engine->own_ns, most);
    engine->own_ns += used;
    return used;
}

void load_flag_fell(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out) {
    OsUsage engine_now, thread_now;
    int64_t scan_age_ns = elapsed_ns > LONG_MOVE_NS ? SCAN_AFTER_NS : SCAN_NS;
    *out = (OsUsage){cpu_of_move(engine, elapsed_ns), -1};
    if (!os_meter_read(&engine->meter, scan_age_ns, &engine_now) ||
        !os_thread_usage(slot->file, &thread_now)) {
        engine->worked_since = true;
        return;
    }
    int64_t delay = (engine_now.delay_ns - engine->delay_ns) / threads_of(engine);
    int64_t referee_cpu = thread_now.cpu_ns - slot->thread.cpu_ns;
    int64_t referee_delay = thread_now.delay_ns - slot->thread.delay_ns;
    out->delay_ns = at_most(at_most(delay - referee_cpu, elapsed_ns) +
                                at_most(referee_delay - out->cpu_ns, elapsed_ns),
                            elapsed_ns);
    engine->delay_ns = engine_now.delay_ns;
    slot->thread = thread_now;
    engine->delay_at_ns = slot->thread_at_ns = os_now_ns();
    engine->worked_since = false;
}

void load_move_ended(SlotLoad *slot, EngineProcess *engine, int64_t elapsed_ns, OsUsage *out) {
    if (elapsed_ns >= SHORT_MOVE_NS) {
        load_flag_fell(slot, engine, elapsed_ns, out);
        return;
    }
    engine->worked_since = true;
    engine->own_ns += elapsed_ns * threads_of(engine);
    *out = (OsUsage){-1, -1};
}

int64_t load_stolen_ns(SlotLoad *slot) {
    int64_t now_ns = os_stolen_ns(slot->cpus, slot->cpu_count);
    return now_ns - slot->stolen_ns;
}
