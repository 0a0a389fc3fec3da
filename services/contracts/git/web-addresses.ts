import { decodePercentEncoding } from '../percent-encoding.ts';

/** Web address of Gitea, `/OWNER/REPO/…`, with decoded parts. */
export interface WebAddress {
  readonly owner: string;
  /** Name of the repository; empty for the page of an owner. */
  readonly name: string;
  /** Part after the repository's name, such as `issues` or `src`; empty for the repository itself. */
  readonly kind: string;
  readonly rest: readonly string[];
}

/** Gitea's global pages by the first part of their path, with the corresponding pages of the app. */
const giteaPages: ReadonlyMap<string, string> = new Map([
  ['explore', '/git/repositories'],
  ['repo', '/git/repositories'],
  ['org', '/git/repositories'],
  ['issues', '/git'],
  ['pulls', '/git'],
  ['milestones', '/git'],
  ['notifications', '/git'],
]);
/** First path parts without a corresponding page. */
const pathsWithoutPage = new Set(['api', 'assets', 'attachments', 'avatars', 'login', 'swagger', 'metrics', '-']);
/** Files at the root that browsers and crawlers request, and feeds and pictures of an owner. */
const fileAtRoot =
  /^(?:favicon\.ico|robots\.txt|manifest\.json|sitemap\.xml|apple-touch-icon[\w-]*\.png|[^/]+\.(?:rss|atom|png))$/i;
/** Parts of a repository that exist in Gitea but not in Homeport. */
const unsupportedKinds = new Set(['wiki', 'projects', 'packages', 'actions', 'badges', 'rss', 'atom']);
const feedPattern = /\.(?:rss|atom)$/i;
/** Kinds of addresses within the tree: `src/branch/main/path`. */
const treeKinds: Readonly<Record<string, string>> = { src: '', raw: '', media: '', blame: 'blame', commits: 'commits' };
const listKinds: Readonly<Record<string, string>> = {
  issues: 'issues',
  pulls: 'pulls',
  releases: 'releases',
  tags: 'branches',
  branches: 'branches',
  labels: 'labels',
  milestones: 'labels',
  settings: 'settings',
  graph: 'commits',
};

/** Returns true for parts of a repository or an owner that exist in Gitea but not in Homeport, and for feeds. */
function isUnsupported({ name, kind }: WebAddress): boolean {
  return name === '-' || unsupportedKinds.has(kind) || feedPattern.test(kind === '' ? name : kind);
}

/** Parses a path; undefined when it cannot be decoded or names neither an owner nor a repository. */
export function parseWebAddress(pathname: string): WebAddress | undefined {
  const parts: string[] = [];
  for (const part of pathname.split('/').filter((each) => each !== '')) {
    const decoded = decodePercentEncoding(part);
    if (decoded === undefined) return undefined;
    parts.push(decoded);
  }
  const [owner = '', name = '', kind = '', ...rest] = parts;
  if (owner.startsWith('.') || (name === '' && fileAtRoot.test(owner))) return undefined;
  if (owner === '' || pathsWithoutPage.has(owner) || parts.some((part) => part.includes('\0'))) return undefined;
  return { owner, name: name.replace(/\.git$/i, ''), kind, rest };
}

