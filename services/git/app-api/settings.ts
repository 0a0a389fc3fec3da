import * as texts from '#messages/git-texts';
import * as m from '#messages/git-problems';
import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import {
  gitSettingsApi,
  type GitDelivery,
  type GitHook,
  type GitProtection,
} from '../../contracts/git/settings-api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { compileGlob } from '../domain/glob.ts';
import { validateRepositoryName } from '../domain/names.ts';
import { expandEvents } from '../hooks/events.ts';
import { parseProtectionOptions, ProtectionOptions } from '../protection/protections.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import { testHook } from '../gitea-api/hooks.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import type { DeliveryRow, WebhookRow } from '../store/hooks.ts';
import type { ProtectionRow } from '../store/repository-relations.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl' | 'pushControl' | 'webhooks'>;

type AppCall = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params'>;
const ok = { ok: true } as const;
const heads = 'refs/heads/';
const maxDeliveries = 50;

/** Builds the routes of repository settings, for accounts that administer the repository. */
export function settingsRoutes(deps: Dependencies): readonly ApiHandler[] {
  return [
    ...generalRoutes(deps),
    ...accessRoutes(deps),
    ...protectionRoutes(deps),
    ...deployKeyRoutes(deps),
    ...hookRoutes(deps),
    ...deliveryRoutes(deps),
  ];
}

function generalRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { access, collaborators, keys } = deps.accessControl;
  const { git, manager, owners } = deps.storage;
  const { hooks } = deps.webhooks;
  const { protections } = deps.pushControl;
  return [
    implement(gitSettingsApi.read, async (call) => {
      const repository = await getAdministered(deps, call);
      const { id, description, archived, defaultBranch } = repository;
      return {
        description,
        archived,
        defaultBranch,
        private: repository.private,
        branches: [...(await listBranches(deps, repository))],
        collaborators: await collaborators.list(id),
        protections: (await protections.list(id)).map(protectionView),
        deployKeys: (await keys.listForRepository(id)).map((row) => ({
          id: row.id,
          title: row.title,
          fingerprint: row.fingerprint,
          readOnly: row.read_only === 1,
          createdAt: row.created_at,
          lastUsedAt: row.last_used_at,
        })),
        hooks: await Promise.all((await hooks.list({ repository: id })).map((row) => toHookView(deps, row))),
        mayRemove: await access.administersOwner(
          { ...anonymousCaller, identity: call.identity },
          await owners.getById(repository.ownerId),
        ),
      };
    }),
    implement(gitSettingsApi.change, async ({ body, ...call }) => {
      const repository = await getAdministered(deps, call);
      const { defaultBranch } = body;
      if (defaultBranch !== undefined && defaultBranch !== repository.defaultBranch) {
        const exists = (await listBranches(deps, repository)).includes(defaultBranch);
        if (!exists) throw invalid('defaultBranch', m.branchNotFound());
        await git.run(manager.getFolder(repository), ['symbolic-ref', 'HEAD', heads + defaultBranch]);
      }
      if (body.name !== undefined && body.name !== repository.name) await renameRepository(deps, repository, body.name);
      await manager.change(repository.id, {
        ...(body.description === undefined ? {} : { description: body.description }),
        ...(body.private === undefined ? {} : { private: Number(body.private) }),
        ...(body.archived === undefined ? {} : { archived: Number(body.archived) }),
        ...(defaultBranch === undefined ? {} : { default_branch: defaultBranch }),
      });
      return ok;
    }),
  ];
}

function accessRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { collaborators } = deps.accessControl;
  const { owners } = deps.storage;
  return [
    implement(gitSettingsApi.share, async ({ body, ...call }) => {
      const repository = await getAdministered(deps, call);
      const row = await owners.find(call.params['account'] ?? '');
      if (row?.kind !== 'account') throw invalid('account', m.accountNotFound());
      if (row.name === repository.owner) throw invalid('account', m.accountIsOwner());
      await collaborators.set(repository.id, row.name, body.permission);
      return ok;
    }),
    implement(gitSettingsApi.unshare, async (call) => {
      const repository = await getAdministered(deps, call);
      if (await collaborators.remove(repository.id, call.params['account'] ?? '')) return ok;
      throw new PageProblem('git.unknown', 404, m.collaboratorNotFound());
    }),
  ];
}

function protectionRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { protections } = deps.pushControl;
  return [
    implement(gitSettingsApi.protect, async ({ body, ...call }) => {
      const { id } = await getAdministered(deps, call);
      const { rule } = body;
      if (compileGlob(rule, { bySegment: true }) === undefined) throw invalid('rule', m.branchPatternInvalid());
      if ((await protections.find(id, rule)) !== undefined) throw invalid('rule', m.ruleExists());
      await protections.create(id, rule, toOptions(body));
      return ok;
    }),
    implement(gitSettingsApi.unprotect, async (call) => {
      const { id } = await getAdministered(deps, call);
      const row = (await protections.list(id)).find((each) => String(each.id) === call.params['id']);
      if (row === undefined) throw new PageProblem('git.unknown', 404, m.ruleNotFound());
      await protections.remove(row);
      return ok;
    }),
  ];
}

function deployKeyRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { keys } = deps.accessControl;
  return [
    implement(gitSettingsApi.addDeployKey, async ({ body, ...call }) => {
      const { id } = await getAdministered(deps, call);
      try {
        await keys.add({ repository: id, readOnly: body.readOnly }, body.title, body.key);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        throw invalid('key', error.code === 'git.key_taken' ? m.keyTaken() : m.keyInvalid(), error);
      }
      return ok;
    }),
    implement(gitSettingsApi.removeDeployKey, async (call) => {
      const { id } = await getAdministered(deps, call);
      if (await keys.remove({ repository: id }, Number(call.params['id']) || 0)) return ok;
      throw new PageProblem('git.unknown', 404, m.keyNotFound());
    }),
  ];
}

function hookRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { hooks } = deps.webhooks;
  return [
    implement(gitSettingsApi.addHook, async ({ body, ...call }) => {
      const { id } = await getAdministered(deps, call);
      const url = URL.parse(body.url);
      if (url === null || !/^https?:$/.test(url.protocol)) throw invalid('url', m.hookAddressInvalid());
      if (body.branchFilter !== '' && compileGlob(body.branchFilter, { bySegment: false }) === undefined)
        throw invalid('branchFilter', m.branchFilterInvalid());
      const { branchFilter, events, secret } = body;
      const hook = await hooks.create(
        { repository: id },
        {
          type: 'gitea',
          url: body.url,
          contentType: 'json',
          branchFilter,
          secret,
          authorization: undefined,
          events: expandEvents(events),
          active: true,
          local: call.identity?.role === 'admin',
        },
      );
      return toHookView(deps, hook);
    }),
    implement(gitSettingsApi.changeHook, async ({ body, ...call }) => {
      const { hook } = await getHook(deps, call);
      await hooks.change(hook, {
        type: hook.type,
        url: undefined,
        contentType: hook.content_type,
        branchFilter: hook.branch_filter,
        events: expandEvents(JSON.parse(hook.events) as string[]),
        active: body.active,
        local: hook.local === 1,
        secret: undefined,
        authorization: undefined,
      });
      return ok;
    }),
    implement(gitSettingsApi.removeHook, async (call) => {
      await hooks.remove((await getHook(deps, call)).hook);
      return ok;
    }),
  ];
}

/** Builds the routes of deliveries: the test of a webhook, the list and the repetition of a delivery. */
function deliveryRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { hooks } = deps.webhooks;
  return [
    implement(gitSettingsApi.testHook, async (call) => {
      const { hook, repository } = await getHook(deps, call);
      await testHook(deps, hook, repository, call.identity?.account ?? '');
      return ok;
    }),
    implement(gitSettingsApi.deliveries, async (call) => {
      const { hook } = await getHook(deps, call);
      return { deliveries: (await hooks.deliveries(hook, maxDeliveries)).map(deliveryView) };
    }),
    implement(gitSettingsApi.replay, async (call) => {
      await hooks.replay((await getHook(deps, call)).hook, call.params['delivery'] ?? '');
      return ok;
    }),
  ];
}

