import { GitError, isTooMuch, type Git, type RunOptions } from '../engine/git.ts';

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** RFC 3339 with the time zone of the signer. */
  readonly date: string;
}

export interface Commit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  /**
   * Author date in git's raw format: seconds and time zone. Git parses other formats only for dates of this century.
   */
  readonly authored: string;
  readonly committer: Signature;
  readonly message: string;
}

/** File that a commit changed. */
export interface FileChange {
  readonly path: string;
  /** Former path of a renamed file. */
  readonly from: string | undefined;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** Number of added lines; 0 for binary files. */
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
}

const fields = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%ad', '%cn', '%ce', '%cI', '%B'];
const format = ['-z', `--format=${fields.join('%x00')}`, '--date=raw'];

export interface LogQuery {
  /** Start points: resolved names or IDs. The histories of several are merged. */
  readonly from: readonly string[];
  readonly not?: readonly string[];
  readonly path?: string | undefined;
  readonly limit: number;
  readonly offset?: number;
}

/** Lists commits, newest first. */
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

/** Reads a commit. Returns undefined if it does not exist. */
export async function readCommit(git: Git, folder: string, name: string): Promise<Commit | undefined> {
  const ran = await git.run(folder, ['log', ...format, '--max-count=1', '--end-of-options', name, '--'], {
    codes: [128],
  });
  return ran.code === 0 ? parseLog(ran.stdout.toString())[0] : undefined;
}

/** Reads commits by ID with one git process. IDs that do not exist or are not commits are omitted. */
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

/**
 * Returns the changes of each commit by commit ID. Merges are compared with their first parent.
 * @throws Problem `git.too_much` (413)
 */
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

/**
 * Returns the changes between two commits.
 * @throws Problem `git.too_much` (413)
 */
export async function compareChanges(
  git: Git,
  folder: string,
  from: string,
  to: string,
): Promise<readonly FileChange[]> {
  const args = ['-z', '-r', '--raw', '--numstat', '--end-of-options', from, to];
  return parseChanges((await diffTree(git, folder, args)).toString().split('\0'));
}

/**
 * Checks that the number of changed files is not too large before their lines are read.
 * @throws Problem `git.too_much` (413) if it is
 */
export async function checkChanges(git: Git, folder: string, ...between: readonly string[]): Promise<void> {
  await git.run(folder, ['diff-tree', '-r', '--root', '--name-only', '--end-of-options', ...between], { modest: true });
}

/** Error handler that replaces too many changes by undefined. */
export function noneOfTooMany(error: unknown): undefined {
  if (!isTooMuch(error)) throw error;
}

/**
 * Runs `git diff-tree`. If the detection of renames needs too much memory, renamed files are reported as removed and
 * added.
 * @throws Problem `git.too_much` (413)
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

/** Returns the newest common ancestor of two commits, or undefined if they have none. */
export async function mergeBase(git: Git, folder: string, one: string, other: string): Promise<string | undefined> {
  try {
    return (await git.run(folder, ['merge-base', '--end-of-options', one, other])).stdout.toString().trim();
  } catch (error) {
    if (error instanceof GitError && error.code === 1) return undefined;
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

/**
 * Returns the index after the last token of a commit's changes. The kind of a change determines its number of tokens.
 */
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
