import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolve } from '../repositories/revisions.ts';
import { combined, statusStates } from '../statuses/statuses.ts';
import type { StatusRow } from '../store/statuses.ts';
import { timeOf } from '../wire/time.ts';
import { userOf } from '../wire/users.ts';
import {
  accountOf,
  bodyOf,
  created,
  ok,
  optional,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, placeOf, shown, type RestParts } from './api-dependencies.ts';

const statusBody = z.object({
  state: z.enum(statusStates, 'In'),
  target_url: optional(z.string().max(2048)),
  description: optional(z.string()),
  context: optional(z.string().max(255)),
});
const scope = 'repository' as const;

/** What builds and checks say of commits. */
export function statusRoutes(parts: RestParts): readonly Route[] {
  return [
    signedInRoute('POST', '/repos/:owner/:repo/statuses/:ref', scope, (call) => createStatus(parts, call)),
    route('GET', '/repos/:owner/:repo/statuses/:ref', scope, (call) => listStatuses(parts, call)),
    route('GET', '/repos/:owner/:repo/commits/*ref/statuses', scope, (call) => listStatuses(parts, call)),
    route('GET', '/repos/:owner/:repo/commits/*ref/status', scope, (call) => readCombinedStatus(parts, call)),
  ];
}

async function getCommit({ keeper, lookup, objects }: RestParts, call: Call, needed: 'read' | 'write') {
  const repository = await lookup.need(call.visitor, named(call), needed);
  const revision = await resolve(objects, keeper.folder(repository), repository, call.params['ref']);
  if (revision === undefined) throw unknown();
  return { repository, commit: revision.commit };
}

async function statusesJson({ owners }: RestParts, call: Call, full: string, some: readonly StatusRow[]) {
  return Promise.all(
    some.map(async ({ id, account, commit_id, context, created_at, description, state, target_url }) => ({
      ...{ id, status: state, target_url, description, context },
      url: `${call.base}/api/v1/repos/${full}/statuses/${commit_id}`,
      creator: userOf(await owners.ofAccount(account), call.base),
      ...{ created_at: timeOf(created_at), updated_at: timeOf(created_at) },
    })),
  );
}

async function listStatuses(parts: RestParts, call: Call) {
  const { statuses } = parts;
  const { repository, commit } = await getCommit(parts, call, 'read');
  const page = pageOf(call.query);
  const wanted = call.query.get('state') ?? '';
  const rows = (await statuses.list(repository.id, commit)).filter(({ state }) => wanted === '' || state === wanted);
  const sorted = call.query.get('sort') === 'leastindex' ? rows.toReversed() : rows;
  return ok(
    await statusesJson(parts, call, placeOf(call, repository).full, partOf(sorted, page)),
    listHeaders(call, page, rows.length),
  );
}

async function createStatus(parts: RestParts, call: Call): Promise<Answer> {
  const { statuses } = parts;
  const { repository, commit } = await getCommit(parts, call, 'write');
  const asked = await bodyOf(call, statusBody);
  if (repository.archived) throw new Problem('git.archived', 423, `repo ${placeOf(call, repository).full} is archived`);
  const row = await statuses.add(repository.id, {
    ...{ commit_id: commit, state: asked.state, account: accountOf(call) },
    context: asked.context === undefined || asked.context === '' ? 'default' : asked.context,
    target_url: asked.target_url ?? '',
    description: (asked.description ?? '').slice(0, 1000),
  });
  const [made] = await statusesJson(parts, call, placeOf(call, repository).full, [row]);
  return created(made);
}

async function readCombinedStatus(parts: RestParts, call: Call): Promise<Answer> {
  const { access, statuses } = parts;
  const { repository, commit } = await getCommit(parts, call, 'read');
  const latest = await statuses.latest(repository.id, commit);
  const { full } = placeOf(call, repository);
  const page = pageOf(call.query);
  return ok(
    {
      state: combined(latest) ?? '',
      sha: commit,
      total_count: latest.length,
      statuses: await statusesJson(parts, call, full, partOf(latest, page)),
      repository: await shown(parts, call, repository, await access.level(call.visitor, repository)),
      commit_url: `${call.base}/api/v1/repos/${full}/commits/${commit}`,
      url: `${call.base}/api/v1/repos/${full}/commits/${commit}/status`,
    },
    listHeaders(call, page, latest.length),
  );
}
