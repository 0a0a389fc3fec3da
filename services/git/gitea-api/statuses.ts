import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { combineStates, statusStates } from '../statuses/statuses.ts';
import type { StatusRow } from '../store/statuses.ts';
import { formatTime } from '../wire/time.ts';
import { toUserJson } from '../wire/users.ts';
import {
  getAccount,
  readJsonBody,
  created,
  ok,
  optional,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, getRepositoryAddress, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

const statusBody = z.object({
  state: z.enum(statusStates, 'In'),
  target_url: optional(z.string().max(2048)),
  description: optional(z.string()),
  context: optional(z.string().max(255)),
});
const scope = 'repository' as const;

/** Builds the routes of commit statuses. */
export function statusRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('POST', '/repos/:owner/:repo/statuses/:ref', scope, (call) => createStatus(deps, call)),
    route('GET', '/repos/:owner/:repo/statuses/:ref', scope, (call) => listStatuses(deps, call)),
    route('GET', '/repos/:owner/:repo/commits/*ref/statuses', scope, (call) => listStatuses(deps, call)),
    route('GET', '/repos/:owner/:repo/commits/*ref/status', scope, (call) => readCombinedStatus(deps, call)),
  ];
}

async function getCommit(
  { storage: { manager, objects }, accessControl: { lookup } }: Dependencies,
  call: Call,
  requiredAccess: 'read' | 'write',
) {
  const repository = await lookup.require(call.caller, getRepositoryName(call), requiredAccess);
  const revision = await resolveRevision(objects, manager.getFolder(repository), repository, call.params['ref']);
  if (revision === undefined) throw buildNotFoundProblem();
  return { repository, commit: revision.commit };
}

async function statusesJson(
  { storage: { owners } }: Dependencies,
  call: Call,
  full: string,
  pageItems: readonly StatusRow[],
) {
  return Promise.all(
    pageItems.map(async ({ id, account, commit_id, context, created_at, description, state, target_url }) => ({
      id,
      status: state,
      target_url,
      description,
      context,
      url: `${call.base}/api/v1/repos/${full}/statuses/${commit_id}`,
      creator: toUserJson(await owners.getForAccount(account), call.base),
      created_at: formatTime(created_at),
      updated_at: formatTime(created_at),
    })),
  );
}

async function listStatuses(deps: Dependencies, call: Call) {
  const { statuses } = deps.collaboration;
  const { repository, commit } = await getCommit(deps, call, 'read');
  const page = parsePage(call.query);
  const requested = call.query.get('state') ?? '';
  const rows = (await statuses.list(repository.id, commit)).filter(
    ({ state }) => requested === '' || state === requested,
  );
  const sorted = call.query.get('sort') === 'leastindex' ? rows.toReversed() : rows;
  return ok(
    await statusesJson(deps, call, getRepositoryAddress(call, repository).full, getPageItems(sorted, page)),
    listHeaders(call, page, rows.length),
  );
}

async function createStatus(deps: Dependencies, call: Call): Promise<Answer> {
  const { statuses } = deps.collaboration;
  const { repository, commit } = await getCommit(deps, call, 'write');
  const input = await readJsonBody(call, statusBody);
  if (repository.archived)
    throw new Problem('git.archived', 423, `repo ${getRepositoryAddress(call, repository).full} is archived`);
  const row = await statuses.add(repository.id, {
    commit_id: commit,
    state: input.state,
    account: getAccount(call),
    context: input.context === undefined || input.context === '' ? 'default' : input.context,
    target_url: input.target_url ?? '',
    description: (input.description ?? '').slice(0, 1000),
  });
  const [createdStatus] = await statusesJson(deps, call, getRepositoryAddress(call, repository).full, [row]);
  return created(createdStatus);
}

async function readCombinedStatus(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { statuses } = deps.collaboration;
  const { repository, commit } = await getCommit(deps, call, 'read');
  const latest = await statuses.latest(repository.id, commit);
  const { full } = getRepositoryAddress(call, repository);
  const page = parsePage(call.query);
  return ok(
    {
      state: combineStates(latest) ?? '',
      sha: commit,
      total_count: latest.length,
      statuses: await statusesJson(deps, call, full, getPageItems(latest, page)),
      repository: await toRepositoryView(deps, call, repository, await access.getLevel(call.caller, repository)),
      commit_url: `${call.base}/api/v1/repos/${full}/commits/${commit}`,
      url: `${call.base}/api/v1/repos/${full}/commits/${commit}/status`,
    },
    listHeaders(call, page, latest.length),
  );
}
