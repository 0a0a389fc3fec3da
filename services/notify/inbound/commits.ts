import type { Payload } from './payload.ts';
import { joinTexts, type TextPart, type InboundNotification } from './adapter.ts';
import { formatCount } from '../../kit/format-count.ts';

/** Maximum number of listed commits. */
const maxCommits = 10;

/** Formats one line per commit: short hash, subject, author. */
export function formatCommits(commits: readonly Payload[], total: number): InboundNotification['lines'] {
  const lines = commits.slice(0, maxCommits).map((commit): readonly TextPart[] => {
    const hash = (commit.text('id') || commit.text('sha')).slice(0, 7);
    const subject = commit.lines('message').split('\n', 1)[0]?.trim() ?? '';
    const author = commit.text('author.name') || commit.text('author.username');
    return [{ strong: hash }, ` ${joinTexts(' ', subject, author === '' ? '' : `(${author})`)}`];
  });
  const remaining = total - lines.length;
  return remaining > 0 ? [...lines, [`and ${formatCount(remaining, 'more commit')}`]] : lines;
}

/** Describes a push: `pushed 2 commits to main`, `deleted the tag v1`. */
export function describePush(
  ref: string,
  {
    commits,
    created,
    deleted,
    forced,
  }: { readonly commits: number; readonly created: boolean; readonly deleted: boolean; readonly forced: boolean },
): string {
  const [, kind = 'branch', name = ref] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  const target = kind === 'tags' ? `the tag ${name}` : name;
  if (deleted) return `deleted ${kind === 'tags' ? target : `the branch ${name}`}`;
  if (kind === 'tags') return `pushed ${target}`;
  if (forced) return `force-pushed ${formatCount(commits, 'commit')} to ${target}`;
  if (created && commits === 0) return `created the branch ${name}`;
  return `pushed ${formatCount(commits, 'commit')} to ${target}`;
}

/** Returns true for the zero hash of a ref before its creation or after its deletion. */
export function isZeroHash(hash: string): boolean {
  return /^0{7,}$/.test(hash);
}
