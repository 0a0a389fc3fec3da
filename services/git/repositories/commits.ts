import { GitFailed, isTooMuch, type Git, type RunOptions } from '../engine/git.ts';

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** RFC 3339 with the zone of who made it. */
  readonly date: string;
}

export interface Commit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  /** When it was written as git keeps it, seconds and zone: of other forms git reads but those of this century. */
  readonly authored: string;
  readonly committer: Signature;
  readonly message: string;
}

/** A file as a commit changed it. */
export interface FileChange {
  readonly path: string;
  /** Where it was before, for one that was renamed. */
  readonly from: string | undefined;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** Lines; 0 for what is no text. */
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
}

const fields = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%ad', '%cn', '%ce', '%cI', '%B'];
const format = ['-z', `--format=${fields.join('%x00')}`, '--date=raw'];

export interface LogQuery {
  /** What to begin at; several are joined. Names that were resolved, or ids. */
  readonly from: readonly string[];
  readonly not?: readonly string[];
  readonly path?: string | undefined;
  readonly limit: number;
  readonly offset?: number;
}

/** Commits, the newest first. */
export async function readLog(git: Git, folder: string, query: LogQuery): Promise<readonly Commit[]> {
  const { stdout } = await git.run(folder, [
    'log',
    ...format,
    `--max-count=${query.limit}`,
    `--skip=${query.offset ?? 0}`,
    ...selection(query),
  ]);
  return parseLog(stdout.toString());
}

export async function countLog(git: Git, folder: string, query: Omit<LogQuery, 'limit'>): Promise<number> {
  return Number((await git.run(folder, ['rev-list', '--count', ...selection(query)])).stdout.toString());
}

/** One commit; undefined where there is none of that name. */
export async function readCommit(git: Git, folder: string, name: string): Promise<Commit | undefined> {
  const ran = await git.run(folder, ['log', ...format, '--max-count=1', '--end-of-options', name, '--'], {
    codes: [128],
  });
  return ran.code === 0 ? parseLog(ran.stdout.toString())[0] : undefined;
}

