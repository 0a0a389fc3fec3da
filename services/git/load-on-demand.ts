import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { LoadOnDemand } from '../contracts/service.ts';
import { hasRows } from '../kit/has-rows.ts';
import type { Settings } from './settings.ts';

/** Waits for the first request until there are repositories, organizations, keys or tokens. */
export const loadOnDemand: LoadOnDemand<Settings> = {
  isUsed: async ({ db, settings }) =>
    !isInstalled(settings.gitPath) || (await hasRows(db, ['repositories', 'owners', 'public_keys', 'tokens'])),
  health: { state: 'up', detail: 'no repositories yet', begin: { label: 'Make a first repository', to: '/git' } },
};

/** The service reports a missing Git, so it is loaded then. */
function isInstalled(gitPath: string): boolean {
  if (gitPath !== '') return existsSync(gitPath);
  const name = process.platform === 'win32' ? 'git.exe' : 'git';
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
}
