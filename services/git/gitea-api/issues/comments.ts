import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { addComment, editComment, removeComment } from '../../issues/changes.ts';
import { Attachments, listAttachments } from '../../issues/attachments.ts';
import type { Issue } from '../../issues/issues.ts';
import { findHiddenEntries, type VisibleEntries } from '../../issues/entry-sources.ts';
import { isVisibleTo } from '../../issues/entry-visibility.ts';
import { selectMilestones } from '../../issues/milestones.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { EntryDetails, EntryRow } from '../../store/issue-tables.ts';
import { listAccountNames } from '../../issues/account-names.ts';
import { commentJson, entryJson, issueJson } from '../../wire/issues.ts';
import {
  getAccount,
  readJsonBody,
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
import { listHeaders, parsePage } from '../paging.ts';
import { getRepositoryAddress } from '../repository-requests.ts';
import { readUsers } from '../../wire/read-users.ts';
import {
  getComment,
  getIssue,
  mayWrite,
  requireNotArchived,
  getIssueRepository,
  findVisibleEntry,
  parseTime,
} from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

const commentBody = z.object({ body: required });

/** Builds the routes of comments and timelines. */
export function commentRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/issues/comments', 'issue', (call) => listRepositoryComments(deps, call)),
    route('GET', '/repos/:owner/:repo/issues/comments/:id', 'issue', (call) => readComment(deps, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo/issues/comments/:id', 'issue', (call) => changeComment(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/comments/:id', 'issue', (call) => deleteComment(deps, call)),
    // Older paths of the same routes in Gitea.
    signedInRoute('PATCH', '/repos/:owner/:repo/issues/:index/comments/:id', 'issue', (call) =>
      changeComment(deps, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index/comments/:id', 'issue', (call) =>
      deleteComment(deps, call),
    ),
    route('GET', '/repos/:owner/:repo/issues/:index/comments', 'issue', (call) => listComments(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues/:index/comments', 'issue', (call) => addIssueComment(deps, call)),
    route('GET', '/repos/:owner/:repo/issues/:index/timeline', 'issue', (call) => readTimeline(deps, call)),
  ];
}

async function toCommentJson(deps: Dependencies, call: Call, repository: Repository, issue: Issue, entry: EntryRow) {
  const { db } = deps.storage;
  return commentJson(
    entry,
    issue,
    getRepositoryAddress(call, repository),
    await readUsers(deps, call, [entry.author]),
    (await listAttachments(db, [entry.id])).get(entry.id),
  );
}

async function getChangeableComment(deps: Dependencies, call: Call) {
  const result = await getComment(deps, call);
  requireNotArchived(result.repository);
  if (result.entry.author === getAccount(call) || mayWrite(result.level)) return result;
  throw new Problem('git.forbidden', 403, 'This comment belongs to another account.');
}

function parseTimeRange({ query }: Call) {
  return {
    since: parseTime(query.get('since')) ?? 0,
    before: parseTime(query.get('before')) ?? Number.MAX_SAFE_INTEGER,
  };
}

async function changeComment(deps: Dependencies, call: Call): Promise<Answer> {
  const { writer } = deps.collaboration;
  const { entry, issue, repository } = await getChangeableComment(deps, call);
  const { body } = await readJsonBody(call, commentBody);
  await writer.run(repository, getAccount(call), (work) => editComment(work, issue, entry.id, body));
  const changed = await findVisibleEntry(deps.storage, call, entry.id);
  if (changed === undefined) throw buildNotFoundProblem();
  return ok(await toCommentJson(deps, call, repository, issue, changed));
}

async function deleteComment(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { writer } = deps.collaboration;
  const attachments = new Attachments(context);

  const { entry, issue, repository } = await getChangeableComment(deps, call);
  const files = await attachments.listAll(issue.id, entry.id);
  await writer.run(repository, getAccount(call), (work) => removeComment(work, issue, entry.id));
  await attachments.deleteFiles(repository, files);
  return noContent;
}

async function readTimeline(deps: Dependencies, call: Call): Promise<Answer> {
  const { db, repositories } = deps.storage;
  const { repository, issue } = await getIssue(deps, call);
  const page = parsePage(call.query);
  const { since, before } = parseTimeRange(call);
  const { access } = deps.accessControl;
  const { hiddenIds, sources } = await findHiddenEntries({ access, repositories }, db, call.caller, issue.id);
  const all = db
    .selectFrom('issue_entries')
    .where('issue_id', '=', issue.id)
    .where('updated_at', '>=', since)
    .where('updated_at', '<=', before)
    .$if(hiddenIds.length > 0, (query) => query.where('id', 'not in', hiddenIds))
    .where(isVisibleTo(call.caller.identity?.account));
  const [entries, count, labels, milestones] = await Promise.all([
    all.selectAll().orderBy('id').limit(page.limit).offset(page.offset).execute(),
    all.select((is) => is.fn.countAll<number>().as('count')).executeTakeFirst(),
    db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).execute(),
    selectMilestones(db).where('milestones.repository_id', '=', repository.id).execute(),
  ]);
  const references = await readReferences(deps, repository, { entries, sources });
  const accountNames = entries.flatMap(({ author, details }) => {
    const { assignee, resolver } = JSON.parse(details) as EntryDetails;
    return [author, ...(assignee === undefined ? [] : [assignee]), ...(resolver === undefined ? [] : [resolver])];
  });
  const toUser = await readUsers(deps, call, [...accountNames, ...listAccountNames([...references.values()])]);
  const label = (id: number) => labels.find((each) => each.id === id);
  const milestone = (id: number) => milestones.find((each) => each.id === id);
  const address = getRepositoryAddress(call, repository);
  const reference = (number: number, sourceId = repository.id): unknown => {
    const issue = references.get(`${String(sourceId)}#${String(number)}`);
    const source = sourceId === repository.id ? repository : sources.get(sourceId);
    if (issue === undefined || source === undefined) return null;
    return issueJson(issue, source, getRepositoryAddress(call, source), toUser);
  };
  return ok(
    entries.map((entry) => entryJson(entry, issue, address, { toUser, label, milestone, reference })),
    listHeaders(call, page, Number(count?.count ?? 0)),
  );
}

/** Reads the issues that refer to an issue, by the ID of their repository and their number. */
async function readReferences(
  { collaboration: { issues } }: Dependencies,
  { id }: Repository,
  { entries }: VisibleEntries<EntryRow>,
): Promise<ReadonlyMap<string, Issue>> {
  const references = new Map<string, Issue>();
  for (const { details } of entries) {
    const { reference, repository = id } = JSON.parse(details) as EntryDetails;
    if (reference === undefined) continue;
    const key = `${String(repository)}#${String(reference)}`;
    const issue = references.get(key) ?? (await issues.find(repository, reference));
    if (issue !== undefined) references.set(key, issue);
  }
  return references;
}

async function listRepositoryComments(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { issues } = deps.collaboration;
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const page = parsePage(call.query);
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
  const issuesById = new Map<number, Issue>();
  for (const { issue_id: id } of rows) {
    const issue = issuesById.get(id) ?? (await issues.findById(id));
    if (issue !== undefined) issuesById.set(id, issue);
  }
  const toUser = await readUsers(
    deps,
    call,
    rows.map(({ author }) => author),
  );
  const files = await listAttachments(
    db,
    rows.map(({ id }) => id),
  );
  const address = getRepositoryAddress(call, repository);
  const views = rows.flatMap((entry) => {
    const issue = issuesById.get(entry.issue_id);
    return issue === undefined ? [] : [commentJson(entry, issue, address, toUser, files.get(entry.id))];
  });
  return ok(views, listHeaders(call, page, Number(count?.count ?? 0)));
}

async function readComment(deps: Dependencies, call: Call): Promise<Answer> {
  const { entry, issue, repository } = await getComment(deps, call);
  return ok(await toCommentJson(deps, call, repository, issue, entry));
}

async function listComments(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { repository, issue } = await getIssue(deps, call);
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
  const toUser = await readUsers(
    deps,
    call,
    rows.map(({ author }) => author),
  );
  const files = await listAttachments(
    db,
    rows.map(({ id }) => id),
  );
  const address = getRepositoryAddress(call, repository);
  // Gitea does not page this list.
  return ok(
    rows.map((entry) => commentJson(entry, issue, address, toUser, files.get(entry.id))),
    { 'X-Total-Count': rows.length, 'Access-Control-Expose-Headers': 'X-Total-Count' },
  );
}

async function addIssueComment(deps: Dependencies, call: Call): Promise<Answer> {
  const { writer } = deps.collaboration;
  const { issue, level, repository } = await getIssue(deps, call);
  requireNotArchived(repository);
  if (issue.locked === 1 && !mayWrite(level)) throw new Problem('git.locked', 403, 'The conversation is locked.');
  const { body } = await readJsonBody(call, commentBody);
  const id = await writer.run(repository, getAccount(call), (work) => addComment(work, issue, body));
  const entry = await findVisibleEntry(deps.storage, call, id);
  if (entry === undefined) throw buildNotFoundProblem();
  return created(await toCommentJson(deps, call, repository, issue, entry));
}
