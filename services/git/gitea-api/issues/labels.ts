import { z } from 'zod';
import { labelColor } from '../../domain/issue-text.ts';
import { setLabels } from '../../issues/changes.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { LabelRow } from '../../store/issue-tables.ts';
import { labelJson } from '../../wire/issues.ts';
import {
  accountOf,
  addCompleteIssue,
  bodyOf,
  created,
  noContent,
  ok,
  optional,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { listHeaders, numberOf, pageOf, partOf } from '../paging.ts';
import { placeOf, type Db } from '../api-dependencies.ts';
import { labelIdsOf } from './fields.ts';
import { issueAt, needWrite, repositoryAt, type IssueParts } from './issue-access.ts';

const color = z.string().transform((text, context) => {
  const found = labelColor(text);
  if (found === undefined) addCompleteIssue(context, `[Color]: '${text}' is not a valid color code`);
  return found ?? '';
});
const labelBody = z.object({
  name: required.max(50, 'MaxSize'),
  color,
  description: optional(z.string().max(200, 'MaxSize')),
  exclusive: optional(z.boolean()),
  is_archived: optional(z.boolean()),
});
const changeBody = labelBody.partial();
const labelsBody = z.object({ labels: optional(z.array(z.union([z.int(), z.string()]))) });

/** The labels of a repository, and those on an issue. */
export function labelRoutes(parts: IssueParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/labels', 'issue', (call) => listLabels(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/labels', 'issue', (call) => createLabel(parts, call)),
    route('GET', '/repos/:owner/:repo/labels/:id', 'issue', (call) => readLabel(parts, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo/labels/:id', 'issue', (call) => changeLabel(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/labels/:id', 'issue', (call) => deleteLabel(parts, call)),
    route('GET', '/repos/:owner/:repo/issues/:index/labels', 'issue', (call) => listIssueLabels(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues/:index/labels', 'issue', async (call) =>
      ok(await changeIssueLabels(parts, call, (had, asked) => [...had, ...asked])),
    ),
    signedInRoute('PUT', '/repos/:owner/:repo/issues/:index/labels', 'issue', async (call) =>
      ok(await changeIssueLabels(parts, call, (_had, asked) => asked)),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index/labels', 'issue', (call) =>
      clearIssueLabels(parts, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index/labels/:label', 'issue', (call) =>
      removeIssueLabel(parts, call),
    ),
  ];
}

function findLabels({ db }: IssueParts, repository: Repository) {
  return db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).orderBy('name').execute();
}

async function getLabel(parts: IssueParts, call: Call): Promise<{ repository: Repository; label: LabelRow }> {
  const { db } = parts;
  const place = await repositoryAt(parts, call);
  if (call.method !== 'GET' && call.method !== 'HEAD') needWrite(place);
  const label = await db
    .selectFrom('labels')
    .selectAll()
    .where('repository_id', '=', place.repository.id)
    .where('id', '=', numberOf(call.params['id']))
    .executeTakeFirst();
  if (label === undefined) throw unknown();
  return { repository: place.repository, label };
}

async function getLabelJson({ db }: IssueParts, call: Call, repository: Repository, id: number) {
  const row = await db.selectFrom('labels').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw unknown();
  return labelJson(row, placeOf(call, repository));
}

/** Those on an issue after `change` was made of those it had. */
async function changeIssueLabels(
  parts: IssueParts,
  call: Call,
  change: (had: readonly number[], asked: readonly number[]) => readonly number[],
  asked?: readonly (number | string)[],
) {
  const { issues, writer } = parts;
  const place = await issueAt(parts, call);
  needWrite(place);
  const { issue, repository } = place;
  const wanted = await labelIdsOf(parts, repository, asked ?? (await bodyOf(call, labelsBody)).labels ?? []);
  const had = issue.labels.map(({ id }) => id);
  await writer.run(repository, accountOf(call), (work) => setLabels(work, issue, change(had, wanted)));
  const labels = (await issues.byId(issue.id))?.labels ?? [];
  return labels.map((label) => labelJson(label, placeOf(call, repository)));
}

async function listLabels(parts: IssueParts, call: Call): Promise<Answer> {
  const { repository } = await repositoryAt(parts, call);
  const all = await findLabels(parts, repository);
  const page = pageOf(call.query);
  const some = partOf(all, page).map((label) => labelJson(label, placeOf(call, repository)));
  return ok(some, listHeaders(call, page, all.length));
}

async function createLabel(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const place = await repositoryAt(parts, call);
  needWrite(place);
  const asked = await bodyOf(call, labelBody);
  const { id } = await context.commit((transaction: Db) =>
    transaction
      .insertInto('labels')
      .values({
        repository_id: place.repository.id,
        name: asked.name,
        color: asked.color,
        description: asked.description ?? '',
        exclusive: Number(asked.exclusive ?? false),
        archived: Number(asked.is_archived ?? false),
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return created(await getLabelJson(parts, call, place.repository, id));
}

async function readLabel(parts: IssueParts, call: Call): Promise<Answer> {
  const { label, repository } = await getLabel(parts, call);
  return ok(labelJson(label, placeOf(call, repository)));
}

async function changeLabel(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const { label, repository } = await getLabel(parts, call);
  const asked = await bodyOf(call, changeBody);
  const set = {
    name: asked.name ?? label.name,
    color: asked.color ?? label.color,
    description: asked.description ?? label.description,
    exclusive: asked.exclusive === undefined ? label.exclusive : Number(asked.exclusive),
    archived: asked.is_archived === undefined ? label.archived : Number(asked.is_archived),
  };
  await context.commit((transaction: Db) =>
    transaction.updateTable('labels').set(set).where('id', '=', label.id).execute(),
  );
  return ok(await getLabelJson(parts, call, repository, label.id));
}

async function deleteLabel(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const { label } = await getLabel(parts, call);
  await context.commit((transaction: Db) => transaction.deleteFrom('labels').where('id', '=', label.id).execute());
  return noContent;
}

async function listIssueLabels(parts: IssueParts, call: Call): Promise<Answer> {
  const { issue, repository } = await issueAt(parts, call);
  return ok(issue.labels.map((label) => labelJson(label, placeOf(call, repository))));
}

async function clearIssueLabels(parts: IssueParts, call: Call): Promise<Answer> {
  await changeIssueLabels(parts, call, () => [], []);
  return noContent;
}

async function removeIssueLabel(parts: IssueParts, call: Call): Promise<Answer> {
  const asked = call.params['label'] ?? '';
  const wanted = /^\d{1,15}$/.test(asked) ? Number(asked) : asked;
  await changeIssueLabels(parts, call, (had, [gone]) => had.filter((id) => id !== gone), [wanted]);
  return noContent;
}
