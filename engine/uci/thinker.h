// The thread that thinks about a `go`. Only one thread gives it commands: the one that reads UCI.
//
//   free --start--> thinking --stop--> stopping --answer--> answered --> free
//                      \---------------answer--------------^
//
// A command that must not meet a search asks thinker_is_free(). It is refused while the thread
// thinks, because the end of the search may be far away. After a stop the end is near, so the
// command waits for it: a GUI may send `stop` and the next `go` without reading the answer between
// them.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum {
    THINKER_FREE, // zeroed
    THINKER_THINKING,
    THINKER_STOPPING, // it was told to end
    THINKER_ANSWERED, // it is writing its answer, or has written it
} ThinkerState;

typedef struct Thinker {
    pthread_t thread;
    bool has_thread; // started and not yet joined
    _Atomic ThinkerState state;
} Thinker;

// Runs `work` in a thread of its own; in the caller's thread if no other can be started. The
// thinker must be free.
void thinker_start(Thinker *thinker, void *(*work)(void *context), void *context);
// `work` calls this before it writes its answer, because a GUI may send the next command as soon as
// it has read the answer.
void thinker_answers(Thinker *thinker);
// The search has been told to end, which thinker_is_free() may rely on.
void thinker_stop(Thinker *thinker);
// False while it thinks. True means that no thread runs any more.
bool thinker_is_free(Thinker *thinker);
// Waits until it has answered.
void thinker_join(Thinker *thinker);
