import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { globPattern } from '../domain/glob.ts';
import { chatTypes, isChatType, type ChatOptions } from '../hooks/chat-messages.ts';
import { expandEvents } from '../hooks/events.ts';
import type { Framing } from '../hooks/framing.ts';
import type { Hooks, HookScope, HookValues } from '../hooks/hooks.ts';
import { pushPayload } from '../hooks/push-events.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolve } from '../repositories/revisions.ts';
import type { WebhookRow } from '../store/hooks.ts';
import { noObject } from '../transfer/push-request.ts';
import { hookJson } from '../wire/hooks.ts';
import { accountOf, bodyOf, created, needIdentity, noContent, ok, optional, type Call, type Route } from './call.ts';
import { listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import { named, type RestParts } from './api-dependencies.ts';

export interface HookParts extends RestParts {
  readonly hooks: Hooks;
  readonly framing: Framing;
}

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

/** Webhooks of repositories, of oneself and of organisations. */
export function hookRoutes(parts: HookParts): readonly Route[] {
  const { access, hooks, lookup, owners } = parts;
  const denied = () =>
    new Problem('git.forbidden', 403, 'user should be an owner or a collaborator with admin write of a repository');
  const repositoryOf = (call: Call) => lookup.need(call.visitor, named(call), 'admin', denied);
  const places: readonly {
    readonly path: string;
    readonly scope: Route['scope'];
    readonly of: (call: Call) => Promise<HookScope>;
  }[] = [
    {
      path: '/repos/:owner/:repo/hooks',
      scope: 'repository',
      of: async (call) => ({ repository: (await repositoryOf(call)).id }),
    },
    {
      path: '/user/hooks',
      scope: 'user',
      of: async (call) => {
        const owner = await owners.ofAccount(accountOf(call));
        // A token that is good for some repositories alone is not.
        if (!(await access.administersOwner(call.visitor, owner))) throw denied();
        return { owner: owner.id };
      },
    },
    {
      path: '/orgs/:org/hooks',
      scope: 'organization',
      of: async (call) => {
        const owner = await owners.find(call.params['org'] ?? '');
        if (owner?.kind !== 'organization' || !(await access.seesOrganization(call.visitor, owner))) throw unknown();
        if (!(await access.administersOwner(call.visitor, owner)))
          throw new Problem('git.forbidden', 403, 'Must be an organization owner');
        return { owner: owner.id };
      },
    },
  ];
  const json = (row: WebhookRow) =>
    hookJson(row, { authorization: hooks.open(row.authorization), url: hooks.shownAddress(row) });
  const one = async (call: Call, scope: HookScope) => {
    const row = await hooks.find(scope, numberOf(call.params['id']));
    if (row === undefined) throw unknown();
    return row;
  };
  const mayReachLocal = (call: Call): boolean => needIdentity(call.visitor).role === 'admin';

  return [
    ...places.flatMap(({ path, scope, of }): readonly Route[] => [
      {
        method: 'GET',
        path,
        scope,
        signedIn: true,
        handle: async (call) => {
          const all = await hooks.list(await of(call));
          const page = pageOf(call.query);
          return ok(partOf(all, page).map(json), listHeaders(call, page, all.length));
        },
      },
      {
        method: 'POST',
        path,
        scope,
        signedIn: true,
        handle: async (call) => {
          const place = await of(call);
          const asked = await bodyOf(call, createBody);
          if (!types.includes(asked.type)) throw new Problem('git.invalid', 422, `Invalid hook type: ${asked.type}`);
          for (const option of ['url', 'content_type']) {
            if ((asked.config[option] ?? '') === '')
              throw new Problem('git.invalid', 422, `Missing config option: ${option}`);
          }
          const values: HookValues = {
            type: asked.type,
            url: addressOf(asked.config['url']),
            options: optionsOf(asked.type, asked.config),
            contentType: contentTypeOf(asked.config['content_type']),
            branchFilter: filterOf(asked.branch_filter ?? ''),
            events: expandEvents(asked.events === undefined || asked.events.length === 0 ? ['push'] : asked.events),
            active: asked.active ?? false,
            local: mayReachLocal(call),
            secret: asked.config['secret'],
            authorization: asked.authorization_header,
          };
          return created(json(await hooks.create(place, values)));
        },
      },
      {
        method: 'GET',
        path: `${path}/:id`,
        scope,
        signedIn: true,
        handle: async (call) => ok(json(await one(call, await of(call)))),
      },
      {
        method: 'PATCH',
        path: `${path}/:id`,
        scope,
        signedIn: true,
        handle: async (call) => {
          const row = await one(call, await of(call));
          const asked = await bodyOf(call, changeBody);
          // A client may send back the address as it was shown, without its password.
          const given = asked.config?.['url'];
          const url = given === hooks.shownAddress(row) ? undefined : given;
          // Whoever changes the address answers for where it leads.
          const local = url === undefined ? row.local === 1 : mayReachLocal(call);
          const values: HookValues = {
            type: row.type,
            url: url === undefined ? undefined : addressOf(url),
            ...(asked.config === undefined
              ? {}
              : { options: optionsOf(row.type, { ...(JSON.parse(row.options) as object), ...asked.config }) }),
            contentType:
              asked.config?.['content_type'] === undefined
                ? row.content_type
                : contentTypeOf(asked.config['content_type']),
            branchFilter: asked.branch_filter === undefined ? row.branch_filter : filterOf(asked.branch_filter),
            events:
              asked.events === undefined
                ? expandEvents(JSON.parse(row.events) as string[])
                : expandEvents(asked.events),
            active: asked.active ?? row.active === 1,
            local,
            secret: asked.config?.['secret'],
            authorization: asked.authorization_header,
          };
          return ok(json(await hooks.change(row, values)));
        },
      },
      {
        method: 'DELETE',
        path: `${path}/:id`,
        scope,
        signedIn: true,
        handle: async (call) => {
          await hooks.remove(await one(call, await of(call)));
          return noContent;
        },
      },
    ]),
    {
      method: 'POST',
      path: '/repos/:owner/:repo/hooks/:id/tests',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await repositoryOf(call);
        const row = await one(call, { repository: repository.id });
        await testHook(parts, row, repository, accountOf(call), call.query.get('ref'));
        return noContent;
      },
    },
  ];
}

