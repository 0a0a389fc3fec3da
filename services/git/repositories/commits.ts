import { GitError, isOutputTooLarge, type Git, type RunOptions } from '../engine/git.ts';

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
  readonly rawAuthorDate: string;
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
  readonly exclude?: readonly string[];
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
    ...buildSelection(query),
  ]);
  return parseLog(stdout.toString());
}

export async function countLog(git: Git, folder: string, query: Omit<LogQuery, 'limit'>): Promise<number> {
  return Number((await git.run(folder, ['rev-list', '--count', ...buildSelection(query)])).stdout.toString());
}

/** Reads a commit. Returns undefined if it does not exist. */
export async function readCommit(git: Git, folder: string, name: string): Promise<Commit | undefined> {
  const result = await git.run(folder, ['log', ...format, '--max-count=1', '--end-of-options', name, '--'], {
    allowedExitCodes: [128],
  });
  return result.code === 0 ? parseLog(result.stdout.toString())[0] : undefined;
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
  options: DiffOptions = {},
): Promise<ReadonlyMap<string, readonly FileChange[]>> {
  if (ids.length === 0) return new Map();
  const flags = getDiffFlags(options);
  const args = ['--stdin', '-z', '-r', '--root', '--raw', '--numstat', '--diff-merges=first-parent', ...flags];
  const stdout = await diffTree(git, folder, args, { input: `${ids.join('\n')}\n` });
  const changes = new Map<string, readonly FileChange[]>();
  const tokens = stdout.toString().split('\0');
  let index = 0;
  while (index < tokens.length) {
    const id = tokens[index] ?? '';
    index += 1;
    if (!/^[0-9a-f]{40}$/.test(id)) continue;
    const endIndex = findChangesEnd(tokens, index);
    changes.set(id, parseChanges(tokens.slice(index, endIndex)));
    index = endIndex;
  }
  return changes;
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
  options: DiffOptions = {},
): Promise<readonly FileChange[]> {
  const args = ['-z', '-r', '--raw', '--numstat', ...getDiffFlags(options), '--end-of-options', from, to];
  return parseChanges((await diffTree(git, folder, args)).toString().split('\0'));
}

export interface DiffOptions {
  /** Ignores changes of whitespace. Files without other changes are left out. */
  readonly hidesWhitespace?: boolean;
}

/** Returns the flags of `git diff-tree` for the options. */
export function getDiffFlags({ hidesWhitespace = false }: DiffOptions): readonly string[] {
  return hidesWhitespace ? ['--ignore-all-space'] : [];
}

/**
 * Checks that the number of changed files is not too large before their lines are read.
 * @throws Problem `git.too_much` (413) if it is
 */
export async function checkChangeCount(git: Git, folder: string, ...between: readonly string[]): Promise<void> {
  await git.run(folder, ['diff-tree', '-r', '--root', '--name-only', '--end-of-options', ...between], {
    limitedMemory: true,
  });
}

/** Error handler that replaces too many changes by undefined. */
export function ignoreTooLarge(error: unknown): undefined {
  if (!isOutputTooLarge(error)) throw error;
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
    (await git.run(folder, ['diff-tree', renames, ...args], { ...options, limitedMemory: true })).stdout;
  return run('-M').catch((error: unknown) => {
    if (!isOutputTooLarge(error)) throw error;
    return run('--no-renames');
  });
}

/** Returns the newest common ancestor of two commits, or undefined if they have none. */
export async function findMergeBase(git: Git, folder: string, base: string, head: string): Promise<string | undefined> {
  try {
    return (await git.run(folder, ['merge-base', '--end-of-options', base, head])).stdout.toString().trim();
  } catch (error) {
    if (error instanceof GitError && error.code === 1) return undefined;
    throw error;
  }
}

function buildSelection({ from, exclude: excluded = [], path }: Omit<LogQuery, 'limit'>): readonly string[] {
  const names = [...from, ...excluded.map((name) => `^${name}`)];
  return ['--end-of-options', ...names, '--', ...(path === undefined || path === '' ? [] : [`:(literal)${path}`])];
}

function parseLog(text: string): readonly Commit[] {
  const parts = text.split('\0');
  const commits: Commit[] = [];
  for (let index = 0; index + fields.length <= parts.length; index += fields.length) {
    const [
      id = '',
      tree = '',
      parents = '',
      an = '',
      ae = '',
      ad = '',
      rawAuthorDate = '',
      cn = '',
      ce = '',
      cd = '',
      message = '',
    ] = parts.slice(index, index + fields.length);
    commits.push({
      id,
      tree,
      parents: parents === '' ? [] : parents.split(' '),
      author: { name: an, email: ae, date: ad },
      rawAuthorDate,
      committer: { name: cn, email: ce, date: cd },
      message: message.endsWith('\n') ? message : `${message}\n`,
    });
  }
  return commits;
}

const rawPattern = /^:\d{6} \d{6} [0-9a-f]+ [0-9a-f]+ ([ACDMRTU])\d*$/;
const statPattern = /^(\d+|-)\t(\d+|-)\t(.*)$/s;

/**
 * Returns the index after the last token of a commit's changes. The kind of a change determines its number of tokens.
 */
function findChangesEnd(tokens: readonly string[], start: number): number {
  let index = start;
  for (; index < tokens.length;) {
    const token = tokens[index] ?? '';
    const kind = rawPattern.exec(token)?.[1];
    const statMatch = statPattern.exec(token);
    if (kind !== undefined) index += kind === 'R' || kind === 'C' ? 3 : 2;
    else if (statMatch !== null) index += statMatch[3] === '' ? 3 : 1;
    else break;
  }
  return index;
}

function parseChanges(tokens: readonly string[]): readonly FileChange[] {
  const status = new Map<string, { kind: string; from: string | undefined }>();
  const changes: FileChange[] = [];
  for (let index = 0; index < tokens.length;) {
    const token = tokens[index] ?? '';
    const kind = rawPattern.exec(token)?.[1];
    const statMatch = statPattern.exec(token);
    if (kind === 'R' || kind === 'C') {
      status.set(tokens[index + 2] ?? '', { kind, from: tokens[index + 1] });
      index += 3;
    } else if (kind !== undefined) {
      status.set(tokens[index + 1] ?? '', { kind, from: undefined });
      index += 2;
    } else if (statMatch !== null) {
      const [, additions = '', deletions = '', name = ''] = statMatch;
      const path = name === '' ? (tokens[index + 2] ?? '') : name;
      index += name === '' ? 3 : 1;
      const { kind: letter = 'M', from } = status.get(path) ?? {};
      changes.push({
        path,
        from,
        status: statusNames[letter] ?? 'modified',
        additions: Number(additions) || 0,
        deletions: Number(deletions) || 0,
        binary: additions === '-',
      });
    } else index += 1;
  }
  return changes;
}

const statusNames: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  C: 'added',
  D: 'removed',
  R: 'renamed',
};