/** Returns the page of the app that corresponds to an address of Gitea; undefined when there is none. */
export function findAppPage(pathname: string, query: Readonly<URLSearchParams>): string | undefined {
  if (/^\/*$/.test(pathname)) return '/git';
  const address = parseWebAddress(pathname);
  if (address === undefined || isUnsupported(address)) return undefined;
  const { owner, name } = address;
  if (owner === 'user') return getUserPage(address);
  const page =
    name === '' || owner === 'explore' || owner === 'repo' || owner === 'org' ? giteaPages.get(owner) : undefined;
  if (page !== undefined) return page;
  if (name === '') return `/git/repositories?${new URLSearchParams({ owner }).toString()}`;
  const fields = new URLSearchParams(toPageQuery(address, query));
  const id = `${owner}~${name}`;
  const path = `/git/repositories/${encodeURIComponent(findHeadRepository(address) ?? id)}${name.includes('.') ? '/' : ''}`;
  return fields.size === 0 ? path : `${path}?${fields.toString()}`;
}

function getUserPage({ name, kind }: WebAddress): string {
  if (name === 'settings') return kind === 'keys' ? '/git/keys' : '/settings';
  return '/git';
}

/** The fields of the page of a repository. */
function toPageQuery({ kind, rest }: WebAddress, query: Readonly<URLSearchParams>): Record<string, string> {
  const [first = '', second = ''] = rest;
  if (Object.hasOwn(treeKinds, kind)) {
    const show = treeKinds[kind] ?? '';
    return { ...(first === '' ? {} : { tree: toTreeField(rest) }), ...(show === '' ? {} : { show }) };
  }
  if (kind === 'commit') return { commit: first.replace(/\.(diff|patch)$/, '') };
  if (kind === 'compare') return { show: 'commits', ...toComparedTree(rest.join('/')) };
  if (kind === 'milestone' && first !== '') return { show: 'issues', milestone: first };
  if ((kind === 'issues' || kind === 'pulls') && /^\d+$/.test(first)) {
    return { show: kind, number: first, ...(second === 'files' || second === 'commits' ? { view: second } : {}) };
  }
  if (kind === 'issues' && first === 'new') {
    return { show: 'issues', new: '1', ...pickFields(query, ['title', 'body']) };
  }
  const show = Object.hasOwn(listKinds, kind) ? (listKinds[kind] ?? '') : '';
  if (show === '') return {};
  return { show, ...pickFields(query, kind === 'issues' || kind === 'pulls' ? ['q', 'state', 'milestone'] : []) };
}

function pickFields(query: Readonly<URLSearchParams>, names: readonly string[]): Record<string, string> {
  const fields = names.map((name) => [name, query.get(name) ?? ''] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== ''));
}

/** Second side of a comparison: `topic` of `main...topic`, or of `main...ada:topic`. */
function getHead(rest: string): string {
  return rest.split(/\.{2,3}/).at(-1) ?? '';
}

function toComparedTree(rest: string): Record<string, string> {
  const head = getHead(rest);
  const ref = head.slice(head.indexOf(':') + 1);
  return ref === '' ? {} : { tree: `any/${ref}` };
}

/** Returns the ID of the repository of a comparison's second side, such as `main...bob:topic`, if it is named. */
function findHeadRepository({ name, kind, rest }: WebAddress): string | undefined {
  const head = kind === 'compare' ? getHead(rest.join('/')) : '';
  if (!head.includes(':')) return undefined;
  const [headOwner = '', headName = name] = head.slice(0, head.indexOf(':')).split('/', 2);
  return headOwner === '' ? undefined : `${headOwner}~${headName}`;
}

/** Returns the `tree` field: kind, reference (which may contain slashes) and path, such as `branch/main/path`. */
function toTreeField(rest: readonly string[]): string {
  const isKind = rest[0] === 'branch' || rest[0] === 'tag' || rest[0] === 'commit';
  return [...(isKind ? [] : ['any']), ...rest].join('/');
}

/** Names by which a tree field is resolved. */
export interface TreeNames {
  readonly branches: readonly string[];
  readonly tags: readonly string[];
}

/** Splits the `tree` field of a page into reference and path; the longest matching branch wins. */
export function splitTree(
  tree: string,
  { branches, tags }: TreeNames,
): { readonly ref: string; readonly path: string } {
  const slash = tree.indexOf('/');
  const kind = tree.slice(0, slash);
  const rest = tree.slice(slash + 1);
  const isPrefix = (name: string): boolean => rest === name || rest.startsWith(`${name}/`);
  const findLongestPrefix = (names: readonly string[]): string | undefined =>
    names.filter(isPrefix).toSorted((one, other) => other.length - one.length)[0];
  const branch = kind === 'branch' || kind === 'any' ? findLongestPrefix(branches) : undefined;
  const tag = branch === undefined && (kind === 'tag' || kind === 'any') ? findLongestPrefix(tags) : undefined;
  const name = branch ?? tag ?? rest.split('/', 1)[0] ?? '';
  const isPlain =
    !name.startsWith('refs/') && !/^[0-9a-f]{40}$/.test(name) && !(tag !== undefined && branches.includes(tag));
  const prefix = branch !== undefined ? 'refs/heads/' : tag !== undefined ? 'refs/tags/' : '';
  return { ref: isPlain ? name : `${prefix}${name}`, path: rest.slice(name.length + 1) };
}
