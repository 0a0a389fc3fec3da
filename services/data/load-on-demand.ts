import * as m from '#messages/data-texts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';
import { getDirectPort, type Settings } from './settings.ts';

/** Waits for the first request until PostgreSQL has been started or another server is configured. */
export const loadOnDemand: LoadOnDemand<Settings> = {
  async isUsed({ db, files, settings }) {
    if (settings.databaseUrl !== '' || getDirectPort(settings) > 0) return true;
    return existsSync(join(files, 'cluster')) || (await hasRows(db, ['saved_queries']));
  },
  health: {
    state: 'up',
    detail: m.idle,
  },
};
