import { z } from 'zod';
import { milestonesOf, withCounts, type Milestone } from '../../issues/milestones.ts';
import { unknown } from '../../repositories/lookup.ts';
import { milestoneJson } from '../../wire/issues.ts';
import {
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
import { listHeaders, pageOf, partOf } from '../paging.ts';
import type { Db } from '../api-dependencies.ts';
import { isClosedState } from './fields.ts';
import { needWrite, repositoryAt, timeAt, type IssueParts } from './issue-access.ts';

const milestoneBody = z.object({
  title: required.max(255, 'MaxSize'),
  description: optional(z.string()),
  due_on: optional(z.string()),
  state: optional(z.string()),
});
const changeBody = milestoneBody.partial();

/** The milestones of a repository. */
export function milestoneRoutes(parts: IssueParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/milestones', 'issue', (call) => listMilestones(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/milestones', 'issue', (call) => createMilestone(parts, call)),
    route('GET', '/repos/:owner/:repo/milestones/:id', 'issue', async (call) =>
      ok(milestoneJson(await getMilestone(parts, call))),
    ),
    signedInRoute('PATCH', '/repos/:owner/:repo/milestones/:id', 'issue', (call) => changeMilestone(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/milestones/:id', 'issue', (call) => deleteMilestone(parts, call)),
  ];
}

/** By its number, or by its title. */
async function getMilestone(parts: IssueParts, call: Call): Promise<Milestone> {
  const { db } = parts;
  const place = await repositoryAt(parts, call);
  if (call.method !== 'GET' && call.method !== 'HEAD') needWrite(place);
  const asked = call.params['id'] ?? '';
  const all = withCounts(db).where('milestones.repository_id', '=', place.repository.id);
  const byId = /^\d{1,15}$/.test(asked)
    ? await all.where('milestones.id', '=', Number(asked)).executeTakeFirst()
    : undefined;
  const found = byId ?? (await all.where('milestones.title', '=', asked).executeTakeFirst());
  if (found === undefined) throw unknown();
  return found;
}

async function getMilestoneJson({ db }: IssueParts, id: number) {
  return milestoneJson(await withCounts(db).where('milestones.id', '=', id).executeTakeFirstOrThrow());
}

async function listMilestones(parts: IssueParts, call: Call): Promise<Answer> {
  const { db } = parts;
  const { repository } = await repositoryAt(parts, call);
  const state = call.query.get('state');
  const name = (call.query.get('name') ?? '').toLowerCase();
  const closed = state === 'all' ? undefined : state === 'closed';
  const all = (await milestonesOf(db, repository.id, closed)).filter(({ title }) => title.toLowerCase().includes(name));
  const page = pageOf(call.query);
  return ok(
    partOf(all, page).map((milestone) => milestoneJson(milestone)),
    listHeaders(call, page, all.length),
  );
}

async function createMilestone(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const place = await repositoryAt(parts, call);
  needWrite(place);
  const asked = await bodyOf(call, milestoneBody);
  const now = context.clock.now();
  const closed = isClosedState(asked.state) === true;
  const dueAt = timeAt(asked.due_on) ?? null;
  const { id } = await context.commit((transaction: Db) =>
    transaction
      .insertInto('milestones')
      .values({
        repository_id: place.repository.id,
        title: asked.title,
        description: asked.description ?? '',
        closed: Number(closed),
        due_at: dueAt,
        created_at: now,
        updated_at: now,
        closed_at: closed ? now : null,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return created(await getMilestoneJson(parts, id));
}

async function changeMilestone(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const found = await getMilestone(parts, call);
  const asked = await bodyOf(call, changeBody);
  const now = context.clock.now();
  const closed = isClosedState(asked.state) ?? found.closed === 1;
  const set = {
    title: asked.title ?? found.title,
    description: asked.description ?? found.description,
    due_at: timeAt(asked.due_on) ?? found.due_at,
    closed: Number(closed),
    closed_at: closed ? (found.closed_at ?? now) : null,
    updated_at: now,
  };
  await context.commit((transaction: Db) =>
    transaction.updateTable('milestones').set(set).where('id', '=', found.id).execute(),
  );
  return ok(await getMilestoneJson(parts, found.id));
}

async function deleteMilestone(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const { id } = await getMilestone(parts, call);
  await context.commit((transaction: Db) => transaction.deleteFrom('milestones').where('id', '=', id).execute());
  return noContent;
}
