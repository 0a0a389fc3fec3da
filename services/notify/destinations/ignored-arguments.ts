import type { Destination } from './destination.ts';

const maxNames = 10;

/**
 * Formats a sentence about the arguments of a destination's address that have no effect; undefined if there are none.
 */
export function formatIgnoredArguments({
  service,
  ignored = [],
}: Pick<Destination, 'service' | 'ignored'>): string | undefined {
  if (ignored.length === 0) return undefined;
  const names = ignored.slice(0, maxNames).map((name) => name.replace(/[^\w.-]/g, '?').slice(0, 60));
  return `${service}: ${names.join(', ')} ${ignored.length === 1 ? 'has' : 'have'} no effect here.`;
}
