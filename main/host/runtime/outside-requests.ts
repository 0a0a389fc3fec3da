import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Calls a function outside of the scope of the current request. Timers and reads that outlive the request would
 * otherwise end with its client and be logged with its address.
 */
export const runOutsideRequests = AsyncLocalStorage.snapshot();
