import type { NumberHref } from '../../parts/markdown/number-links.ts';
import { buildPath } from '../../state/page-path.ts';

/** Location in the pages of a repository. */
export interface RepositoryLocation {
  readonly ref?: string;
  readonly path?: string;
  /** View: `commits`, `branches`, `edit`, `issues`, `pulls` or `labels`. */
  readonly show?: string;
  readonly commit?: string;
  /** Number of the open issue or pull request, and its view. */
  readonly number?: string;
  readonly view?: string;
  /** Filters of the issue list. */
  readonly label?: string;
  readonly milestone?: string;
}

interface RefNames {
  readonly branches: readonly string[];
  readonly tags: readonly string[];
}

/** Returns the ref of a branch: its name, or the full ref if the name is ambiguous. */
export function toBranchRef(name: string): string {
  return isUnambiguous(name) ? name : `refs/heads/${name}`;
}

/** Returns the ref of a tag; a branch of the same name takes precedence. */
export function toTagRef(name: string, branches: readonly string[]): string {
  return isUnambiguous(name) && !branches.includes(name) ? name : `refs/tags/${name}`;
}

/** Returns the shortest unambiguous form of a ref. */
export function normalizeRef(ref: string, { branches, tags }: RefNames): string {
  const [branch, tag] = ['refs/heads/', 'refs/tags/'].map((prefix) =>
    ref.startsWith(prefix) ? ref.slice(prefix.length) : undefined,
  );
  if (branch !== undefined && branches.includes(branch)) return toBranchRef(branch);
  return tag !== undefined && tags.includes(tag) ? toTagRef(tag, branches) : ref;
}

function isUnambiguous(name: string): boolean {
  return !name.startsWith('refs/') && !/^[0-9a-f]{40}$/.test(name);
}

/** Returns the ID of a repository in URLs; `~` is not allowed in names. */
export function toRepositoryId({ owner, name }: { readonly owner: string; readonly name: string }): string {
  return `${owner}~${name}`;
}

/** Parses a repository ID. Returns undefined if it is malformed. */
export function parseRepositoryId(id: string): { readonly owner: string; readonly name: string } | undefined {
  const [owner = '', name = ''] = id.split('~', 2);
  return owner === '' || name === '' ? undefined : { owner, name };
}

/** Builds the path of a location in a repository. */
export function buildRepositoryPath(
  repository: { readonly owner: string; readonly name: string },
  location: RepositoryLocation = {},
): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(location) as [string, string | undefined][]) {
    if (value !== undefined && value !== '') query.set(key, value);
  }
  const path = buildPath({ service: 'git', section: 'repositories', id: toRepositoryId(repository) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Returns the builder for links of issues that the texts of a repository refer to, also in other repositories. */
export function createNumberHref(getRepository: () => { readonly owner: string; readonly name: string }): NumberHref {
  return (number, repository) => {
    const [owner = '', name = ''] = repository?.split('/') ?? [];
    const target = repository === undefined ? getRepository() : { owner, name };
    return buildRepositoryPath(target, { show: 'issues', number: String(number) });
  };
}
