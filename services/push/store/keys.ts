import type { KeyLocation } from '../../kit/stored-key.ts';

/** Where the push server keeps its key of that name. */
export function keyPlace(name: string): KeyLocation {
  return { table: 'keys', name, purpose: `push.key.${name}` };
}
