import type { Issue } from '../issues/issues.ts';
import type { Milestone } from '../issues/milestones.ts';
import { isDraftTitle } from '../domain/issue-text.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { EntryDetails, EntryRow, LabelRow } from '../store/issue-tables.ts';
import type { StoredFile } from '../releases/stored-files.ts';
import type { RepositoryAddress } from './commits.ts';
import { assetJson } from './releases.ts';
import { formatTime } from './time.ts';

/** Converts an account, by its name, to JSON. */
export type ToUserJson = (account: string) => unknown;

export function labelJson(label: LabelRow, { base, full }: RepositoryAddress) {
  return {
    id: label.id,
    name: label.name,
    exclusive: label.exclusive === 1,
    is_archived: label.archived === 1,
    color: label.color,
    description: label.description,
    url: `${base}/api/v1/repos/${full}/labels/${label.id}`,
  };
}

export function milestoneJson(milestone: Milestone) {
  return {
    id: milestone.id,
    title: milestone.title,
    description: milestone.description,
    state: milestone.closed === 1 ? 'closed' : 'open',
    open_issues: Number(milestone.open_issues),
    closed_issues: Number(milestone.closed_issues),
    created_at: formatTime(milestone.created_at),
    updated_at: formatTime(milestone.updated_at),
    closed_at: formatTimeOrNull(milestone.closed_at),
    due_on: formatTimeOrNull(milestone.due_at),
  };
}

/** Converts an issue, or a pull request in a list of issues, to JSON. */
export function issueJson(issue: Issue, repository: Repository, { base, full }: RepositoryAddress, toUser: ToUserJson) {
  const kind = issue.pull === 1 ? 'pulls' : 'issues';
  const html = `${base}/${full}/${kind}/${issue.number}`;
  const assignees = issue.assignees.map((account) => toUser(account));
  const { request } = issue;
  return {
    id: issue.id,
    url: `${base}/api/v1/repos/${full}/issues/${issue.number}`,
    html_url: html,
    number: issue.number,
    user: toUser(issue.author),
    original_author: '',
    original_author_id: 0,
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    assets: issue.attachments.map((file) => assetJson(file, `${base}/attachments/${file.uuid}`)),
    labels: issue.labels.map((label) => labelJson(label, { base, full })),
    milestone: issue.milestone === undefined ? null : milestoneJson(issue.milestone),
    projects: null,
    assignee: assignees[0] ?? null,
    assignees: assignees.length === 0 ? null : assignees,
    state: getState(issue),
    is_locked: issue.locked === 1,
    comments: issue.comments,
    created_at: formatTime(issue.created_at),
    updated_at: formatTime(issue.updated_at),
    closed_at: formatTimeOrNull(issue.closed_at),
    due_date: formatTimeOrNull(issue.due_at),
    time_estimate: 0,
    pull_request:
      request === undefined
        ? null
        : {
            merged: request.merged_commit !== null,
            merged_at: formatTimeOrNull(request.merged_at),
            draft: isDraftTitle(issue.title),
            html_url: html,
          },
    repository: { id: repository.id, name: repository.name, owner: repository.owner, full_name: full },
    pin_order: issue.pin_order,
    content_version: 0,
  };
}

/** Converts a comment with its files to JSON. */
export function commentJson(
  entry: EntryRow,
  issue: Pick<Issue, 'number' | 'pull'>,
  { base, full }: RepositoryAddress,
  toUser: ToUserJson,
  files: readonly StoredFile[] = [],
) {
  const kind = issue.pull === 1 ? 'pulls' : 'issues';
  const html = `${base}/${full}/${kind}/${issue.number}`;
  return {
    id: entry.id,
    html_url: `${html}#issuecomment-${entry.id}`,
    pull_request_url: issue.pull === 1 ? html : '',
    issue_url: issue.pull === 1 ? '' : html,
    user: toUser(entry.author),
    original_author: '',
    original_author_id: 0,
    body: entry.body,
    assets: files.map((file) => assetJson(file, `${base}/attachments/${file.uuid}`)),
    created_at: formatTime(entry.created_at),
    updated_at: formatTime(entry.updated_at),
  };
}

export interface EntryLookup {
  readonly toUser: ToUserJson;
  readonly label: (id: number) => LabelRow | undefined;
  readonly milestone: (id: number) => Milestone | undefined;
  /** Returns the JSON of an issue of the repository by its number; null if it was deleted. */
  /** Returns an issue by its number and the ID of its repository, which may be another one. */
  readonly reference: (number: number, repository?: number) => unknown;
}

/** Gitea's names of what a reference requests. */
const referenceActions = { none: 'none', close: 'closes', reopen: 'reopens' } as const;

/** Converts a timeline entry to JSON. */
export function entryJson(
  entry: EntryRow,
  issue: Issue,
  address: RepositoryAddress,
  { toUser, label, milestone, reference }: EntryLookup,
) {
  const comment = commentJson(entry, issue, address, toUser);
  const details = JSON.parse(entry.details) as EntryDetails;
  const result = details.label === undefined ? undefined : label(details.label);
  const toMilestoneJson = (id: number | undefined): unknown => {
    const row = id === undefined ? undefined : milestone(id);
    return row === undefined ? null : milestoneJson(row);
  };
  const isTarget = entry.kind === 'change_target_branch';
  return {
    id: entry.id,
    type: entry.kind,
    html_url: comment.html_url,
    pull_request_url: comment.pull_request_url,
    issue_url: comment.issue_url,
    user: comment.user,
    // Like Gitea, the body is 1 when a label was added.
    body: entry.kind === 'label' ? (details.added === true ? '1' : '') : entry.body,
    created_at: comment.created_at,
    updated_at: comment.updated_at,
    old_project_id: 0,
    project_id: 0,
    old_milestone: toMilestoneJson(details.oldMilestone),
    milestone: toMilestoneJson(details.milestone),
    tracked_time: null,
    old_title: isTarget ? '' : (details.before ?? ''),
    new_title: isTarget ? '' : (details.after ?? ''),
    old_ref: isTarget ? (details.before ?? '') : '',
    new_ref: isTarget ? (details.after ?? '') : '',
    ref_issue: details.reference === undefined ? null : reference(details.reference, details.repository),
    ref_comment: null,
    ref_action: details.action === undefined ? '' : referenceActions[details.action],
    ref_commit_sha: details.commit ?? '',
    review_id: entry.review_id ?? 0,
    label: result === undefined ? null : labelJson(result, address),
    assignee: details.assignee === undefined ? null : toUser(details.assignee),
    assignee_team: null,
    removed_assignee: details.removed === true,
    resolve_doer: details.resolver === undefined ? null : toUser(details.resolver),
    dependent_issue: null,
  };
}

export function getState({ closed }: Pick<Issue, 'closed'>): 'open' | 'closed' {
  return closed === 1 ? 'closed' : 'open';
}

export function formatTimeOrNull(time: number | null): string | null {
  return time === null ? null : formatTime(time);
}
