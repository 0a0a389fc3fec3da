import type { GitFileDiff } from '../../contracts/git/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Git } from '../engine/git.ts';
import { compareChanges, readChanges, type FileChange } from '../repositories/commits.ts';

/** Files of one commit that are shown, and characters of each one's lines. */
const mostFiles = 300;
const longestPatch = 100_000;
const longestAll = 8 * 1024 * 1024;

/** What a commit changed, with the lines where they are not too many. */
export async function readDiffs(git: Git, folder: string, id: string): Promise<GitFileDiff[]> {
  const changes = (await readChanges(git, folder, [id])).get(id) ?? [];
  return withPatches(git, folder, changes, ['--root', '--no-commit-id', '--diff-merges=first-parent', id]);
}

/** The same for what leads from one commit to another. */
export async function compareDiffs(git: Git, folder: string, from: string, to: string): Promise<GitFileDiff[]> {
  return withPatches(git, folder, await compareChanges(git, folder, from, to), [from, to]);
}

async function withPatches(
  git: Git,
  folder: string,
  changes: readonly FileChange[],
  what: readonly string[],
): Promise<GitFileDiff[]> {
  const patches = await readPatches(git, folder, what);
  return changes.slice(0, mostFiles).map((change) => diffOf(change, patches.get(change.path)));
}

/** The lines by the file they belong to; none at all when they are too many. */
async function readPatches(git: Git, folder: string, what: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const args = ['diff-tree', '-z', '-p', '--raw', '-r', '-M', ...what];
  try {
    const { stdout } = await git.run(folder, args, { maxBytes: longestAll });
    const text = stdout.toString();
    // First the names, each ended by a NUL, then an empty one, then the patches in the same order.
    const start = text.indexOf('\0\0');
    const names = namesOf(text.slice(0, Math.max(0, start)));
    const parts = text.slice(start + 2).split(/^(?=diff --git )/m);
    return new Map(names.flatMap((name, at) => (parts[at] === undefined ? [] : [[name, parts[at]]])));
  } catch (error) {
    if (error instanceof Problem && error.code === 'git.too_much') return new Map();
    throw error;
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
