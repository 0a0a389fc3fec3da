import { buildPath } from '../../state/page-path.ts';

/** What is shown of a repository. */
export interface CodePlace {
  readonly ref?: string;
  readonly path?: string;
  /** `commits`, `branches`, `edit`, `issues`, `pulls`, `labels`, or the commit that is open. */
  readonly show?: string;
  readonly commit?: string;
  /** Of an issue or a pull request, and which part of it. */
  readonly number?: string;
  readonly view?: string;
  /** Which issues of a list. */
  readonly label?: string;
  readonly milestone?: string;
}

/** The branches and tags that there are. */
interface Names {
  readonly branches: readonly string[];
  readonly tags: readonly string[];
}

/** What is asked for to see a branch: its name, unless that could be read as something else. */
export function refOfBranch(name: string): string {
  return isPlain(name) ? name : `refs/heads/${name}`;
}

/** The same for a tag: of one name, a branch comes first. */
export function refOfTag(name: string, branches: readonly string[]): string {
  return isPlain(name) && !branches.includes(name) ? name : `refs/tags/${name}`;
}

/** What is asked for, in the one form in which it is told here. */
export function plainRef(ref: string, { branches, tags }: Names): string {
  const [branch, tag] = ['refs/heads/', 'refs/tags/'].map((prefix) =>
    ref.startsWith(prefix) ? ref.slice(prefix.length) : undefined,
  );
  if (branch !== undefined && branches.includes(branch)) return refOfBranch(branch);
  return tag !== undefined && tags.includes(tag) ? refOfTag(tag, branches) : ref;
}

function isPlain(name: string): boolean {
  return !name.startsWith('refs/') && !/^[0-9a-f]{40}$/.test(name);
}

/** How an address names a repository: neither name can hold the sign between them. */
export function idOf({ owner, name }: { readonly owner: string; readonly name: string }): string {
  return `${owner}~${name}`;
}

/** Undefined for what names none. */
export function repositoryOf(id: string): { readonly owner: string; readonly name: string } | undefined {
  const [owner = '', name = ''] = id.split('~', 2);
  return owner === '' || name === '' ? undefined : { owner, name };
}

/** The address of a place in a repository. */
export function hrefOf(repository: { readonly owner: string; readonly name: string }, at: CodePlace = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(at) as [string, string | undefined][]) {
    if (value !== undefined && value !== '') query.set(key, value);
  }
  const path = buildPath({ service: 'git', section: 'repositories', id: idOf(repository) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
