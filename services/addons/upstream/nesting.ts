import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * How many of our kind stand between the player and this request. Configurations may have one another as addons; the user
 * agent grows with each, so a circle is told from a chain.
 */
export const nesting = new AsyncLocalStorage<number>();

export const mostNested = 3;

/** How often a user agent says that one of us asked. */
export function nestingOf(userAgent: string | undefined): number {
  return (userAgent ?? '').split('Homeport/').length - 1;
}
