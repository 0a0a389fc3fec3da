import * as m from '#messages/git-issues';
import type { RichMessage } from '../../../../../../messages/runtime.ts';
import type { GitThreadEntry } from '../../../../../../services/contracts/git/issues.ts';

/** Formats a timeline event with its author and its time. Returns undefined for entries that are shown as comments. */
export function formatTimelineEvent(entry: GitThreadEntry): RichMessage | undefined {
  const { added, after, author, before, commit, commits, kind, label, verdict } = entry;
  const shortCommit = commit.slice(0, 10);
  switch (kind) {
    case 'close':
      return commit === '' ? m.eventClosed({ author }) : m.eventClosedByCommit({ author, commit: shortCommit });
    case 'reopen':
      return m.eventReopened({ author });
    case 'label':
      if (label === null) return added ? m.eventGoneLabelAdded({ author }) : m.eventGoneLabelRemoved({ author });
      return (added ? m.eventLabelAdded : m.eventLabelRemoved)({ author, label: label.name });
    case 'milestone':
      return after === ''
        ? m.eventMilestoneRemoved({ author, milestone: before })
        : m.eventMilestoneSet({ author, milestone: after });
    case 'assignees':
      return (added ? m.eventAssigned : m.eventUnassigned)({ author, account: after });
    case 'change_title':
      return m.eventTitleChanged({ author, title: before });
    case 'change_target_branch':
      return m.eventTargetChanged({ author, before, after });
    case 'commit_ref':
      return entry.repository === null
        ? m.eventMentioned({ author, commit: shortCommit, text: entry.text })
        : m.eventMentionedElsewhere({ author, commit: `${entry.repository}@${shortCommit}`, text: entry.text });
    case 'issue_ref':
    case 'pull_ref':
    case 'comment_ref':
      if (entry.reference === null) return undefined;
      return (entry.reference.pull ? m.eventReferencedByPull : m.eventReferencedByIssue)({
        author,
        title: entry.repository === null ? entry.reference.title : `${entry.reference.title} ${entry.repository}`,
        number: String(entry.reference.number),
      });
    case 'delete_branch':
      return m.eventBranchDeleted({ author, branch: before });
    case 'lock':
      return m.eventLocked({ author });
    case 'unlock':
      return m.eventUnlocked({ author });
    case 'merge_pull':
      return m.eventMerged({ author, commit: shortCommit });
    case 'pull_push':
      return m.eventPushed({ author, count: commits.length });
    case 'review_request':
      return (added ? m.eventReviewRequested : m.eventReviewRequestRemoved)({ author, account: after });
    case 'dismiss_review':
      return m.eventReviewDismissed({ author });
    case 'review':
      if (verdict === 'APPROVED') return m.eventApproved({ author });
      if (verdict === 'REQUEST_CHANGES') return m.eventChangesRequested({ author });
      return entry.text === '' ? m.eventReviewed({ author }) : undefined;
    default:
      return undefined;
  }
}
