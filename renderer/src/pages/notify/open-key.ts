import type { NotifyKey } from '../../../../services/contracts/notify/api.ts';
import { usualKey } from './key-name.ts';
import { notify } from './notify.svelte.ts';

/** The key that an address names. Without one in it the first will do; a wrong one is none. */
export function openKey(id: string): NotifyKey | undefined {
  const asked = id || usualKey;
  const isFree = id === '' || notify.removedHere.has(id);
  return notify.keys.find(({ key }) => key === asked) ?? (isFree ? notify.keys[0] : undefined);
}
