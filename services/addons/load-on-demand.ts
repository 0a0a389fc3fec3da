import * as t from '#messages/addons-texts';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';

/** Waits for the first request until a configuration is saved. */
export const loadOnDemand: LoadOnDemand = {
  isUsed: ({ db }) => hasRows(db, ['profiles', 'plays']),
  health: {
    state: 'up',
    detail: t.notConfigured,
    begin: {
      label: t.createConfiguration,
      to: '/addons',
    },
  },
};
