import type { GitDiff, GitFileDiff } from '../../contracts/git/api.ts';
import { isTooMuch, type Git } from '../engine/git.ts';
import { compareChanges, diffTree, noneOfTooMany, readChanges, type FileChange } from '../repositories/commits.ts';

/** Files of one commit that are shown, and characters of each one's lines. */
const mostFiles = 300;
const longestPatch = 100_000;
const longestAll = 8 * 1024 * 1024;
/** Characters of the paths that git is asked for at once: a command line of Windows holds 32,767. */
const longestPaths = 24_000;
const literal = ':(literal)';

/** What a commit changed, with the lines where they are not too many. */
export function readDiffs(git: Git, folder: string, id: string): Promise<GitDiff> {
  const what = ['--root', '--no-commit-id', '--diff-merges=first-parent', id];
  return withPatches(git, folder, async () => (await readChanges(git, folder, [id])).get(id) ?? [], what);
}

/** The same for what leads from one commit to another. */
export function compareDiffs(git: Git, folder: string, from: string, to: string): Promise<GitDiff> {
  return withPatches(git, folder, () => compareChanges(git, folder, from, to), [from, to]);
}

async function withPatches(
  git: Git,
  folder: string,
  read: () => Promise<readonly FileChange[]>,
  what: readonly string[],
): Promise<GitDiff> {
  const changes = await read().catch(noneOfTooMany);
  if (changes === undefined) return { files: [], total: null };
  const shown = changes.slice(0, mostFiles);
  const patches = await readPatches(git, folder, what, shown);
  const files = shown.map((change) => diffOf(change, patches.get(change.path)));
  return { files, total: changes.length };
}

/** The lines by the file they belong to, of as many as can be asked for; none at all when they are too many. */
async function readPatches(
  git: Git,
  folder: string,
  what: readonly string[],
  changes: readonly FileChange[],
): Promise<ReadonlyMap<string, string>> {
  const paths: string[] = [];
  let room = longestPaths;
  for (const { binary, from, path } of changes) {
    // Git would read a large file as a whole to say that it is no text.
    if (binary) continue;
    const asked = (from === undefined ? [path] : [from, path]).map((each) => literal + each);
    // Each stands between quotes and behind a space.
    const length = asked.reduce((sum, each) => sum + each.length + 3, 0);
    if (length > room) continue;
    room -= length;
    paths.push(...asked);
  }
  if (paths.length === 0) return new Map();
  const args = ['-z', '-p', '--raw', '-r', ...what, '--', ...paths];
  try {
    const text = (await diffTree(git, folder, args, { maxBytes: longestAll })).toString();
    // First the names, each ended by a NUL, then an empty one, then the patches in the same order.
    const start = text.indexOf('\0\0');
    const names = namesOf(text.slice(0, Math.max(0, start)));
    const parts = text.slice(start + 2).split(/^(?=diff --git )/m);
    return new Map(names.flatMap((name, at) => (parts[at] === undefined ? [] : [[name, parts[at]]])));
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return new Map();
  }
}

function namesOf(raw: string): readonly string[] {
  const tokens = raw.split('\0');
  const names: string[] = [];
  for (let at = 0; at < tokens.length;) {
    const moved = / [RC]\d+$/.test(tokens[at] ?? '');
    names.push(tokens[at + (moved ? 2 : 1)] ?? '');
    at += moved ? 3 : 2;
  }
  return names;
}

function diffOf(
  { path, from, status, additions, deletions, binary }: FileChange,
  text: string | undefined,
): GitFileDiff {
  const start = text?.search(/^@@ /m) ?? -1;
  const patch = binary || text === undefined || text.length > longestPatch ? null : start < 0 ? '' : text.slice(start);
  return { path, from: from ?? null, status, additions, deletions, patch };
}
