import { parseUnixSeconds } from '../domain/commit-time.ts';
import type { Git } from '../engine/git.ts';

/** Branch with data of its latest commit. */
export interface Branch {
  readonly name: string;
  readonly commit: string;
  readonly title: string;
  readonly author: string;
  /** ms since the epoch. */
  readonly time: number;
}

const heads = 'refs/heads/';
const format = ['objectname', 'refname', 'authorname', 'committerdate:unix', 'contents:subject']
  .map((field) => `%(${field})`)
  .join('%00');

/** Lists all branches, newest commit first. */
export async function readBranches(git: Git, folder: string): Promise<readonly Branch[]> {
  const lines = await git.lines(folder, ['for-each-ref', '--sort=-committerdate', `--format=${format}`, '--', heads]);
  return lines.map((line) => {
    const [commit = '', ref = '', author = '', seconds = '', ...title] = line.split('\0');
    return { name: ref.slice(heads.length), commit, title: title.join('\0'), author, time: parseUnixSeconds(seconds) };
  });
}
