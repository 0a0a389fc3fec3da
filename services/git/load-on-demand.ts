import * as m from '#messages/git-texts';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';
import { Git } from './engine/git.ts';
import type { Settings } from './settings.ts';

/** Waits for the first request until there are repositories, organizations, keys or tokens. */
export const loadOnDemand: LoadOnDemand<Settings> = {
  async isUsed({ settings, ...context }) {
    if (await hasRows(context.db, ['repositories', 'owners', 'public_keys', 'tokens'])) return true;
    // The service reports a missing or old Git.
    return new Git(context, settings.gitPath).open().then(
      () => false,
      () => true,
    );
  },
  health: { state: 'up', detail: m.noRepositories, begin: { label: m.createRepository, to: '/git' } },
};