async function getAdministered(
  { accessControl: { lookup } }: Dependencies,
  { identity, params }: AppCall,
): Promise<Repository> {
  if (identity === undefined) throw new Problem('git.sign_in', 401, m.signInFirst());
  return lookup.require({ ...anonymousCaller, identity }, [params['owner'] ?? '', params['name'] ?? ''], 'admin');
}

async function getHook(
  deps: Dependencies,
  call: AppCall,
): Promise<{ readonly repository: Repository; readonly hook: WebhookRow }> {
  const { hooks } = deps.webhooks;

  const repository = await getAdministered(deps, call);
  const hook = await hooks.find({ repository: repository.id }, Number(call.params['id']) || 0);
  if (hook === undefined) throw new PageProblem('git.unknown', 404, m.hookNotFound());
  return { repository, hook };
}

async function toHookView({ webhooks: { hooks } }: Dependencies, row: WebhookRow): Promise<GitHook> {
  const [newest] = await hooks.deliveries(row, 1);
  const { id, branch_filter: branchFilter } = row;
  const url = hooks.getDisplayAddress(row);
  return {
    id,
    url,
    branchFilter,
    events: JSON.parse(row.events) as string[],
    active: row.active === 1,
    last: newest?.state ?? null,
  };
}

async function listBranches(
  { storage: { git, manager } }: Dependencies,
  repository: Repository,
): Promise<readonly string[]> {
  return (await readReferences(git, manager.getFolder(repository), heads)).map(({ ref }) => ref.slice(heads.length));
}

async function renameRepository(
  { storage: { manager } }: Dependencies,
  repository: Repository,
  name: string,
): Promise<void> {
  if (validateRepositoryName(name) !== undefined) throw invalid('name', m.repositoryNameInvalid());
  try {
    await manager.rename(repository, { name });
  } catch (error) {
    if (error instanceof Problem && error.code === 'git.name_taken') throw invalid('name', m.ownerRepositoryExists());
    throw error;
  }
}

function protectionView(row: ProtectionRow): GitProtection {
  const options = parseProtectionOptions(row);
  const push = !options.enable_push ? 'nobody' : options.enable_push_whitelist ? 'some' : 'writers';
  return {
    id: row.id,
    rule: row.rule,
    push,
    accounts: options.push_whitelist_usernames,
    force: options.enable_force_push,
    approvals: options.required_approvals,
    rejections: options.block_on_rejected_reviews,
    fresh: options.dismiss_stale_approvals,
    checks: options.enable_status_check ? options.status_check_contexts : [],
  };
}

function toOptions({
  accounts,
  approvals,
  checks,
  force,
  fresh: dismissStale,
  push,
  rejections,
}: Omit<GitProtection, 'id' | 'rule'>): ProtectionOptions {
  return ProtectionOptions.parse({
    enable_push: push !== 'nobody',
    enable_push_whitelist: push === 'some',
    push_whitelist_usernames: push === 'some' ? accounts : [],
    enable_force_push: force,
    required_approvals: approvals,
    block_on_rejected_reviews: rejections,
    dismiss_stale_approvals: dismissStale,
    enable_status_check: checks.length > 0,
    status_check_contexts: checks,
  });
}

function deliveryView(row: DeliveryRow): GitDelivery {
  return {
    id: row.id,
    event: row.event_type,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    status: row.status,
    milliseconds: row.duration_ms,
    // A stored reason has the language of the time of the delivery.
    error: row.error === null || row.status === null ? row.error : texts.hookResponded({ status: String(row.status) }),
    request: row.body,
    response: row.response_body,
  };
}

function invalid(field: string, detail: string, cause?: unknown): Problem {
  return new Problem('git.invalid', 422, detail, { fields: { [field]: detail }, cause });
}
