import type { NotifyKey } from '../../../../../services/contracts/notify/api.ts';
import { defaultKey } from './key-name.ts';
import { notify } from '../notify.svelte.ts';

/** Finds the key in an address. Without one the first key is used; an unknown one has no fallback. */
export function findOpenKey(id: string): NotifyKey | undefined {
  const requested = id || defaultKey;
  const mayFallBack = id === '' || notify.removedHere.has(id);
  return notify.keys.find(({ key }) => key === requested) ?? (mayFallBack ? notify.keys[0] : undefined);
}
