// The installation and its server, as handlers see them. There is one Site; server/start.c fills it
// before the first request. Functions of higher layers (pages and the loop) are pointers here.
#pragma once

#include <stdatomic.h>

#include "server/common/error.h"
#include "server/http/cache.h"

struct Request;
struct Response;

// Counters of the loop since its start, and its present figures.
typedef struct LoopFigures {
    unsigned long requests, replies[6]; // replies: by the first digit of the status
    unsigned long turns, commits, commit_failures, bytes_in;
    double commit_seconds, apply_seconds, uptime_seconds;
    size_t waiting_claims, readers_queued, body_bytes, streams, downloads, connections;
} LoopFigures;

typedef struct Site {
    const char *data; // the installation's folder
    const char *web;  // folder with templates/ and static/
    Cache *cache;     // of documents
    // A request had X-Forwarded-For and came from an address that is not a trusted proxy. Any
    // thread.
    atomic_bool undeclared_proxy;
    // Fills `res` with a page for an error outside /api/. The caller sets the status.
    void (*error_page)(struct Request *req, struct Response *res, const Error *err);
    // Shows the page of `template` again with the entered values and the error at its field. False:
    // this is not possible; use error_page.
    bool (*error_form)(struct Request *req, struct Response *res, const char *template,
                       const Error *err);
    void (*figures)(const void *loop, LoopFigures *out); // loop thread
    const void *loop;
} Site;
