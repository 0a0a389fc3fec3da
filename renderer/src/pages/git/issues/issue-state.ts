import * as m from '#messages/git-issues';
import type { GitIssue } from '../../../../../services/contracts/git/issues.ts';

const issueStates = { open: m.issueOpen, draft: m.issueOpen, closed: m.issueClosed, merged: m.issueClosed } as const;
const pullStates = { open: m.pullOpen, draft: m.pullDraft, closed: m.pullClosed, merged: m.pullMerged } as const;

/** Returns the label for the state of an issue or a pull request. Only pull requests are drafts or merged. */
export function getStateLabel(state: GitIssue['state'], isPull: boolean): string {
  return (isPull ? pullStates : issueStates)[state]();
}
