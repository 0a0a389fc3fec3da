import * as m from '#messages/git-problems';
import { Problem } from '../../contracts/problem.ts';
import { decodeLines, decodeText } from '../../kit/text-encoding.ts';
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
    if (options.signal.aborted) throw new Problem('git.too_much', 413, m.blameTooSlow(), { cause });
    if (cause instanceof GitError) throw new PageProblem('git.unknown', 404, m.fileNotFound(), { cause });
    throw cause;
  });
  const commits = new Map<string, { title: string; author: string; time: number }>();
  const parts: (BlamePart & { readonly lines: string[] })[] = [];
  let id = '';
  const content: string[] = [];
  // The file may have any encoding; Latin-1 keeps its bytes.
  for (const bytes of stdout.toString('latin1').split('\n')) {
    if (bytes.startsWith('\t')) {
      content.push(bytes.slice(1));
      const header = commits.get(id) ?? { title: '', author: '', time: 0 };
      const last = parts.at(-1);
      if (last?.commit === id) last.lines.push('');
      else parts.push({ commit: id, ...header, lines: [''] });
      continue;
    }
    const line = Buffer.from(bytes, 'latin1').toString();
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
  const lines = decodeContent(content);
  let index = 0;
  const decoded = parts.map((part) => ({ ...part, lines: part.lines.map(() => lines[index++] ?? '') }));
  // The second byte of the last line end of UTF-16 is no line.
  if (content.at(-1) === '\0') decoded.at(-1)?.lines.pop();
  return decoded.filter((part) => part.lines.length > 0);
}

/** Decodes the lines of a file, together if that keeps their number: line ends of UTF-16 have two bytes. */
function decodeContent(content: readonly string[]): readonly string[] {
  const joined = content.join('\n');
  const isCut = joined.length % 2 === 1;
  const text = decodeText(Buffer.from(isCut ? `${joined}\n` : joined, 'latin1'))?.text;
  const lines = (isCut ? text?.replace(/\n$/, '') : text)?.split('\n');
  return lines?.length === content.length ? lines : decodeLines(Buffer.from(joined, 'latin1')).split('\n');
}
