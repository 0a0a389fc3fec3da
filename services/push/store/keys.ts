import type { KeyPlace } from '../../kit/kept-key.ts';

/** Returns the location of a sealed key of this service. */
export function getKeyLocation(name: string): KeyPlace {
  return { table: 'keys', name, purpose: `push.key.${name}` };
}
