import { z } from 'zod';
import { listRepositoryMilestones, selectMilestones, type Milestone } from '../../issues/milestones.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import { milestoneJson } from '../../wire/issues.ts';
import {
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
import { listHeaders, parsePage, getPageItems } from '../paging.ts';
import type { Db } from '../../store/tables.ts';
import { parseClosedState } from './fields.ts';
import { requireWrite, getIssueRepository, parseTime } from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

const milestoneBody = z.object({
  title: required.max(255, 'MaxSize'),
  description: optional(z.string()),
  due_on: optional(z.string()),
  state: optional(z.string()),
});
const changeBody = milestoneBody.partial();

/** Builds the routes of milestones. */
export function milestoneRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/milestones', 'issue', (call) => listMilestones(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/milestones', 'issue', (call) => createMilestone(deps, call)),
    route('GET', '/repos/:owner/:repo/milestones/:id', 'issue', async (call) =>
      ok(milestoneJson(await getMilestone(deps, call))),
    ),
    signedInRoute('PATCH', '/repos/:owner/:repo/milestones/:id', 'issue', (call) => changeMilestone(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/milestones/:id', 'issue', (call) => deleteMilestone(deps, call)),
  ];
}

/** Returns a milestone by ID or title. @throws Problem (404) */
async function getMilestone(deps: Dependencies, call: Call): Promise<Milestone> {
  const { db } = deps.storage;
  const target = await getIssueRepository(deps.accessControl, call);
  if (call.method !== 'GET' && call.method !== 'HEAD') requireWrite(target);
  const input = call.params['id'] ?? '';
  const all = selectMilestones(db).where('milestones.repository_id', '=', target.repository.id);
  const byId = /^\d{1,15}$/.test(input)
    ? await all.where('milestones.id', '=', Number(input)).executeTakeFirst()
    : undefined;
  const result = byId ?? (await all.where('milestones.title', '=', input).executeTakeFirst());
  if (result === undefined) throw buildNotFoundProblem();
  return result;
}

async function getMilestoneJson({ storage: { db } }: Dependencies, id: number) {
  return milestoneJson(await selectMilestones(db).where('milestones.id', '=', id).executeTakeFirstOrThrow());
}

async function listMilestones(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const state = call.query.get('state');
  const name = (call.query.get('name') ?? '').toLowerCase();
  const closed = state === 'all' ? undefined : state === 'closed';
  const all = (await listRepositoryMilestones(db, repository.id, closed)).filter(({ title }) =>
    title.toLowerCase().includes(name),
  );
  const page = parsePage(call.query);
  return ok(
    getPageItems(all, page).map((milestone) => milestoneJson(milestone)),
    listHeaders(call, page, all.length),
  );
}

async function createMilestone(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const target = await getIssueRepository(deps.accessControl, call);
  requireWrite(target);
  const input = await readJsonBody(call, milestoneBody);
  const now = context.clock.now();
  const closed = parseClosedState(input.state) === true;
  const dueAt = parseTime(input.due_on) ?? null;
  const { id } = await context.commit((transaction: Db) =>
    transaction
      .insertInto('milestones')
      .values({
        repository_id: target.repository.id,
        title: input.title,
        description: input.description ?? '',
        closed: Number(closed),
        due_at: dueAt,
        created_at: now,
        updated_at: now,
        closed_at: closed ? now : null,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return created(await getMilestoneJson(deps, id));
}

async function changeMilestone(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const result = await getMilestone(deps, call);
  const input = await readJsonBody(call, changeBody);
  const now = context.clock.now();
  const closed = parseClosedState(input.state) ?? result.closed === 1;
  const set = {
    title: input.title ?? result.title,
    description: input.description ?? result.description,
    due_at: parseTime(input.due_on) ?? result.due_at,
    closed: Number(closed),
    closed_at: closed ? (result.closed_at ?? now) : null,
    updated_at: now,
  };
  await context.commit((transaction: Db) =>
    transaction.updateTable('milestones').set(set).where('id', '=', result.id).execute(),
  );
  return ok(await getMilestoneJson(deps, result.id));
}

async function deleteMilestone(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { id } = await getMilestone(deps, call);
  await context.commit((transaction: Db) => transaction.deleteFrom('milestones').where('id', '=', id).execute());
  return noContent;
}
