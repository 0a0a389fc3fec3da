import { isBlocked } from './dependencies.ts';
import type { IssueRow } from '../store/issue-tables.ts';
import { recordIssueReferences } from './references.ts';
import { addEntry, notifyParticipants, recordText, touch, type IssueWork } from './writer.ts';

/** Properties of a new issue or pull request. */
export interface NewIssue {
  readonly title: string;
  readonly body: string;
  readonly pull: boolean;
  readonly ref?: string | undefined;
  readonly dueAt?: number | null | undefined;
  readonly milestone?: number | null | undefined;
  readonly labels?: readonly number[] | undefined;
  readonly assignees?: readonly string[] | undefined;
  readonly closed?: boolean | undefined;
}

/** Creates an issue with the next number of its repository. */
export async function createIssue(work: IssueWork, input: NewIssue): Promise<IssueRow> {
  const { account, db, now, repository } = work;
  const { last: number } = await db
    .insertInto('issue_counters')
    .values({ repository_id: repository.id, last: 1 })
    .onConflict((conflict) =>
      conflict.column('repository_id').doUpdateSet((is) => ({ last: is('issue_counters.last', '+', 1) })),
    )
    .returning('last')
    .executeTakeFirstOrThrow();
  const closed = input.closed === true;
  const issue = await db
    .insertInto('issues')
    .values({
      repository_id: repository.id,
      number,
      pull: Number(input.pull),
      author: account,
      title: input.title,
      body: input.body,
      closed: Number(closed),
      locked: 0,
      ref: input.ref ?? '',
      milestone_id: input.milestone ?? null,
      comments: 0,
      due_at: input.dueAt ?? null,
      created_at: now,
      updated_at: now,
      closed_at: closed ? now : null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await setLabels(work, issue, input.labels ?? [], { quiet: true });
  await setAssignees(work, issue, input.assignees ?? [], { quiet: true });
  await recordText(work, issue.id, input.body);
  await recordIssueReferences(work, issue, `${input.title}\n${input.body}`);
  await notifyParticipants(work, issue.id);
  work.events.push({ event: getEventName(issue), action: 'opened', issue: issue.id });
  return issue;
}

export async function setTitle(work: IssueWork, issue: IssueRow, title: string): Promise<void> {
  if (title === issue.title) return;
  await work.db.updateTable('issues').set({ title }).where('id', '=', issue.id).execute();
  await addEntry(work, issue.id, 'change_title', { before: issue.title, after: title });
  await recordText(work, issue.id, '');
  await touch(work, issue.id);
  work.events.push({ event: getEventName(issue), action: 'edited', issue: issue.id });
}

export async function setBody(work: IssueWork, issue: IssueRow, body: string): Promise<void> {
  if (body === issue.body) return;
  await work.db.updateTable('issues').set({ body }).where('id', '=', issue.id).execute();
  await recordText(work, issue.id, body);
  await recordIssueReferences(work, issue, body);
  await touch(work, issue.id);
  work.events.push({ event: getEventName(issue), action: 'edited', issue: issue.id });
}

/** Closes or reopens an issue. A commit does not close an issue that has open dependencies. */
export async function setClosed(work: IssueWork, issue: IssueRow, closed: boolean, commit?: string): Promise<void> {
  const { db, now } = work;
  if (closed && commit !== undefined && (await isBlocked(db, issue.id))) return;
  const set = { closed: Number(closed), closed_at: closed ? now : null, updated_at: now };
  const { numUpdatedRows } = await db
    .updateTable('issues')
    .set(set)
    .where('id', '=', issue.id)
    .where('closed', '=', Number(!closed))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  const entry = await addEntry(work, issue.id, closed ? 'close' : 'reopen', commit === undefined ? {} : { commit });
  await notifyParticipants(work, issue.id, entry);
  work.events.push({ event: getEventName(issue), action: closed ? 'closed' : 'reopened', issue: issue.id });
}

interface ChangeOptions {
  /** Suppresses timeline entries and events. */
  readonly quiet?: boolean;
}

/** Replaces the labels of an issue. Unknown IDs are ignored. */
export async function setLabels(
  work: IssueWork,
  issue: IssueRow,
  labelIds: readonly number[],
  { quiet = false }: ChangeOptions = {},
): Promise<void> {
  const { db, repository } = work;
  const current = await db.selectFrom('issue_labels').select('label_id').where('issue_id', '=', issue.id).execute();
  const before = new Set(current.map(({ label_id }) => label_id));
  const knownLabels = await db
    .selectFrom('labels')
    .select(['id', 'name', 'exclusive'])
    .where('repository_id', '=', repository.id)
    .where('id', 'in', [0, ...labelIds])
    .execute();
  // Of mutually exclusive labels such as `kind/bug` and `kind/idea`, the last one wins.
  const ordered = knownLabels.toSorted((one, other) => labelIds.lastIndexOf(one.id) - labelIds.lastIndexOf(other.id));
  const effective = ordered.filter((label, index) => {
    const scope = getLabelScope(label);
    return scope === undefined || !ordered.slice(index + 1).some((later) => getLabelScope(later) === scope);
  });
  const after = new Set(effective.map(({ id }) => id));
  const added = [...after].filter((id) => !before.has(id));
  const removed = [...before].filter((id) => !after.has(id));
  if (added.length === 0 && removed.length === 0) return;
  if (removed.length > 0)
    await db.deleteFrom('issue_labels').where('issue_id', '=', issue.id).where('label_id', 'in', removed).execute();
  if (added.length > 0) {
    await db
      .insertInto('issue_labels')
      .values(added.map((label_id) => ({ issue_id: issue.id, label_id })))
      .execute();
  }
  if (quiet) return;
  for (const label of added) await addEntry(work, issue.id, 'label', { label, added: true });
  for (const label of removed) await addEntry(work, issue.id, 'label', { label, added: false });
  await touch(work, issue.id);
  const action = after.size === 0 ? 'label_cleared' : 'label_updated';
  work.events.push({ event: `${getEventPrefix(issue)}_label`, action, issue: issue.id });
}

/** Replaces the assignees of an issue. */
export async function setAssignees(
  work: IssueWork,
  issue: IssueRow,
  accounts: readonly string[],
  { quiet = false }: ChangeOptions = {},
): Promise<void> {
  const { db } = work;
  const current = await db.selectFrom('issue_assignees').select('account').where('issue_id', '=', issue.id).execute();
  const before = new Set(current.map(({ account }) => account));
  const after = new Set(accounts);
  const added = [...after].filter((name) => !before.has(name));
  const removed = [...before].filter((name) => !after.has(name));
  if (added.length === 0 && removed.length === 0) return;
  if (removed.length > 0)
    await db.deleteFrom('issue_assignees').where('issue_id', '=', issue.id).where('account', 'in', removed).execute();
  if (added.length > 0) {
    await db
      .insertInto('issue_assignees')
      .values(added.map((account) => ({ issue_id: issue.id, account })))
      .execute();
  }
  if (quiet) return;
  for (const assignee of added) await addEntry(work, issue.id, 'assignees', { assignee });
  for (const assignee of removed) await addEntry(work, issue.id, 'assignees', { assignee, removed: true });
  await touch(work, issue.id);
  await notifyParticipants(work, issue.id);
  const event = `${getEventPrefix(issue)}_assign`;
  if (added.length > 0) work.events.push({ event, action: 'assigned', issue: issue.id });
  if (removed.length > 0) work.events.push({ event, action: 'unassigned', issue: issue.id });
}

export async function setMilestone(work: IssueWork, issue: IssueRow, milestone: number | null): Promise<void> {
  if (milestone === issue.milestone_id) return;
  await work.db.updateTable('issues').set({ milestone_id: milestone }).where('id', '=', issue.id).execute();
  await addEntry(work, issue.id, 'milestone', { milestone: milestone ?? 0, oldMilestone: issue.milestone_id ?? 0 });
  await touch(work, issue.id);
  const action = milestone === null ? 'demilestoned' : 'milestoned';
  work.events.push({ event: `${getEventPrefix(issue)}_milestone`, action, issue: issue.id });
}

export async function setLocked(work: IssueWork, issue: IssueRow, locked: boolean, reason = ''): Promise<void> {
  if (locked === (issue.locked === 1)) return;
  await work.db
    .updateTable('issues')
    .set({ locked: Number(locked) })
    .where('id', '=', issue.id)
    .execute();
  await addEntry(work, issue.id, locked ? 'lock' : 'unlock', { body: reason });
}

export async function setDue(work: IssueWork, issue: IssueRow, dueAt: number | null): Promise<void> {
  await work.db.updateTable('issues').set({ due_at: dueAt }).where('id', '=', issue.id).execute();
  await touch(work, issue.id);
}

/** Adds a comment and returns its ID. */
export async function addComment(work: IssueWork, issue: IssueRow, body: string): Promise<number> {
  const entry = await addEntry(work, issue.id, 'comment', { body });
  await countComments(work, issue.id);
  await recordText(work, issue.id, body);
  await recordIssueReferences(work, issue, body, { isComment: true });
  await touch(work, issue.id);
  await notifyParticipants(work, issue.id, entry);
  work.events.push({ event: getCommentEventName(issue), action: 'created', issue: issue.id, entry });
  return entry;
}

export async function editComment(work: IssueWork, issue: IssueRow, entry: number, body: string): Promise<void> {
  await work.db.updateTable('issue_entries').set({ body, updated_at: work.now }).where('id', '=', entry).execute();
  await recordText(work, issue.id, body);
  await recordIssueReferences(work, issue, body, { isComment: true });
  work.events.push({ event: getCommentEventName(issue), action: 'edited', issue: issue.id, entry });
}

export async function removeComment(work: IssueWork, issue: IssueRow, entry: number): Promise<void> {
  // The event handler still reads the deleted comment.
  work.events.push({ event: getCommentEventName(issue), action: 'deleted', issue: issue.id, entry });
  await work.db.deleteFrom('issue_entries').where('id', '=', entry).execute();
  await work.db.deleteFrom('issue_reactions').where('entry_id', '=', entry).execute();
  await work.db.deleteFrom('issue_attachments').where('entry_id', '=', entry).execute();
  await countComments(work, issue.id);
  await recordText(work, issue.id, '');
}

/** Updates the stored number of comments, which includes review comments. */
export async function countComments({ db }: IssueWork, issue: number): Promise<void> {
  await db
    .updateTable('issues')
    .set((is) => ({
      comments: is
        .selectFrom('issue_entries')
        .select((each) => each.fn.countAll<number>().as('count'))
        .where('issue_id', '=', issue)
        .where((each) =>
          each.or([each('kind', '=', 'comment'), each.and([each('kind', '=', 'review'), each('body', '!=', '')])]),
        ),
    }))
    .where('id', '=', issue)
    .execute();
}

function getEventName({ pull }: IssueRow): 'issues' | 'pull_request' {
  return pull === 1 ? 'pull_request' : 'issues';
}

function getEventPrefix({ pull }: IssueRow): 'issue' | 'pull_request' {
  return pull === 1 ? 'pull_request' : 'issue';
}

function getCommentEventName({ pull }: IssueRow): string {
  return pull === 1 ? 'pull_request_comment' : 'issue_comment';
}

/** Returns the scope of an exclusive label. Labels with the same scope exclude each other. */
function getLabelScope({ name, exclusive }: { readonly name: string; readonly exclusive: number }): string | undefined {
  const slash = name.lastIndexOf('/');
  return exclusive === 1 && slash > 0 ? name.slice(0, slash) : undefined;
}
