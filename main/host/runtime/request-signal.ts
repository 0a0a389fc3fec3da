import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Aborts when the client of the request at hand goes away. Only for requests that change nothing: what reads for them
 * may be given up anywhere.
 */
export const requestSignal = new AsyncLocalStorage<AbortSignal>();
