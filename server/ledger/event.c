// See event.h.
#include "server/ledger/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/common/json_member.h"

// Routine events of the same kind within so many seconds share rows: so many rows for a type and a
// test, with messages of so many characters in each. A rule of the system: what protects the log
// from a sender of requests. How long the rows are kept is the setting `event_days`.
enum { SHARED_PERIOD_S = 3600, SHARED_ROWS = 10, SHARED_MESSAGE_MAX = 1000 };

// Writes the event into the log. If this fails, the database has failed, and the whole turn is
// undone.
static bool event_store(Turn *turn, const json_t *event) {
    Error err;
    json_t *shared = json_deep_copy(event);
    json_object_set_new(shared, "period", json_integer(SHARED_PERIOD_S));
    json_object_set_new(shared, "rows", json_integer(SHARED_ROWS));
    json_object_set_new(shared, "message_max", json_integer(SHARED_MESSAGE_MAX));
    if (!db_write(turn->db, &err, SQL_EVENT_REPEAT, shared))
        return false;
    return db_changes(turn->db) > 0 ||
           db_write(turn->db, &err, SQL_EVENT_ADD, json_deep_copy(event));
}

static json_t *id_or_null(int64_t id) {
    return id ? json_integer(id) : json_null();
}

void ledger_event(Turn *turn, const char *type, int64_t user, int64_t worker, int64_t test,
                  const char *format, ...) {
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    json_auto_t *event =
        json_pack("{s:f, s:s, s:I, s:I, s:I, s:o}", "created", turn->now, "type", type, "user",
                  (json_int_t)user, "worker", (json_int_t)worker, "test", (json_int_t)test,
                  "message", text_to_json(message, strlen(message)));
    if (!event_store(turn, event))
        return;
    turn_publish(turn, "event",
                 json_pack("{s:f, s:s, s:o, s:o, s:o, s:o}", "created", turn->now, "type", type,
                           "user", id_or_null(user), "worker", id_or_null(worker), "test",
                           id_or_null(test), "message", text_to_json(message, strlen(message))));
}
