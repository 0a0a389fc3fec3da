import type { Part } from './payload.ts';
import { joined, type Piece, type Reading } from './adapter.ts';
import { formatCount } from '../../kit/format-count.ts';

/** Commits that are written out. */
const mostCommits = 10;

/** One commit a line: short hash, first line, author. */
export function commitLines(commits: readonly Part[], total: number): Reading['lines'] {
  const lines = commits.slice(0, mostCommits).map((commit): readonly Piece[] => {
    const hash = (commit.text('id') || commit.text('sha')).slice(0, 7);
    const words = commit.lines('message').split('\n', 1)[0]?.trim() ?? '';
    const author = commit.text('author.name') || commit.text('author.username');
    return [{ strong: hash }, ` ${joined(' ', words, author === '' ? '' : `(${author})`)}`];
  });
  const left = total - lines.length;
  return left > 0 ? [...lines, [`and ${formatCount(left, 'more commit')}`]] : lines;
}

/** What a push did: `pushed 2 commits to main`, `deleted the tag v1`. */
export function pushWords(
  ref: string,
  {
    commits,
    created,
    deleted,
    forced,
  }: { readonly commits: number; readonly created: boolean; readonly deleted: boolean; readonly forced: boolean },
): string {
  const [, kind = 'branch', name = ref] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  const what = kind === 'tags' ? `the tag ${name}` : name;
  if (deleted) return `deleted ${kind === 'tags' ? what : `the branch ${name}`}`;
  if (kind === 'tags') return `pushed ${what}`;
  if (forced) return `force-pushed ${formatCount(commits, 'commit')} to ${what}`;
  if (created && commits === 0) return `created the branch ${name}`;
  return `pushed ${formatCount(commits, 'commit')} to ${what}`;
}

/** True for the hash of nothing: the ref is new, or gone. */
export function isNothing(hash: string): boolean {
  return /^0{7,}$/.test(hash);
}
