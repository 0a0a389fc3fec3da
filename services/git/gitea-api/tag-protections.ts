import { z } from 'zod';
import { unknown } from '../repositories/lookup.ts';
import type { TagProtectionRow } from '../store/tag-protections.ts';
import { timeOf } from '../wire/time.ts';
import { bodyOf, created, noContent, ok, optional, type Call, type Route } from './call.ts';
import { numberOf } from './paging.ts';
import { named, type RestParts } from './api-dependencies.ts';

const body = z.object({
  name_pattern: optional(z.string().max(255)),
  whitelist_usernames: optional(z.array(z.string().max(100)).max(200)),
});

/** Protected tags. */
export function tagProtectionRoutes({ lookup, tagProtections }: RestParts): readonly Route[] {
  const base = '/repos/:owner/:repo/tag_protections';
  const repositoryOf = (call: Call) => lookup.need(call.visitor, named(call), 'admin');
  const one = async (call: Call): Promise<TagProtectionRow> => {
    const { id: repository } = await repositoryOf(call);
    const id = numberOf(call.params['id']);
    const row = (await tagProtections.list(repository)).find((each) => each.id === id);
    if (row === undefined) throw unknown();
    return row;
  };
  const route = (method: Route['method'], path: string, handle: Route['handle']): Route => ({
    method,
    path,
    scope: 'repository',
    signedIn: true,
    handle,
  });

  return [
    route('GET', base, async (call) => ok((await tagProtections.list((await repositoryOf(call)).id)).map(json))),
    route('POST', base, async (call) => {
      const { id } = await repositoryOf(call);
      const { name_pattern: pattern = '', whitelist_usernames: accounts = [] } = await bodyOf(call, body);
      return created(json(await tagProtections.create(id, pattern.trim(), accounts)));
    }),
    route('GET', `${base}/:id`, async (call) => ok(json(await one(call)))),
    route('PATCH', `${base}/:id`, async (call) => {
      const row = await one(call);
      const { name_pattern: pattern = row.pattern, whitelist_usernames: accounts } = await bodyOf(call, body);
      return ok(json(await tagProtections.change(row, pattern.trim(), accounts ?? accountsOf(row))));
    }),
    route('DELETE', `${base}/:id`, async (call) => {
      await tagProtections.remove(await one(call));
      return noContent;
    }),
  ];
}

function accountsOf({ accounts }: TagProtectionRow): readonly string[] {
  return JSON.parse(accounts) as string[];
}

function json(row: TagProtectionRow) {
  return {
    id: row.id,
    name_pattern: row.pattern,
    whitelist_usernames: accountsOf(row),
    whitelist_teams: [],
    created_at: timeOf(row.created_at),
    updated_at: timeOf(row.updated_at),
  };
}
