import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Aborts when the client of the current request disconnects. Set only for requests that change nothing, since their
 * reads can be cancelled anywhere.
 */
export const requestSignal = new AsyncLocalStorage<AbortSignal>();
