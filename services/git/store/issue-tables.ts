import type { Generated, Selectable } from 'kysely';
import type { IssueRelationTables } from './issue-relations.ts';

interface Issues {
  id: Generated<number>;
  repository_id: number;
  number: number;
  pull: number;
  author: string;
  title: string;
  body: string;
  closed: number;
  locked: number;
  ref: string;
  milestone_id: number | null;
  comments: number;
  due_at: number | null;
  created_at: number;
  updated_at: number;
  closed_at: number | null;
  pin_order: Generated<number>;
}

interface Labels {
  id: Generated<number>;
  repository_id: number;
  name: string;
  color: string;
  description: string;
  exclusive: number;
  archived: number;
}

interface Milestones {
  id: Generated<number>;
  repository_id: number;
  title: string;
  description: string;
  closed: number;
  due_at: number | null;
  created_at: number;
  updated_at: number;
  closed_at: number | null;
}

/** Kinds of timeline entries, with Gitea's names. */
export const entryKinds = [
  'comment',
  'close',
  'reopen',
  'label',
  'milestone',
  'assignees',
  'change_title',
  'change_target_branch',
  'commit_ref',
  'issue_ref',
  'pull_ref',
  'comment_ref',
  'delete_branch',
  'lock',
  'unlock',
  'merge_pull',
  'pull_push',
  'code',
  'review',
  'review_request',
  'dismiss_review',
] as const;
export type EntryKind = (typeof entryKinds)[number];

interface Entries {
  id: Generated<number>;
  issue_id: number;
  kind: EntryKind;
  author: string;
  body: string;
  /** JSON of {@link EntryDetails}. */
  details: string;
  review_id: number | null;
  created_at: number;
  updated_at: number;
}

/** Details of a timeline entry. */
export interface EntryDetails {
  readonly label?: number;
  readonly added?: boolean;
  readonly milestone?: number;
  readonly oldMilestone?: number;
  readonly assignee?: string;
  readonly removed?: boolean;
  readonly before?: string;
  readonly after?: string;
  readonly commit?: string;
  /** File of a review comment, with its line (negative for the old file), commit and diff lines. */
  readonly path?: string;
  readonly line?: number;
  readonly hunk?: string;
  readonly resolver?: string;
  /** ID of the repository with the referring issue or commit, if it is another one. */
  readonly repository?: number;
  /** Number of the issue or pull request that refers to this one. */
  readonly reference?: number;
  /** Effect on the referenced issue when the pull request is merged. */
  readonly action?: 'none' | 'close' | 'reopen';
}

interface Pulls {
  issue_id: number;
  head_repository_id: number;
  head_branch: string;
  base_branch: string;
  /** Head commit at the last update. It is retained after the branch is deleted. */
  head_commit: string;
  /** Merge base when the pull request was created. */
  merge_base: string;
  maintainer_edit: number;
  merged_commit: string | null;
  merged_at: number | null;
  merged_by: string | null;
  /** 1 if `refs/pull/N/head` must still be written. */
  ref_due: number;
}

export type ReviewState = 'PENDING' | 'COMMENT' | 'APPROVED' | 'REQUEST_CHANGES';

interface Reviews {
  id: Generated<number>;
  issue_id: number;
  author: string;
  state: ReviewState;
  body: string;
  commit_id: string;
  dismissed: number;
  official: number;
  created_at: number;
  updated_at: number;
}

interface Notifications {
  id: Generated<number>;
  account: string;
  issue_id: number;
  state: 'unread' | 'read' | 'pinned';
  entry_id: number | null;
  updated_at: number;
}

/** Tables of issues and pull requests, which share a sequence of numbers. */
export interface IssueTables extends IssueRelationTables {
  issue_counters: { repository_id: number; last: number };
  issues: Issues;
  issue_labels: { issue_id: number; label_id: number };
  issue_assignees: { issue_id: number; account: string };
  issue_mentions: { issue_id: number; account: string };
  issue_watches: { issue_id: number; account: string; watching: number };
  issue_reactions: { issue_id: number; entry_id: number; account: string; content: string; created_at: number };
  labels: Labels;
  milestones: Milestones;
  issue_entries: Entries;
  pulls: Pulls;
  /** Merges in progress, by the ID of their push. */
  pull_merges: { push_id: string; issue_id: number; account: string; commit: string };
  reviews: Reviews;
  review_requests: { issue_id: number; account: string };
  issue_notifications: Notifications;
}

export type IssueRow = Selectable<Issues>;
export type LabelRow = Selectable<Labels>;
export type MilestoneRow = Selectable<Milestones>;
export type EntryRow = Selectable<Entries>;
export type PullRow = Selectable<Pulls>;
export type ReviewRow = Selectable<Reviews>;
export type NotificationRow = Selectable<Notifications>;
