import type { Git } from '../engine/git.ts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { ignoresCase } from '../../kit/platform/file-systems.ts';
import { findNameCollision } from '../domain/reference-collisions.ts';
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
  const rejected = new Map<string, string>();
  for (const { ref } of created) {
    const reason = findNameCollision(ref, names, platform);
    if (reason === undefined) names.add(ref);
    else rejected.set(ref, reason);
  }
  return rejected;
}
