import type { Git, RunOptions } from '../engine/git.ts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { ignoresCase } from '../../kit/platform/file-systems.ts';
import { StoredReferences } from '../domain/reference-collisions.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';

/** Returns the references of a change that this system cannot store beside the others, with the reasons. */
export async function findUnstorableReferences(
  git: Pick<Git, 'lines'>,
  folder: string,
  changes: readonly RefChange[],
  platform: NodeJS.Platform = currentPlatform,
): Promise<ReadonlyMap<string, string>> {
  const created = changes.filter(({ before, after }) => before === zeroId && after !== zeroId);
  if (created.length === 0 || !ignoresCase(platform)) return new Map();
  const names = new Set(await git.lines(folder, ['for-each-ref', '--format=%(refname)']));
  for (const { ref, after } of changes) if (after === zeroId) names.delete(ref);
  const stored = new StoredReferences(names, platform);
  const rejected = new Map<string, string>();
  for (const { ref } of created) {
    const reason = stored.findCollision(ref);
    if (reason === undefined) stored.add(ref);
    else rejected.set(ref, reason);
  }
  return rejected;
}

/**
 * Returns why this system cannot store the references of a source beside each other. When fetched into an empty
 * repository, one of them would replace the other.
 * @param source Address, folder or bundle.
 */
export async function findUnstorableInSource(
  git: Pick<Git, 'lines'>,
  folder: string,
  source: string,
  options: RunOptions = {},
  platform: NodeJS.Platform = currentPlatform,
): Promise<string | undefined> {
  if (!ignoresCase(platform)) return undefined;
  const lines = await git.lines(folder, ['ls-remote', '--', source], options);
  const stored = new StoredReferences([], platform);
  for (const line of lines) {
    const ref = line.slice(line.indexOf('\t') + 1);
    // Peeled tags are no references, and HEAD only refers to one.
    if (!ref.startsWith('refs/') || ref.endsWith('^{}')) continue;
    const reason = stored.findCollision(ref);
    if (reason !== undefined) return reason;
    stored.add(ref);
  }
  return undefined;
}
