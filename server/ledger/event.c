// See event.h.
#include "server/ledger/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/common/json_member.h"
#include "sql/core.h"

// Routine events of the same kind within so many seconds share rows: so many rows for a type and a
// test, with messages of so many characters in each. A rule of the system: what protects the log
// from a sender of requests. How long the rows are kept is the setting `event_days`.
enum { SHARED_PERIOD_S = 3600, SHARED_ROWS = 10, SHARED_MESSAGE_MAX = 1000 };

static json_t *id_or_null(int64_t id) {
    return id ? json_integer(id) : json_null();
}

// If the event cannot be written, the database has failed, and the whole turn is undone.
void ledger_event(Turn *turn, const char *type, int64_t user, int64_t worker, int64_t test,
                  const char *format, ...) {
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    json_auto_t *clean = text_to_json(message, strlen(message));
    const char *text = json_string_value(clean);
    Error err;
    if (!sql_event_repeat(turn->db, &err, .type = type, .user = user, .worker = worker,
                          .test = test, .message = text, .created = turn->now,
                          .period = SHARED_PERIOD_S, .rows = SHARED_ROWS,
                          .message_max = SHARED_MESSAGE_MAX))
        return;
    if (!db_changes(turn->db) &&
        !sql_event_add(turn->db, &err, .type = type, .user = user, .worker = worker, .test = test,
                       .message = text, .created = turn->now))
        return;
    turn_publish(turn, "event",
                 json_pack("{s:f, s:s, s:o, s:o, s:o, s:O}", "created", turn->now, "type", type,
                           "user", id_or_null(user), "worker", id_or_null(worker), "test",
                           id_or_null(test), "message", clean));
}
