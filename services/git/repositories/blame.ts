import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { parseUnixSeconds } from '../domain/commit-time.ts';
import { GitError, type Git } from '../engine/git.ts';

/** Consecutive lines from one commit. */
export interface BlamePart {
  readonly commit: string;
  readonly title: string;
  readonly author: string;
  /** ms since the epoch. */
  readonly time: number;
  readonly lines: readonly string[];
}

const timeoutMs = 30_000;
const maxBytes = 16 * 1024 * 1024;

/**
 * Returns the commit of each line of a file.
 * @throws Problem `git.too_much` (413) if it takes too long or the file is too large
 */
export async function readBlame(git: Git, folder: string, commit: string, path: string): Promise<readonly BlamePart[]> {
  const options = { maxBytes, signal: AbortSignal.timeout(timeoutMs) };
  const args = ['blame', '--porcelain', commit, '--', path];
  const { stdout } = await git.run(folder, args, options).catch((cause: unknown) => {
    if (options.signal.aborted)
      throw new Problem('git.too_much', 413, 'This takes too long to be found out.', { cause });
    if (cause instanceof GitError) throw new PageProblem('git.unknown', 404, 'There is no such file.', { cause });
    throw cause;
  });
  const commits = new Map<string, { title: string; author: string; time: number }>();
  const parts: (BlamePart & { readonly lines: string[] })[] = [];
  let id = '';
  for (const line of stdout.toString().split('\n')) {
    if (line.startsWith('\t')) {
      const header = commits.get(id) ?? { title: '', author: '', time: 0 };
      const last = parts.at(-1);
      if (last?.commit === id) last.lines.push(line.slice(1));
      else parts.push({ commit: id, ...header, lines: [line.slice(1)] });
      continue;
    }
    const [, commitId] = /^([0-9a-f]{40}) \d+ \d+/.exec(line) ?? [];
    if (commitId !== undefined) {
      id = commitId;
      if (!commits.has(id)) commits.set(id, { title: '', author: '', time: 0 });
      continue;
    }
    const header = commits.get(id);
    if (header === undefined) continue;
    if (line.startsWith('author ')) header.author = line.slice(7);
    else if (line.startsWith('committer-time ')) header.time = parseUnixSeconds(line.slice(15));
    else if (line.startsWith('summary ')) header.title = line.slice(8);
  }
  return parts;
}
