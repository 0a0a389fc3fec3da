import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';
import { Git } from './engine/git.ts';
import type { Settings } from './settings.ts';

/** Waits for the first request until there are repositories, organizations, keys or tokens. Host keys exist after it. */
export const loadOnDemand: LoadOnDemand<Settings> = {
  async isUsed({ settings, ...context }) {
    // Clients know the server by these keys, so that unreadable ones are reported at the start.
    if (existsSync(join(context.files, 'ssh_host_ed25519_key'))) return true;
    if (await hasRows(context.db, ['repositories', 'owners', 'public_keys', 'tokens'])) return true;
    // The service reports a missing or old Git.
    return new Git(context, settings.gitPath).open().then(
      () => false,
      () => true,
    );
  },
  health: { state: 'up', detail: 'no repositories yet', begin: { label: 'Create a first repository', to: '/git' } },
};
