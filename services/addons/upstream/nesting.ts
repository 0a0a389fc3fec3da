import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Number of aggregators between the player and this request. Configurations can use each other as addons. Each
 * aggregator appends itself to the user agent, which reveals cycles.
 */
export const nestingLevel = new AsyncLocalStorage<number>();

export const maxNestingLevel = 3;

/** Counts the aggregators in a user agent. */
export function getNestingLevel(userAgent: string | undefined): number {
  return (userAgent ?? '').split('Homeport/').length - 1;
}
