import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';

/** Waits for the first request until there are tasks, runs or remotes. */
export const loadOnDemand: LoadOnDemand = {
  isUsed: async ({ db, files }) =>
    existsSync(join(files, 'rclone.conf')) || (await hasRows(db, ['tasks', 'runs', 'keepsakes'])),
  health: { state: 'up', detail: 'nothing to sync yet', begin: { label: 'Set up a first sync', to: '/sync' } },
};
