// Signals in threads.
#pragma once

// Blocks all signals in the calling thread and in the threads that it starts, so that other threads
// handle them.
void os_thread_block_signals(void);
