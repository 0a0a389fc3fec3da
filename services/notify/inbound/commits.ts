import * as m from '#messages/notify-inbound';
import type { Payload } from './payload.ts';
import { joinTexts, type TextPart, type InboundNotification } from './adapter.ts';

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
  return remaining > 0 ? [...lines, [m.moreCommits({ count: remaining })]] : lines;
}

/** Describes a push: `ada pushed 2 commits to main`, `ada deleted the tag v1`. */
export function describePush(
  user: string,
  ref: string,
  {
    commits,
    created,
    deleted,
    forced,
  }: { readonly commits: number; readonly created: boolean; readonly deleted: boolean; readonly forced: boolean },
): string {
  const [, kind = 'branch', name = ref] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (kind === 'tags') return deleted ? m.deletedTag({ user, tag: name }) : m.pushedTag({ user, tag: name });
  if (deleted) return m.deletedBranch({ user, branch: name });
  if (forced) return m.forcePushedCommits({ user, count: commits, branch: name });
  if (created && commits === 0) return m.createdBranch({ user, branch: name });
  return m.pushedCommits({ user, count: commits, branch: name });
}

/** Returns true for the zero hash of a ref before its creation or after its deletion. */
export function isZeroHash(hash: string): boolean {
  return /^0{7,}$/.test(hash);
}
