import * as m from '#messages/git-problems';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { compileGlob } from '../domain/glob.ts';
import { chatTypes, isChatType, type ChatOptions } from '../hooks/chat-messages.ts';
import { expandEvents } from '../hooks/events.ts';
import type { HookScope, HookValues } from '../hooks/hooks.ts';
import { buildPushPayload } from '../hooks/push-events.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import type { WebhookRow } from '../store/hooks.ts';
import { zeroId } from '../domain/ref-change.ts';
import { hookJson } from '../wire/hooks.ts';
import {
  getAccount,
  readJsonBody,
  created,
  requireIdentity,
  noContent,
  ok,
  optional,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, parseId, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl' | 'webhooks'>;

const types: readonly string[] = ['gitea', 'gogs', 'forgejo', ...chatTypes];
const config = z.record(z.string(), z.coerce.string());
const common = {
  active: optional(z.boolean()),
  events: optional(z.array(z.string())),
  branch_filter: optional(z.string().max(500)),
  authorization_header: optional(z.string().max(2000)),
};
const createBody = z.object({ ...common, type: z.string(), config });
const changeBody = z.object({ ...common, config: optional(config) });

/** Builds the routes of webhooks: of repositories, of accounts and of organizations. */
export function hookRoutes(deps: Dependencies): readonly Route[] {
  return [
    ...scopedHookRoutes(deps, '/repos/:owner/:repo/hooks', 'repository', (call) => repositoryHookScope(deps, call)),
    ...scopedHookRoutes(deps, '/user/hooks', 'user', (call) => accountHookScope(deps, call)),
    ...scopedHookRoutes(deps, '/orgs/:org/hooks', 'organization', (call) => organizationHookScope(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/hooks/:id/tests', 'repository', async (call) => {
      const repository = await getAdministered(deps, call);
      const row = await getHook(deps, call, { repository: repository.id });
      await testHook(deps, row, repository, getAccount(call), call.query.get('ref'));
      return noContent;
    }),
  ];
}

/** Builds the same routes for one kind of owner. */
function scopedHookRoutes(
  deps: Dependencies,
  path: string,
  scope: Route['scope'],
  getScope: (call: Call) => Promise<HookScope>,
): readonly Route[] {
  const { hooks } = deps.webhooks;
  return [
    signedInRoute('GET', path, scope, async (call) => {
      const all = await hooks.list(await getScope(call));
      const page = parsePage(call.query);
      return ok(
        getPageItems(all, page).map((row) => toHookJson(deps, row)),
        listHeaders(call, page, all.length),
      );
    }),
    signedInRoute('POST', path, scope, async (call) => createHook(deps, call, await getScope(call))),
    signedInRoute('GET', `${path}/:id`, scope, async (call) =>
      ok(toHookJson(deps, await getHook(deps, call, await getScope(call)))),
    ),
    signedInRoute('PATCH', `${path}/:id`, scope, async (call) =>
      changeHook(deps, call, await getHook(deps, call, await getScope(call))),
    ),
    signedInRoute('DELETE', `${path}/:id`, scope, async (call) => {
      await hooks.remove(await getHook(deps, call, await getScope(call)));
      return noContent;
    }),
  ];
}

function notHookOwner(): Problem {
  return new Problem(
    'git.forbidden',
    403,
    'user should be an owner or a collaborator with admin write of a repository',
  );
}

function getAdministered({ accessControl: { lookup } }: Dependencies, call: Call) {
  return lookup.require(call.caller, getRepositoryName(call), 'admin', notHookOwner);
}

async function repositoryHookScope(deps: Dependencies, call: Call): Promise<HookScope> {
  return { repository: (await getAdministered(deps, call)).id };
}

async function accountHookScope(
  { accessControl: { access }, storage: { owners } }: Dependencies,
  call: Call,
): Promise<HookScope> {
  const owner = await owners.getForAccount(getAccount(call));
  // A token that is limited to some repositories may not change the hooks of its account.
  if (!(await access.administersOwner(call.caller, owner))) throw notHookOwner();
  return { owner: owner.id };
}

async function organizationHookScope(
  { accessControl: { access }, storage: { owners } }: Dependencies,
  call: Call,
): Promise<HookScope> {
  const owner = await owners.find(call.params['org'] ?? '');
  if (owner?.kind !== 'organization' || !(await access.maySeeOrganization(call.caller, owner)))
    throw buildNotFoundProblem();
  if (!(await access.administersOwner(call.caller, owner)))
    throw new Problem('git.forbidden', 403, 'Must be an organization owner');
  return { owner: owner.id };
}

function toHookJson({ webhooks: { hooks } }: Dependencies, row: WebhookRow) {
  return hookJson(row, { authorization: hooks.unseal(row.authorization), url: hooks.getDisplayAddress(row) });
}

async function getHook({ webhooks: { hooks } }: Dependencies, call: Call, scope: HookScope): Promise<WebhookRow> {
  const row = await hooks.find(scope, parseId(call.params['id']));
  if (row === undefined) throw buildNotFoundProblem();
  return row;
}

function mayReachLocal(call: Call): boolean {
  return requireIdentity(call.caller).role === 'admin';
}

async function createHook(deps: Dependencies, call: Call, scope: HookScope): Promise<Answer> {
  const body = await readJsonBody(call, createBody);
  if (!types.includes(body.type)) throw new Problem('git.invalid', 422, `Invalid hook type: ${body.type}`);
  for (const option of ['url', 'content_type']) {
    if ((body.config[option] ?? '') === '') throw new Problem('git.invalid', 422, `Missing config option: ${option}`);
  }
  const values: HookValues = {
    type: body.type,
    url: parseUrl(body.config['url']),
    options: toChatOptions(body.type, body.config),
    contentType: parseContentType(body.config['content_type']),
    branchFilter: parseBranchFilter(body.branch_filter ?? ''),
    events: expandEvents(body.events === undefined || body.events.length === 0 ? ['push'] : body.events),
    active: body.active ?? false,
    local: mayReachLocal(call),
    secret: body.config['secret'],
    authorization: body.authorization_header,
  };
  return created(toHookJson(deps, await deps.webhooks.hooks.create(scope, values)));
}

async function changeHook(deps: Dependencies, call: Call, row: WebhookRow): Promise<Answer> {
  const { hooks } = deps.webhooks;
  const body = await readJsonBody(call, changeBody);
  // A client may send back the URL as it was listed, without its password: the stored one stays.
  const listedUrl = body.config?.['url'];
  const url = listedUrl === hooks.getDisplayAddress(row) ? undefined : listedUrl;
  // The account that changes the URL decides by its role whether the hook reaches local addresses.
  const local = url === undefined ? row.local === 1 : mayReachLocal(call);
  const contentType = body.config?.['content_type'];
  const values: HookValues = {
    type: row.type,
    url: url === undefined ? undefined : parseUrl(url),
    ...(body.config === undefined
      ? {}
      : { options: toChatOptions(row.type, { ...(JSON.parse(row.options) as object), ...body.config }) }),
    contentType: contentType === undefined ? row.content_type : parseContentType(contentType),
    branchFilter: body.branch_filter === undefined ? row.branch_filter : parseBranchFilter(body.branch_filter),
    events: expandEvents(body.events ?? (JSON.parse(row.events) as string[])),
    active: body.active ?? row.active === 1,
    local,
    secret: body.config?.['secret'],
    authorization: body.authorization_header,
  };
  return ok(toHookJson(deps, await hooks.change(row, values)));
}

/** Sends a push event of the newest commit to a hook. @throws Problem (404) without a commit */
export async function testHook(
  deps: Pick<RouteDependencies, 'storage' | 'webhooks'>,
  hook: WebhookRow,
  repository: Parameters<typeof buildPushPayload>[1],
  account: string,
  ref: string | null = null,
): Promise<void> {
  const { payloads, hooks } = deps.webhooks;
  const { git, manager, objects } = deps.storage;
  const folder = (each: typeof repository): string => manager.getFolder(each);
  const revision = await resolveRevision(objects, folder(repository), repository, ref);
  if (revision === undefined) throw new PageProblem('git.unknown', 404, m.hookTestNeedsCommit());
  const branch = revision.kind === 'branch' ? revision.name : repository.defaultBranch;
  const parent = await objects.info(folder(repository), `${revision.commit}^`);
  const change = { ref: `refs/heads/${branch}`, before: parent?.id ?? zeroId, after: revision.commit };
  const payload = await buildPushPayload({ payloads, git, folder }, repository, account, change);
  if (payload !== undefined) await hooks.send(hook, { name: 'push' }, payload);
}

/** Returns the options of a chat service. @throws Problem (422) for Slack without a channel */
function toChatOptions(type: string, { channel, username, icon_url }: Readonly<Record<string, string>>): ChatOptions {
  if (!isChatType(type)) return {};
  if (type === 'slack' && (channel ?? '') === '')
    throw new Problem('git.invalid', 422, 'Missing config option: channel');
  return {
    ...(channel === undefined ? {} : { channel: channel.slice(0, 200) }),
    ...(username === undefined ? {} : { username: username.slice(0, 200) }),
    ...(icon_url === undefined ? {} : { icon_url: icon_url.slice(0, 2000) }),
  };
}

function parseUrl(text = ''): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Problem('git.invalid', 422, `Invalid url: ${text}`);
  return text;
}

function parseContentType(text = ''): 'json' | 'form' {
  if (text !== 'json' && text !== 'form') throw new Problem('git.invalid', 422, 'Invalid content type');
  return text;
}

function parseBranchFilter(text: string): string {
  if (text !== '' && compileGlob(text, { bySegment: false }) === undefined)
    throw new Problem('git.invalid', 422, '[BranchFilter]: GlobPattern');
  return text;
}