/** Commits by their ids, in one run of git; those that are not there, or are no commits, are left out. */
export async function readCommits(
  git: Git,
  folder: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Commit>> {
  if (ids.length === 0) return new Map();
  const args = ['log', ...format, '--no-walk=unsorted', '--ignore-missing', '--stdin'];
  const { stdout } = await git.run(folder, args, { input: `${ids.join('\n')}\n` });
  return new Map(parseLog(stdout.toString()).map((commit) => [commit.id, commit]));
}

/** What each commit changed, by its id; a merge is compared with its first parent. @throws Problem `git.too_much` (413) */
export async function readChanges(
  git: Git,
  folder: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly FileChange[]>> {
  if (ids.length === 0) return new Map();
  const args = ['--stdin', '-z', '-r', '--root', '--raw', '--numstat', '--diff-merges=first-parent'];
  const stdout = await diffTree(git, folder, args, { input: `${ids.join('\n')}\n` });
  const found = new Map<string, readonly FileChange[]>();
  const tokens = stdout.toString().split('\0');
  let at = 0;
  while (at < tokens.length) {
    const id = tokens[at] ?? '';
    at += 1;
    if (!/^[0-9a-f]{40}$/.test(id)) continue;
    const end = changesEnd(tokens, at);
    found.set(id, parseChanges(tokens.slice(at, end)));
    at = end;
  }
  return found;
}

/** What leads from one commit to another. @throws Problem `git.too_much` (413) */
export async function compareChanges(
  git: Git,
  folder: string,
  from: string,
  to: string,
): Promise<readonly FileChange[]> {
  const args = ['-z', '-r', '--raw', '--numstat', '--end-of-options', from, to];
  return parseChanges((await diffTree(git, folder, args)).toString().split('\0'));
}

/** @throws Problem `git.too_much` (413) for more files than can be named: whose lines are asked for must not be so many */
export async function checkChanges(git: Git, folder: string, ...between: readonly string[]): Promise<void> {
  await git.run(folder, ['diff-tree', '-r', '--root', '--name-only', '--end-of-options', ...between], { modest: true });
}

/** For who can do without changes that are too many. */
export function noneOfTooMany(error: unknown): undefined {
  if (!isTooMuch(error)) throw error;
}

/**
 * What `git diff-tree` says. Large files that were moved and changed count as removed and added: git would have to hold both to
 * see what they are. @throws Problem `git.too_much` (413)
 */
export async function diffTree(
  git: Git,
  folder: string,
  args: readonly string[],
  options: Pick<RunOptions, 'input' | 'maxBytes'> = {},
): Promise<Buffer> {
  const run = async (renames: string) =>
    (await git.run(folder, ['diff-tree', renames, ...args], { ...options, modest: true })).stdout;
  return run('-M').catch((error: unknown) => {
    if (!isTooMuch(error)) throw error;
    return run('--no-renames');
  });
}

/** The newest commit that two have in common; undefined where they have none. */
export async function mergeBase(git: Git, folder: string, one: string, other: string): Promise<string | undefined> {
  try {
    return (await git.run(folder, ['merge-base', '--end-of-options', one, other])).stdout.toString().trim();
  } catch (error) {
    if (error instanceof GitFailed && error.code === 1) return undefined;
    throw error;
  }
}

function selection({ from, not = [], path }: Omit<LogQuery, 'limit'>): readonly string[] {
  const names = [...from, ...not.map((name) => `^${name}`)];
  return ['--end-of-options', ...names, '--', ...(path === undefined || path === '' ? [] : [`:(literal)${path}`])];
}

function parseLog(text: string): readonly Commit[] {
  const parts = text.split('\0');
  const commits: Commit[] = [];
  for (let at = 0; at + fields.length <= parts.length; at += fields.length) {
    const [
      id = '',
      tree = '',
      parents = '',
      an = '',
      ae = '',
      ad = '',
      authored = '',
      cn = '',
      ce = '',
      cd = '',
      message = '',
    ] = parts.slice(at, at + fields.length);
    commits.push({
      id,
      tree,
      parents: parents === '' ? [] : parents.split(' '),
      author: { name: an, email: ae, date: ad },
      authored,
      committer: { name: cn, email: ce, date: cd },
      message: message.endsWith('\n') ? message : `${message}\n`,
    });
  }
  return commits;
}

const raw = /^:\d{6} \d{6} [0-9a-f]+ [0-9a-f]+ ([ACDMRTU])\d*$/;
const stat = /^(\d+|-)\t(\d+|-)\t(.*)$/s;

/** Where the tokens of one commit's changes end: each kind says itself how many follow it. */
function changesEnd(tokens: readonly string[], start: number): number {
  let at = start;
  for (; at < tokens.length;) {
    const token = tokens[at] ?? '';
    const kind = raw.exec(token)?.[1];
    const counted = stat.exec(token);
    if (kind !== undefined) at += kind === 'R' || kind === 'C' ? 3 : 2;
    else if (counted !== null) at += counted[3] === '' ? 3 : 1;
    else break;
  }
  return at;
}

function parseChanges(tokens: readonly string[]): readonly FileChange[] {
  const status = new Map<string, { kind: string; from: string | undefined }>();
  const changes: FileChange[] = [];
  for (let at = 0; at < tokens.length;) {
    const token = tokens[at] ?? '';
    const kind = raw.exec(token)?.[1];
    const counted = stat.exec(token);
    if (kind === 'R' || kind === 'C') {
      status.set(tokens[at + 2] ?? '', { kind, from: tokens[at + 1] });
      at += 3;
    } else if (kind !== undefined) {
      status.set(tokens[at + 1] ?? '', { kind, from: undefined });
      at += 2;
    } else if (counted !== null) {
      const [, additions = '', deletions = '', name = ''] = counted;
      const path = name === '' ? (tokens[at + 2] ?? '') : name;
      at += name === '' ? 3 : 1;
      const { kind: letter = 'M', from } = status.get(path) ?? {};
      changes.push({
        path,
        from,
        status: words[letter] ?? 'modified',
        additions: Number(additions) || 0,
        deletions: Number(deletions) || 0,
        binary: additions === '-',
      });
    } else at += 1;
  }
  return changes;
}

const words: Readonly<Record<string, FileChange['status']>> = { A: 'added', C: 'added', D: 'removed', R: 'renamed' };
