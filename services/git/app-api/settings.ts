import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import {
  gitSettingsApi,
  type GitDelivery,
  type GitHook,
  type GitProtection,
} from '../../contracts/git/settings-api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { globPattern } from '../domain/glob.ts';
import { repositoryNameProblem } from '../domain/names.ts';
import { expandEvents } from '../hooks/events.ts';
import { optionsOf, ProtectionOptions } from '../protection/protections.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import { testHook, type HookParts } from '../gitea-api/hooks.ts';
import { nobody } from '../sign-in/visitor.ts';
import type { DeliveryRow, WebhookRow } from '../store/hooks.ts';
import type { ProtectionRow } from '../store/rest.ts';

type Asked = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params'>;
const ok = { ok: true } as const;
const heads = 'refs/heads/';
const mostDeliveries = 50;

/** What those who administer a repository decide of it, for the pages. */
export function settingsRoutes(parts: HookParts): readonly ApiHandler[] {
  return [...generalRoutes(parts), ...accessRoutes(parts), ...hookRoutes(parts)];
}

function generalRoutes(parts: HookParts): readonly ApiHandler[] {
  const { access, collaborators, git, hooks, keeper, keys, owners, protections } = parts;
  return [
    implement(gitSettingsApi.read, async (asked) => {
      const repository = await getAdministered(parts, asked);
      const { id, description, archived, defaultBranch } = repository;
      return {
        ...{ description, archived, defaultBranch, private: repository.private },
        branches: [...(await listBranches(parts, repository))],
        collaborators: await collaborators.list(id),
        protections: (await protections.list(id)).map(protectionView),
        deployKeys: (await keys.ofRepository(id)).map((row) => ({
          ...{ id: row.id, title: row.title, fingerprint: row.fingerprint, readOnly: row.read_only === 1 },
          ...{ createdAt: row.created_at, lastUsedAt: row.last_used_at },
        })),
        hooks: await Promise.all((await hooks.list({ repository: id })).map((row) => toHookView(parts, row))),
        mayRemove: await access.administersOwner(
          { ...nobody, identity: asked.identity },
          await owners.byId(repository.ownerId),
        ),
      };
    }),
    implement(gitSettingsApi.change, async ({ body, ...asked }) => {
      const repository = await getAdministered(parts, asked);
      const { defaultBranch } = body;
      if (defaultBranch !== undefined && defaultBranch !== repository.defaultBranch) {
        const isThere = (await listBranches(parts, repository)).includes(defaultBranch);
        if (!isThere) throw invalid('defaultBranch', 'There is no such branch.');
        await git.run(keeper.folder(repository), ['symbolic-ref', 'HEAD', heads + defaultBranch]);
      }
      if (body.name !== undefined && body.name !== repository.name)
        await renameRepository(parts, repository, body.name);
      await keeper.change(repository.id, {
        ...(body.description === undefined ? {} : { description: body.description }),
        ...(body.private === undefined ? {} : { private: Number(body.private) }),
        ...(body.archived === undefined ? {} : { archived: Number(body.archived) }),
        ...(defaultBranch === undefined ? {} : { default_branch: defaultBranch }),
      });
      return ok;
    }),
  ];
}

function accessRoutes(parts: HookParts): readonly ApiHandler[] {
  const { collaborators, keys, owners, protections } = parts;
  return [
    implement(gitSettingsApi.share, async ({ body, ...asked }) => {
      const repository = await getAdministered(parts, asked);
      const row = await owners.find(asked.params['account'] ?? '');
      if (row?.kind !== 'account') throw invalid('account', 'There is no such account.');
      if (row.name === repository.owner) throw invalid('account', 'The repository is theirs already.');
      await collaborators.set(repository.id, row.name, body.permission);
      return ok;
    }),
    implement(gitSettingsApi.unshare, async (asked) => {
      const repository = await getAdministered(parts, asked);
      if (await collaborators.remove(repository.id, asked.params['account'] ?? '')) return ok;
      throw new PageProblem('git.unknown', 404, 'It is not shared with this account.');
    }),
    implement(gitSettingsApi.protect, async ({ body, ...asked }) => {
      const { id } = await getAdministered(parts, asked);
      const { rule } = body;
      if (globPattern(rule, { parted: true }) === undefined)
        throw invalid('rule', 'This is no name or pattern of branches.');
      if ((await protections.find(id, rule)) !== undefined) throw invalid('rule', 'It is protected already.');
      await protections.create(id, rule, optionsFrom(body));
      return ok;
    }),
    implement(gitSettingsApi.unprotect, async (asked) => {
      const { id } = await getAdministered(parts, asked);
      const row = (await protections.list(id)).find((each) => String(each.id) === asked.params['id']);
      if (row === undefined) throw new PageProblem('git.unknown', 404, 'There is no such protection.');
      await protections.remove(row);
      return ok;
    }),
    implement(gitSettingsApi.addDeployKey, async ({ body, ...asked }) => {
      const { id } = await getAdministered(parts, asked);
      try {
        await keys.add({ repository: id, readOnly: body.readOnly }, body.title, body.key);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        throw invalid(
          'key',
          error.code === 'git.key_taken'
            ? 'This key is in use already.'
            : 'This is no public key that is taken: ed25519, ECDSA, or RSA of 2,048 bits at least.',
          error,
        );
      }
      return ok;
    }),
    implement(gitSettingsApi.removeDeployKey, async (asked) => {
      const { id } = await getAdministered(parts, asked);
      if (await keys.remove({ repository: id }, Number(asked.params['id']) || 0)) return ok;
      throw new PageProblem('git.unknown', 404, 'There is no such key.');
    }),
  ];
}

