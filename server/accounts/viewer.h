// The viewer of a request and its roles. A viewer is a signed-in user, a user's token, a worker's
// token, or a visitor without any of these. It is found once for each request. Its rights are read
// from the database at the time when they matter.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/db/db.h"

// user_id 0: no user is signed in; worker_id 0: not a worker.
typedef struct Viewer {
    int64_t user_id, worker_id;
    char name[40];
    bool admin;
    bool by_cookie; // needs CSRF on writes; the loop has checked it
    char csrf[48];
    char session_hash[65];
    char scope[8];  // of an API token, "" with a cookie
    char barred[8]; // of a worker: "machine", "owner" or "token" if it may not work; else ""
} Viewer;

// An admin has all roles, and a maintainer is also a developer. A token of scope `submit` has at
// most the rights of a developer, even if its user has more. engine_id 0: the role for any engine.
bool viewer_has_role(Db *db, const Viewer *viewer, int64_t engine_id, const char *role);
// Whether the viewer may submit tests and upload nets for the engine. engine_id 0: for any engine.
bool viewer_submits(Db *db, const Viewer *viewer, int64_t engine_id);
// `barred` as in Viewer. False: 403 `blocked` or `token_revoked`.
bool machine_may_work(const char *barred, Error *err);
