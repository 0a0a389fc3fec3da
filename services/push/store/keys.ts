import type { KeyLocation } from '../../kit/stored-key.ts';

/** Returns the location of a sealed key of this service. */
export function getKeyLocation(name: string): KeyLocation {
  return { table: 'keys', name, purpose: `push.key.${name}` };
}