function hookRoutes(parts: HookParts): readonly ApiHandler[] {
  const { hooks } = parts;
  return [
    implement(gitSettingsApi.addHook, async ({ body, ...asked }) => {
      const { id } = await getAdministered(parts, asked);
      const url = URL.parse(body.url);
      if (url === null || !/^https?:$/.test(url.protocol))
        throw invalid('url', 'Use an address that begins with http:// or https://.');
      if (body.branchFilter !== '' && globPattern(body.branchFilter, { parted: false }) === undefined)
        throw invalid('branchFilter', 'This is no pattern of branches.');
      const { branchFilter, events, secret } = body;
      const hook = await hooks.create(
        { repository: id },
        {
          ...{ type: 'gitea', url: body.url, contentType: 'json', branchFilter, secret, authorization: undefined },
          ...{ events: expandEvents(events), active: true, local: asked.identity?.role === 'admin' },
        },
      );
      return toHookView(parts, hook);
    }),
    implement(gitSettingsApi.changeHook, async ({ body, ...asked }) => {
      const { hook } = await getHook(parts, asked);
      await hooks.change(hook, {
        ...{ type: hook.type, url: undefined, contentType: hook.content_type, branchFilter: hook.branch_filter },
        ...{ events: expandEvents(JSON.parse(hook.events) as string[]), active: body.active, local: hook.local === 1 },
        ...{ secret: undefined, authorization: undefined },
      });
      return ok;
    }),
    implement(gitSettingsApi.removeHook, async (asked) => {
      await hooks.remove((await getHook(parts, asked)).hook);
      return ok;
    }),
    implement(gitSettingsApi.testHook, async (asked) => {
      const { hook, repository } = await getHook(parts, asked);
      await testHook(parts, hook, repository, asked.identity?.account ?? '');
      return ok;
    }),
    implement(gitSettingsApi.deliveries, async (asked) => {
      const { hook } = await getHook(parts, asked);
      return { deliveries: (await hooks.deliveries(hook, mostDeliveries)).map(deliveryView) };
    }),
    implement(gitSettingsApi.replay, async (asked) => {
      await hooks.replay((await getHook(parts, asked)).hook, asked.params['delivery'] ?? '');
      return ok;
    }),
  ];
}

async function getAdministered({ lookup }: HookParts, { identity, params }: Asked): Promise<Repository> {
  if (identity === undefined) throw new Problem('git.sign_in', 401, 'Sign in first.');
  return lookup.need({ ...nobody, identity }, [params['owner'] ?? '', params['name'] ?? ''], 'admin');
}

async function getHook(
  parts: HookParts,
  asked: Asked,
): Promise<{ readonly repository: Repository; readonly hook: WebhookRow }> {
  const { hooks } = parts;

  const repository = await getAdministered(parts, asked);
  const hook = await hooks.find({ repository: repository.id }, Number(asked.params['id']) || 0);
  if (hook === undefined) throw new PageProblem('git.unknown', 404, 'There is no such webhook.');
  return { repository, hook };
}

async function toHookView({ hooks }: HookParts, row: WebhookRow): Promise<GitHook> {
  const [newest] = await hooks.deliveries(row, 1);
  const { id, branch_filter: branchFilter } = row;
  const url = hooks.shownAddress(row);
  return {
    id,
    url,
    branchFilter,
    events: JSON.parse(row.events) as string[],
    active: row.active === 1,
    last: newest?.state ?? null,
  };
}

async function listBranches({ git, keeper }: HookParts, repository: Repository): Promise<readonly string[]> {
  return (await readReferences(git, keeper.folder(repository), heads)).map(({ ref }) => ref.slice(heads.length));
}

async function renameRepository({ keeper }: HookParts, repository: Repository, name: string): Promise<void> {
  if (repositoryNameProblem(name) !== undefined) throw invalid('name', 'Use letters, digits, dots, - and _.');
  try {
    await keeper.rename(repository, { name });
  } catch (error) {
    if (error instanceof Problem && error.code === 'git.name_taken')
      throw invalid('name', 'There is one of this name already.');
    throw error;
  }
}

function protectionView(row: ProtectionRow): GitProtection {
  const options = optionsOf(row);
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

function optionsFrom({
  accounts,
  approvals,
  checks,
  force,
  fresh,
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
    dismiss_stale_approvals: fresh,
    enable_status_check: checks.length > 0,
    status_check_contexts: checks,
  });
}

function deliveryView(row: DeliveryRow): GitDelivery {
  return {
    ...{ id: row.id, event: row.event_type, state: row.state, attempts: row.attempts, createdAt: row.created_at },
    ...{ status: row.status, milliseconds: row.duration_ms, error: row.error },
    ...{ request: row.body, response: row.response_body },
  };
}

function invalid(field: string, detail: string, cause?: unknown): Problem {
  return new Problem('git.invalid', 422, detail, { fields: { [field]: detail }, cause });
}
