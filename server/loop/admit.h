// Admission: what each request is charged to its sender (senders.h) between its first line and the last byte of
// its reply, and the refusal of requests that are too much. Loop thread only.
#pragma once

#include "server/loop/state.h"

// Counts the connection; false: its network has too many. Those of a trusted proxy are not counted.
bool admit_connection(Loop *loop, Connection *c, const struct sockaddr *peer);
void admit_disconnect(Connection *c);
// At the headers. False: 429 or 503, and the request is refused.
bool admit_address(Loop *loop, RequestData *data, Error *err);
void admit_viewer(Loop *loop, RequestData *data); // when it is known who asks
bool admit_write(Loop *loop, RequestData *data, Error *err);
// A body of `size` bytes, announced or arrived: large ones need one of few places.
bool admit_size(Loop *loop, RequestData *data, size_t size, Error *err);
size_t announced_size(const RequestData *data);
// So many bytes more of the body are held.
bool admit_bytes(RequestData *data, size_t size, Error *err);
void admit_give_bytes(RequestData *data);
// Whose body should make room where all senders together hold too much: the largest of the sender
// that holds most. NULL: no body is arriving.
RequestData *admit_heaviest(Loop *loop);
// From a body that is whole to the reply, without the time that a claim waits.
bool admit_job(RequestData *data, Error *err);
void admit_end_job(RequestData *data);
bool admit_stream(RequestData *data, Error *err);
// The reply is made: the body is not held any more, but the reply is.
void admit_answered(RequestData *data);
void admit_over(RequestData *data); // gives everything back
