import type { GitThreadEntry } from '../../../../../../services/contracts/git/issues.ts';

/** Formats a timeline event after the name of its author. Returns undefined for entries that are shown as comments. */
export function formatTimelineEvent(entry: GitThreadEntry): string | undefined {
  const { added, after, before, commit, commits, kind, label, verdict } = entry;
  switch (kind) {
    case 'close':
      return commit === '' ? 'closed this' : `closed this by the commit ${commit.slice(0, 10)}`;
    case 'reopen':
      return 'opened this again';
    case 'label':
      return `${added ? 'put on' : 'took off'} the label ${label?.name ?? 'that is gone'}`;
    case 'milestone':
      return after === '' ? `took it out of the milestone ${before}` : `put it into the milestone ${after}`;
    case 'assignees':
      return added ? `assigned ${after}` : `took it from ${after}`;
    case 'change_title':
      return `changed the title from “${before}”`;
    case 'change_target_branch':
      return `changed the branch it goes into from ${before} to ${after}`;
    case 'commit_ref':
      return `spoke of it in the commit ${commit.slice(0, 10)}: ${entry.text}`;
    case 'delete_branch':
      return `deleted the branch ${before}`;
    case 'lock':
      return 'locked the conversation';
    case 'unlock':
      return 'opened the conversation again';
    case 'merge_pull':
      return `merged it as ${commit.slice(0, 10)}`;
    case 'pull_push':
      return commits.length === 1 ? 'pushed a commit' : `pushed ${commits.length} commits`;
    case 'review_request':
      return added ? `asked ${after} for a review` : `no longer asks ${after} for a review`;
    case 'dismiss_review':
      return 'dismissed a review';
    case 'review':
      if (verdict === 'APPROVED') return 'approved it';
      return verdict === 'REQUEST_CHANGES' ? 'asks for changes' : entry.text === '' ? 'reviewed it' : undefined;
    default:
      return undefined;
  }
}
