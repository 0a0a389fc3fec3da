import type { Caller } from '../sign-in/caller.ts';
import type { Lookup } from './lookup.ts';
import type { RepositoryManager } from './repository-manager.ts';
import type { Objects } from './objects.ts';
import type { Repository } from './repositories.ts';
import { resolveRevision, type Revision } from './revisions.ts';

/** Sides of a comparison as Gitea writes them: `main...topic`, `main..topic` or `topic`. */
interface RangeNames {
  /** Empty for the default branch. */
  readonly base: string;
  readonly head: string;
  /** Compares the commits themselves (`..`) instead of the changes since their merge base (`...`). */
  readonly isDirect: boolean;
}

interface RevisionRange {
  readonly from: Revision;
  readonly to: Revision;
  readonly isDirect: boolean;
}

/** Parses a comparison. A name alone is compared with the default branch. */
export function parseRange(text: string): RangeNames {
  const [, base = '', dots = '...', head = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(text) ?? ['', '', '...', text];
  return { base, head, isDirect: dots === '..' };
}

/** Parses a side such as `topic`, `ada:topic` or `ada/lamp:topic`; branch names contain no colon. */
function parseRangeSide(side: string): {
  readonly owner?: string;
  readonly name?: string;
  readonly ref: string;
} {
  const colon = side.indexOf(':');
  if (colon < 0) return { ref: side };
  const [owner = '', name] = side.slice(0, colon).split('/', 2);
  return { owner, ...(name === undefined ? {} : { name }), ref: side.slice(colon + 1) };
}

interface RangeDependencies {
  readonly accessControl: { readonly lookup: Lookup };
  readonly storage: { readonly manager: RepositoryManager; readonly objects: Objects };
}

/**
 * Resolves both sides of a comparison. Returns undefined when one does not exist, is not readable by the caller, or
 * belongs to a fork whose commit the repository does not have.
 */
export async function resolveRange(
  deps: RangeDependencies,
  caller: Caller,
  repository: Repository,
  text: string,
): Promise<RevisionRange | undefined> {
  const { base, head, isDirect } = parseRange(text);
  const [from, to] = await Promise.all([base, head].map((side) => resolveSide(deps, caller, repository, side)));
  return from === undefined || to === undefined ? undefined : { from, to, isDirect };
}

async function resolveSide(
  { accessControl: { lookup }, storage: { manager, objects } }: RangeDependencies,
  caller: Caller,
  repository: Repository,
  side: string,
): Promise<Revision | undefined> {
  const { owner, name = repository.name, ref } = parseRangeSide(side);
  const other = owner === undefined ? repository : (await lookup.find(caller, owner, name))?.repository;
  if (other === undefined) return undefined;
  const revision = await resolveRevision(objects, manager.getFolder(other), other, ref);
  if (revision === undefined || other.id === repository.id) return revision;
  const info = await objects.info(manager.getFolder(repository), revision.commit);
  return info?.type === 'commit' ? revision : undefined;
}
