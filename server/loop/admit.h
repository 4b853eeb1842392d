// Admission: charges each request to its sender (senders.h), from its first line to the last byte
// of its reply, and refuses requests above a limit. Loop thread only.
#pragma once

#include "server/loop/state.h"

// Counts the connection. False: its network has too many. Connections of a trusted proxy are not
// counted.
bool admit_connection(Loop *loop, Connection *c, const struct sockaddr *peer);
void admit_disconnect(Connection *c);
// When the headers have arrived. False: 429 or 503, and the request is refused.
bool admit_address(Loop *loop, RequestData *data, Error *err);
void admit_viewer(Loop *loop, RequestData *data); // when the viewer is known
bool admit_write(Loop *loop, RequestData *data, Error *err);
// For a body of `size` bytes, announced or arrived: a large body needs one of a few slots.
bool admit_size(Loop *loop, RequestData *data, size_t size, Error *err);
size_t announced_size(const RequestData *data);
// Charges `size` more bytes of the body.
bool admit_bytes(RequestData *data, size_t size, Error *err);
void admit_give_bytes(RequestData *data);
// The request whose body should make room when all senders together hold too much: the largest body
// of the sender that holds most. NULL: no body is arriving.
RequestData *admit_heaviest(Loop *loop);
// A job lasts from the arrival of the whole body to the reply, without the time that a claim waits.
bool admit_job(RequestData *data, Error *err);
void admit_end_job(RequestData *data);
bool admit_stream(RequestData *data, Error *err);
bool admit_download(RequestData *data, Error *err);
// When the reply is made: charges the reply instead of the body.
void admit_answered(RequestData *data);
void admit_over(RequestData *data); // ends all charges
