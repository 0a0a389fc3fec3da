import type { Issue } from '../issues/issues.ts';
import type { NotificationRow } from '../store/issue-tables.ts';
import type { RepositoryAddress } from './commits.ts';
import { getState } from './issues.ts';
import { formatTime } from './time.ts';

/** Converts a notification to JSON. `repository` is the JSON of its repository. */
export function notificationJson(
  row: NotificationRow,
  issue: Issue,
  { base, full }: RepositoryAddress,
  repository: unknown,
) {
  const pull = issue.request !== undefined;
  const kind = pull ? 'pulls' : 'issues';
  const html = `${base}/${full}/${kind}/${issue.number}`;
  const api = `${base}/api/v1/repos/${full}/issues`;
  return {
    id: row.id,
    repository,
    subject: {
      title: issue.title,
      url: `${api}/${issue.number}`,
      latest_comment_url: row.entry_id === null ? '' : `${api}/comments/${row.entry_id}`,
      html_url: html,
      latest_comment_html_url: row.entry_id === null ? '' : `${html}#issuecomment-${row.entry_id}`,
      type: pull ? 'Pull' : 'Issue',
      state: issue.request !== undefined && issue.request.merged_at !== null ? 'merged' : getState(issue),
    },
    unread: row.state === 'unread',
    pinned: row.state === 'pinned',
    updated_at: formatTime(row.updated_at),
    url: `${base}/api/v1/notifications/threads/${row.id}`,
  };
}
