import type { GitDiff, GitFileDiff } from '../../contracts/git/api.ts';
import { decodeLines } from '../../kit/text-encoding.ts';
import { isOutputTooLarge, type Git } from '../engine/git.ts';
import {
  compareChanges,
  diffTree,
  getDiffFlags,
  ignoreTooLarge,
  readChanges,
  type DiffOptions,
  type FileChange,
} from '../repositories/commits.ts';

/** Maximum number of listed files of a commit. */
const maxFiles = 300;
const maxPatchLength = 100_000;
const maxDiffBytes = 8 * 1024 * 1024;
/** Maximum length of all paths on one command line. Windows allows 32,767 characters. */
const maxPathsLength = 24_000;
const literal = ':(literal)';

/** Reads the changed files of a commit, with patches up to the size limits. */
export function readDiffs(git: Git, folder: string, id: string, options: DiffOptions = {}): Promise<GitDiff> {
  const diffArgs = ['--root', '--no-commit-id', '--diff-merges=first-parent', ...getDiffFlags(options), id];
  const read = async () => (await readChanges(git, folder, [id], options)).get(id) ?? [];
  return withPatches(git, folder, read, diffArgs);
}

/** Reads the changed files between two commits, with patches up to the size limits. */
export function compareDiffs(
  git: Git,
  folder: string,
  from: string,
  to: string,
  options: DiffOptions = {},
): Promise<GitDiff> {
  const read = () => compareChanges(git, folder, from, to, options);
  return withPatches(git, folder, read, [...getDiffFlags(options), from, to]);
}

async function withPatches(
  git: Git,
  folder: string,
  read: () => Promise<readonly FileChange[]>,
  diffArgs: readonly string[],
): Promise<GitDiff> {
  const changes = await read().catch(ignoreTooLarge);
  if (changes === undefined) return { files: [], total: null };
  const visibleChanges = changes.slice(0, maxFiles);
  const patches = await readPatches(git, folder, diffArgs, visibleChanges);
  const files = visibleChanges.map((change) => toFileDiff(change, patches.get(change.path)));
  return { files, total: changes.length };
}

/** Reads the patches by path, as far as the paths fit on a command line; none when the output is too large. */
async function readPatches(
  git: Git,
  folder: string,
  diffArgs: readonly string[],
  changes: readonly FileChange[],
): Promise<ReadonlyMap<string, string>> {
  const paths: string[] = [];
  let remaining = maxPathsLength;
  for (const { binary, from, path } of changes) {
    // Git would read a large file completely only to report that it is binary.
    if (binary) continue;
    const pathspecs = (from === undefined ? [path] : [from, path]).map((each) => literal + each);
    // Each path is quoted and follows a space.
    const length = pathspecs.reduce((sum, each) => sum + each.length + 3, 0);
    if (length > remaining) continue;
    remaining -= length;
    paths.push(...pathspecs);
  }
  if (paths.length === 0) return new Map();
  // Unlike --raw, --numstat lists the same files as the patches when whitespace is ignored.
  const args = ['-z', '-p', '--numstat', '-r', ...diffArgs, '--', ...paths];
  try {
    // Files may have any encoding; Latin-1 keeps their bytes.
    const text = (await diffTree(git, folder, args, { maxBytes: maxDiffBytes })).toString('latin1');
    // The output has the names, each terminated by NUL, an empty name, and the patches in the same order.
    const start = text.indexOf('\0\0');
    const names = parseNames(toUtf8(text.slice(0, Math.max(0, start))));
    const parts = text.slice(start + 2).split(/^(?=diff --git )/m);
    return new Map(
      names.flatMap((name, index) => {
        const part = parts[index];
        return part === undefined ? [] : [[name, decodeLines(Buffer.from(part, 'latin1'))]];
      }),
    );
  } catch (error) {
    if (!isOutputTooLarge(error)) throw error;
    return new Map();
  }
}

function toUtf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}

function parseNames(raw: string): readonly string[] {
  const tokens = raw.split('\0');
  const names: string[] = [];
  for (let index = 0; index < tokens.length;) {
    // The line counts are followed by the path, or by the old and the new path of a moved file.
    const path = /^(?:\d+|-)\t(?:\d+|-)\t(.*)$/s.exec(tokens[index] ?? '')?.[1] ?? '';
    names.push(path === '' ? (tokens[index + 2] ?? '') : path);
    index += path === '' ? 3 : 1;
  }
  return names;
}

function toFileDiff(
  { path, from, status, additions, deletions, binary }: FileChange,
  text: string | undefined,
): GitFileDiff {
  const start = text?.search(/^@@ /m) ?? -1;
  const patch =
    binary || text === undefined || text.length > maxPatchLength ? null : start < 0 ? '' : text.slice(start);
  return { path, from: from ?? null, status, additions, deletions, patch };
}
