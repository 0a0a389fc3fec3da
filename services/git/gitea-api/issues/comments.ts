import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { addComment, editComment, removeComment } from '../../issues/changes.ts';
import { Attachments, attachmentsOf } from '../../issues/attachments.ts';
import type { Issue } from '../../issues/issues.ts';
import { seenBy } from '../../issues/entry-visibility.ts';
import { withCounts } from '../../issues/milestones.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { EntryDetails, EntryRow } from '../../store/issue-tables.ts';
import { commentJson, entryJson } from '../../wire/issues.ts';
import {
  accountOf,
  bodyOf,
  created,
  noContent,
  ok,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { listHeaders, pageOf } from '../paging.ts';
import { placeOf } from '../api-dependencies.ts';
import {
  commentAt,
  issueAt,
  mayWrite,
  needOpen,
  peopleOf,
  repositoryAt,
  seenEntry,
  timeAt,
  type IssueParts,
} from './issue-access.ts';

const commentBody = z.object({ body: required });

/** Comments, and the timeline in which they stand. */
export function commentRoutes(parts: IssueParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/issues/comments', 'issue', (call) => listRepositoryComments(parts, call)),
    route('GET', '/repos/:owner/:repo/issues/comments/:id', 'issue', (call) => readComment(parts, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo/issues/comments/:id', 'issue', (call) => changeComment(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/comments/:id', 'issue', (call) => deleteComment(parts, call)),
    // The peer's older addresses of the same.
    signedInRoute('PATCH', '/repos/:owner/:repo/issues/:index/comments/:id', 'issue', (call) =>
      changeComment(parts, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index/comments/:id', 'issue', (call) =>
      deleteComment(parts, call),
    ),
    route('GET', '/repos/:owner/:repo/issues/:index/comments', 'issue', (call) => listComments(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues/:index/comments', 'issue', (call) =>
      addIssueComment(parts, call),
    ),
    route('GET', '/repos/:owner/:repo/issues/:index/timeline', 'issue', (call) => readTimeline(parts, call)),
  ];
}

function findEntry(parts: IssueParts, call: Call, id: number) {
  return seenEntry(parts, call, id);
}

async function toCommentJson(parts: IssueParts, call: Call, repository: Repository, issue: Issue, entry: EntryRow) {
  const { db } = parts;
  return commentJson(
    entry,
    issue,
    placeOf(call, repository),
    await peopleOf(parts, call, [entry.author]),
    (await attachmentsOf(db, [entry.id])).get(entry.id),
  );
}

async function getChangeableComment(parts: IssueParts, call: Call) {
  const found = await commentAt(parts, call);
  needOpen(found.repository);
  if (found.entry.author === accountOf(call) || mayWrite(found.level)) return found;
  throw new Problem('git.forbidden', 403, 'This is a comment of somebody else.');
}

function parseTimeRange({ query }: Call) {
  return {
    since: timeAt(query.get('since')) ?? 0,
    before: timeAt(query.get('before')) ?? Number.MAX_SAFE_INTEGER,
  };
}

async function changeComment(parts: IssueParts, call: Call): Promise<Answer> {
  const { writer } = parts;
  const { entry, issue, repository } = await getChangeableComment(parts, call);
  const { body } = await bodyOf(call, commentBody);
  await writer.run(repository, accountOf(call), (work) => editComment(work, issue, entry.id, body));
  const changed = await findEntry(parts, call, entry.id);
  if (changed === undefined) throw unknown();
  return ok(await toCommentJson(parts, call, repository, issue, changed));
}

async function deleteComment(parts: IssueParts, call: Call): Promise<Answer> {
  const { context, writer } = parts;
  const attachments = new Attachments(context);

  const { entry, issue, repository } = await getChangeableComment(parts, call);
  const files = await attachments.all(issue.id, entry.id);
  await writer.run(repository, accountOf(call), (work) => removeComment(work, issue, entry.id));
  await attachments.forget(repository, files);
  return noContent;
}

async function readTimeline(parts: IssueParts, call: Call): Promise<Answer> {
  const { db } = parts;
  const { repository, issue } = await issueAt(parts, call);
  const page = pageOf(call.query);
  const { since, before } = parseTimeRange(call);
  const all = db
    .selectFrom('issue_entries')
    .where('issue_id', '=', issue.id)
    .where('updated_at', '>=', since)
    .where('updated_at', '<=', before)
    .where(seenBy(call.visitor.identity?.account));
  const [entries, count, labels, milestones] = await Promise.all([
    all.selectAll().orderBy('id').limit(page.limit).offset(page.offset).execute(),
    all.select((is) => is.fn.countAll<number>().as('count')).executeTakeFirst(),
    db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).execute(),
    withCounts(db).where('milestones.repository_id', '=', repository.id).execute(),
  ]);
  const named = entries.flatMap(({ author, details }) => {
    const { assignee, resolver } = JSON.parse(details) as EntryDetails;
    return [author, ...(assignee === undefined ? [] : [assignee]), ...(resolver === undefined ? [] : [resolver])];
  });
  const person = await peopleOf(parts, call, named);
  const label = (id: number) => labels.find((each) => each.id === id);
  const milestone = (id: number) => milestones.find((each) => each.id === id);
  const place = placeOf(call, repository);
  return ok(
    entries.map((entry) => entryJson(entry, issue, place, { person, label, milestone })),
    listHeaders(call, page, Number(count?.count ?? 0)),
  );
}

async function listRepositoryComments(parts: IssueParts, call: Call): Promise<Answer> {
  const { db, issues } = parts;
  const { repository } = await repositoryAt(parts, call);
  const page = pageOf(call.query);
  const { since, before } = parseTimeRange(call);
  const all = db
    .selectFrom('issue_entries')
    .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
    .where('issues.repository_id', '=', repository.id)
    .where('issue_entries.kind', '=', 'comment')
    .where('issue_entries.updated_at', '>=', since)
    .where('issue_entries.updated_at', '<=', before);
  const [rows, count] = await Promise.all([
    all.selectAll('issue_entries').orderBy('issue_entries.id').limit(page.limit).offset(page.offset).execute(),
    all.select((is) => is.fn.countAll<number>().as('count')).executeTakeFirst(),
  ]);
  const known = new Map<number, Issue>();
  for (const { issue_id: id } of rows) {
    const issue = known.get(id) ?? (await issues.byId(id));
    if (issue !== undefined) known.set(id, issue);
  }
  const person = await peopleOf(
    parts,
    call,
    rows.map(({ author }) => author),
  );
  const files = await attachmentsOf(
    db,
    rows.map(({ id }) => id),
  );
  const place = placeOf(call, repository);
  const some = rows.flatMap((entry) => {
    const issue = known.get(entry.issue_id);
    return issue === undefined ? [] : [commentJson(entry, issue, place, person, files.get(entry.id))];
  });
  return ok(some, listHeaders(call, page, Number(count?.count ?? 0)));
}

async function readComment(parts: IssueParts, call: Call): Promise<Answer> {
  const { entry, issue, repository } = await commentAt(parts, call);
  return ok(await toCommentJson(parts, call, repository, issue, entry));
}

async function listComments(parts: IssueParts, call: Call): Promise<Answer> {
  const { db } = parts;
  const { repository, issue } = await issueAt(parts, call);
  const { since, before } = parseTimeRange(call);
  const rows = await db
    .selectFrom('issue_entries')
    .selectAll()
    .where('issue_id', '=', issue.id)
    .where('kind', '=', 'comment')
    .where('updated_at', '>=', since)
    .where('updated_at', '<=', before)
    .orderBy('id')
    .execute();
  const person = await peopleOf(
    parts,
    call,
    rows.map(({ author }) => author),
  );
  const files = await attachmentsOf(
    db,
    rows.map(({ id }) => id),
  );
  const place = placeOf(call, repository);
  // The peer gives them all at once.
  return ok(
    rows.map((entry) => commentJson(entry, issue, place, person, files.get(entry.id))),
    { 'X-Total-Count': rows.length, 'Access-Control-Expose-Headers': 'X-Total-Count' },
  );
}

async function addIssueComment(parts: IssueParts, call: Call): Promise<Answer> {
  const { writer } = parts;
  const { issue, level, repository } = await issueAt(parts, call);
  needOpen(repository);
  if (issue.locked === 1 && !mayWrite(level)) throw new Problem('git.locked', 403, 'The conversation is locked.');
  const { body } = await bodyOf(call, commentBody);
  const id = await writer.run(repository, accountOf(call), (work) => addComment(work, issue, body));
  const entry = await findEntry(parts, call, id);
  if (entry === undefined) throw unknown();
  return created(await toCommentJson(parts, call, repository, issue, entry));
}
