import type { Issue } from '../issues/issues.ts';
import type { PullState } from '../pulls/pulls.ts';
import type { FileChange } from '../repositories/commits.ts';
import type { EntryDetails, EntryRow, PullRow, ReviewRow } from '../store/issue-tables.ts';
import type { RepositoryAddress } from './commits.ts';
import { labelJson, milestoneJson, getState, formatTimeOrNull, type ToUserJson } from './issues.ts';
import { formatTime } from './time.ts';

export interface PullView {
  readonly state: PullState;
  readonly toUser: ToUserJson;
  readonly reviewers: readonly string[];
  /** Number of line comments. */
  readonly remarks: number;
  /** JSON of the repositories; null for one that the caller may not read. */
  readonly baseRepository: unknown;
  readonly headRepository: unknown;
}

/** Converts a pull request to JSON. */
export function pullJson(
  issue: Issue & { readonly request: PullRow },
  { base, full }: RepositoryAddress,
  view: PullView,
) {
  const { request } = issue;
  const { state, toUser } = view;
  const html = `${base}/${full}/pulls/${issue.number}`;
  const assignees = issue.assignees.map((account) => toUser(account));
  return {
    id: issue.id,
    url: html,
    number: issue.number,
    user: toUser(issue.author),
    title: issue.title,
    body: issue.body,
    labels: issue.labels.map((label) => labelJson(label, { base, full })),
    milestone: issue.milestone === undefined ? null : milestoneJson(issue.milestone),
    assignee: assignees[0] ?? null,
    assignees,
    requested_reviewers: view.reviewers.map((account) => toUser(account)),
    requested_reviewers_teams: [],
    state: getState(issue),
    draft: state.draft,
    is_locked: issue.locked === 1,
    comments: issue.comments,
    ...(view.remarks === 0 ? {} : { review_comments: view.remarks }),
    ...changesJson(state),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    mergeable: state.mergeable,
    ...mergeJson(request, toUser),
    allow_maintainer_edit: request.maintainer_edit === 1,
    ...branchesJson(issue, view),
    merge_base: state.comparison.mergeBase ?? '',
    due_date: formatTimeOrNull(issue.due_at),
    created_at: formatTime(issue.created_at),
    updated_at: formatTime(issue.updated_at),
    closed_at: formatTimeOrNull(issue.closed_at),
    pin_order: 0,
    content_version: 0,
  };
}

/** Converts the size of the changes to JSON. */
function changesJson({ comparison: { files } }: PullState) {
  return {
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    changed_files: files.length,
  };
}

/** Converts the merge to JSON; `null` before it. */
function mergeJson(request: PullRow, toUser: ToUserJson) {
  return {
    merged: request.merged_commit !== null,
    merged_at: formatTimeOrNull(request.merged_at),
    merge_commit_sha: request.merged_commit,
    merged_by: request.merged_by === null ? null : toUser(request.merged_by),
  };
}

/** Converts the branches to JSON: into which and from which the request merges. */
function branchesJson(
  issue: Issue & { readonly request: PullRow },
  { state, baseRepository, headRepository }: Pick<PullView, 'state' | 'baseRepository' | 'headRepository'>,
) {
  const { request } = issue;
  const merged = request.merged_commit !== null;
  return {
    base: {
      label: request.base_branch,
      ref: request.base_branch,
      sha: state.base,
      repo_id: issue.repository_id,
      repo: baseRepository,
    },
    head: {
      label: request.head_branch,
      ref: state.hasHead || !merged ? request.head_branch : `refs/pull/${issue.number}/head`,
      sha: state.head,
      repo_id: request.head_repository_id,
      repo: headRepository,
    },
  };
}

const statuses: Readonly<Record<FileChange['status'], string>> = {
  added: 'added',
  modified: 'changed',
  removed: 'deleted',
  renamed: 'renamed',
};

/** Converts a changed file to JSON. */
export function changedFileJson(file: FileChange, head: string, { base, full }: RepositoryAddress) {
  const path = file.path.split('/').map(encodeURIComponent).join('/');
  return {
    filename: file.path,
    ...(file.from === undefined ? {} : { previous_filename: file.from }),
    status: statuses[file.status],
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    html_url: `${base}/${full}/src/commit/${head}/${path}`,
    contents_url: `${base}/api/v1/repos/${full}/contents/${path}?ref=${head}`,
    raw_url: `${base}/${full}/raw/commit/${head}/${path}`,
  };
}

export interface ReviewView {
  readonly toUser: ToUserJson;
  readonly head: string;
  readonly comments: number;
  /** ID of its timeline entry, if it has one. */
  readonly entry: number | undefined;
}

/** Converts a review, or a requested review (`REQUEST_REVIEW`), to JSON. */
export function reviewJson(
  review: Omit<ReviewRow, 'state'> & { readonly state: ReviewRow['state'] | 'REQUEST_REVIEW' },
  issue: Issue,
  { base, full }: RepositoryAddress,
  view: ReviewView,
) {
  const html = `${base}/${full}/pulls/${issue.number}`;
  return {
    id: review.id,
    user: view.toUser(review.author),
    team: null,
    state: review.state,
    body: review.body,
    commit_id: review.commit_id,
    stale: review.commit_id !== view.head,
    official: review.official === 1,
    dismissed: review.dismissed === 1,
    comments_count: view.comments,
    submitted_at: formatTime(review.created_at),
    updated_at: formatTime(review.updated_at),
    html_url: view.entry === undefined ? '' : `${html}#issuecomment-${view.entry}`,
    pull_request_url: html,
  };
}

/** Converts a line comment to JSON. */
export function reviewCommentJson(
  entry: EntryRow,
  issue: Issue,
  { base, full }: RepositoryAddress,
  toUser: ToUserJson,
) {
  const html = `${base}/${full}/pulls/${issue.number}`;
  const { commit = '', hunk = '', line = 0, path = '', resolver } = JSON.parse(entry.details) as EntryDetails;
  return {
    id: entry.id,
    body: entry.body,
    user: toUser(entry.author),
    resolver: resolver === undefined ? null : toUser(resolver),
    pull_request_review_id: entry.review_id ?? 0,
    created_at: formatTime(entry.created_at),
    updated_at: formatTime(entry.updated_at),
    path,
    commit_id: commit,
    original_commit_id: commit,
    diff_hunk: hunk,
    position: Math.max(0, line),
    original_position: Math.max(0, -line),
    html_url: `${html}#issuecomment-${entry.id}`,
    pull_request_url: html,
  };
}