/** Sends a hook a push as it would be of the newest commit. @throws Problem (404) where there is none. */
export async function testHook(
  parts: Pick<HookParts, 'framing' | 'git' | 'hooks' | 'keeper' | 'objects'>,
  hook: WebhookRow,
  repository: Parameters<typeof pushPayload>[1],
  account: string,
  ref: string | null = null,
): Promise<void> {
  const { framing, git, hooks, keeper, objects } = parts;
  const folder = (each: typeof repository): string => keeper.folder(each);
  const revision = await resolve(objects, folder(repository), repository, ref);
  if (revision === undefined) throw new Problem('git.unknown', 404, 'There is no commit to tell of yet.');
  const branch = revision.kind === 'branch' ? revision.name : repository.defaultBranch;
  const parent = await objects.info(folder(repository), `${revision.commit}^`);
  const change = { ref: `refs/heads/${branch}`, before: parent?.id ?? noObject, after: revision.commit };
  const payload = await pushPayload({ framing, git, folder }, repository, account, change);
  if (payload !== undefined) await hooks.send(hook, { name: 'push' }, payload);
}

/** The options of a chat service. @throws Problem (422) for Slack without a channel */
function optionsOf(type: string, { channel, username, icon_url }: Readonly<Record<string, string>>): ChatOptions {
  if (!isChatType(type)) return {};
  if (type === 'slack' && (channel ?? '') === '')
    throw new Problem('git.invalid', 422, 'Missing config option: channel');
  return {
    ...(channel === undefined ? {} : { channel: channel.slice(0, 200) }),
    ...(username === undefined ? {} : { username: username.slice(0, 200) }),
    ...(icon_url === undefined ? {} : { icon_url: icon_url.slice(0, 2000) }),
  };
}

function addressOf(text = ''): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Problem('git.invalid', 422, `Invalid url: ${text}`);
  return text;
}

function contentTypeOf(text = ''): 'json' | 'form' {
  if (text !== 'json' && text !== 'form') throw new Problem('git.invalid', 422, 'Invalid content type');
  return text;
}

function filterOf(text: string): string {
  if (text !== '' && globPattern(text, { parted: false }) === undefined)
    throw new Problem('git.invalid', 422, '[BranchFilter]: GlobPattern');
  return text;
}
