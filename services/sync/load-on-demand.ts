import * as m from '#messages/sync-texts';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';

/** Waits for the first request until there are tasks or runs. Remotes have a key, so that the host loads the service. */
export const loadOnDemand: LoadOnDemand = {
  isUsed: ({ db }) => hasRows(db, ['tasks', 'runs']),
  health: { state: 'up', detail: m.healthUnused, begin: { label: m.createSync, to: '/sync' } },
};
