import { z } from 'zod';
import { parseLabelColor } from '../../domain/issue-text.ts';
import { setLabels } from '../../issues/changes.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { LabelRow } from '../../store/issue-tables.ts';
import { labelJson } from '../../wire/issues.ts';
import {
  getAccount,
  addCompleteIssue,
  readJsonBody,
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
import { listHeaders, parseId, parsePage, getPageItems } from '../paging.ts';
import { getRepositoryAddress } from '../repository-requests.ts';
import type { Db } from '../../store/tables.ts';
import { resolveLabelIds } from './fields.ts';
import { getIssue, requireWrite, getIssueRepository } from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

const color = z.string().transform((text, context) => {
  const result = parseLabelColor(text);
  if (result === undefined) addCompleteIssue(context, `[Color]: '${text}' is not a valid color code`);
  return result ?? '';
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

/** Builds the routes of labels of repositories and issues. */
export function labelRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/labels', 'issue', (call) => listLabels(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/labels', 'issue', (call) => createLabel(deps, call)),
    route('GET', '/repos/:owner/:repo/labels/:id', 'issue', (call) => readLabel(deps, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo/labels/:id', 'issue', (call) => changeLabel(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/labels/:id', 'issue', (call) => deleteLabel(deps, call)),
    route('GET', '/repos/:owner/:repo/issues/:index/labels', 'issue', (call) => listIssueLabels(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues/:index/labels', 'issue', async (call) =>
      ok(await changeIssueLabels(deps, call, (before, input) => [...before, ...input])),
    ),
    signedInRoute('PUT', '/repos/:owner/:repo/issues/:index/labels', 'issue', async (call) =>
      ok(await changeIssueLabels(deps, call, (_had, input) => input)),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index/labels', 'issue', (call) =>
      clearIssueLabels(deps, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index/labels/:label', 'issue', (call) =>
      removeIssueLabel(deps, call),
    ),
  ];
}

function findLabels({ storage: { db } }: Dependencies, repository: Repository) {
  return db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).orderBy('name').execute();
}

async function getLabel(deps: Dependencies, call: Call): Promise<{ repository: Repository; label: LabelRow }> {
  const { db } = deps.storage;
  const target = await getIssueRepository(deps.accessControl, call);
  if (call.method !== 'GET' && call.method !== 'HEAD') requireWrite(target);
  const label = await db
    .selectFrom('labels')
    .selectAll()
    .where('repository_id', '=', target.repository.id)
    .where('id', '=', parseId(call.params['id']))
    .executeTakeFirst();
  if (label === undefined) throw buildNotFoundProblem();
  return { repository: target.repository, label };
}

async function getLabelJson({ storage: { db } }: Dependencies, call: Call, repository: Repository, id: number) {
  const row = await db.selectFrom('labels').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw buildNotFoundProblem();
  return labelJson(row, getRepositoryAddress(call, repository));
}

/** Replaces the labels of an issue with the result of `change` and returns them. */
async function changeIssueLabels(
  deps: Dependencies,
  call: Call,
  change: (before: readonly number[], input: readonly number[]) => readonly number[],
  input?: readonly (number | string)[],
) {
  const { issues, writer } = deps.collaboration;
  const target = await getIssue(deps, call);
  requireWrite(target);
  const { issue, repository } = target;
  const requested = await resolveLabelIds(
    deps.storage,
    repository,
    input ?? (await readJsonBody(call, labelsBody)).labels ?? [],
  );
  const current = issue.labels.map(({ id }) => id);
  await writer.run(repository, getAccount(call), (work) => setLabels(work, issue, change(current, requested)));
  const labels = (await issues.findById(issue.id))?.labels ?? [];
  return labels.map((label) => labelJson(label, getRepositoryAddress(call, repository)));
}

async function listLabels(deps: Dependencies, call: Call): Promise<Answer> {
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const all = await findLabels(deps, repository);
  const page = parsePage(call.query);
  const labels = getPageItems(all, page).map((label) => labelJson(label, getRepositoryAddress(call, repository)));
  return ok(labels, listHeaders(call, page, all.length));
}

async function createLabel(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const target = await getIssueRepository(deps.accessControl, call);
  requireWrite(target);
  const input = await readJsonBody(call, labelBody);
  const { id } = await context.commit((transaction: Db) =>
    transaction
      .insertInto('labels')
      .values({
        repository_id: target.repository.id,
        name: input.name,
        color: input.color,
        description: input.description ?? '',
        exclusive: Number(input.exclusive ?? false),
        archived: Number(input.is_archived ?? false),
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return created(await getLabelJson(deps, call, target.repository, id));
}

async function readLabel(deps: Dependencies, call: Call): Promise<Answer> {
  const { label, repository } = await getLabel(deps, call);
  return ok(labelJson(label, getRepositoryAddress(call, repository)));
}

async function changeLabel(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { label, repository } = await getLabel(deps, call);
  const input = await readJsonBody(call, changeBody);
  const set = {
    name: input.name ?? label.name,
    color: input.color ?? label.color,
    description: input.description ?? label.description,
    exclusive: input.exclusive === undefined ? label.exclusive : Number(input.exclusive),
    archived: input.is_archived === undefined ? label.archived : Number(input.is_archived),
  };
  await context.commit((transaction: Db) =>
    transaction.updateTable('labels').set(set).where('id', '=', label.id).execute(),
  );
  return ok(await getLabelJson(deps, call, repository, label.id));
}

async function deleteLabel(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { label } = await getLabel(deps, call);
  await context.commit((transaction: Db) => transaction.deleteFrom('labels').where('id', '=', label.id).execute());
  return noContent;
}

async function listIssueLabels(deps: Dependencies, call: Call): Promise<Answer> {
  const { issue, repository } = await getIssue(deps, call);
  return ok(issue.labels.map((label) => labelJson(label, getRepositoryAddress(call, repository))));
}

async function clearIssueLabels(deps: Dependencies, call: Call): Promise<Answer> {
  await changeIssueLabels(deps, call, () => [], []);
  return noContent;
}

async function removeIssueLabel(deps: Dependencies, call: Call): Promise<Answer> {
  const label = call.params['label'] ?? '';
  const requested = /^\d{1,15}$/.test(label) ? Number(label) : label;
  await changeIssueLabels(deps, call, (current, [removed]) => current.filter((id) => id !== removed), [requested]);
  return noContent;
}
