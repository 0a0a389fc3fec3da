import { z } from 'zod';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { TagProtectionRow } from '../store/tag-protections.ts';
import { formatTime } from '../wire/time.ts';
import { readJsonBody, created, noContent, ok, optional, type Call, type Route } from './call.ts';
import { parseId } from './paging.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'accessControl' | 'pushControl'>;

const body = z.object({
  name_pattern: optional(z.string().max(255)),
  whitelist_usernames: optional(z.array(z.string().max(100)).max(200)),
});

/** Builds the routes of protected tags. */
export function tagProtectionRoutes({
  accessControl: { lookup },
  pushControl: { tagProtections },
}: Dependencies): readonly Route[] {
  const base = '/repos/:owner/:repo/tag_protections';
  const getAdministered = (call: Call) => lookup.require(call.caller, getRepositoryName(call), 'admin');
  const getProtection = async (call: Call): Promise<TagProtectionRow> => {
    const { id: repository } = await getAdministered(call);
    const id = parseId(call.params['id']);
    const row = (await tagProtections.list(repository)).find((each) => each.id === id);
    if (row === undefined) throw buildNotFoundProblem();
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
    route('GET', base, async (call) => ok((await tagProtections.list((await getAdministered(call)).id)).map(json))),
    route('POST', base, async (call) => {
      const { id } = await getAdministered(call);
      const { name_pattern: pattern = '', whitelist_usernames: accounts = [] } = await readJsonBody(call, body);
      return created(json(await tagProtections.create(id, pattern.trim(), accounts)));
    }),
    route('GET', `${base}/:id`, async (call) => ok(json(await getProtection(call)))),
    route('PATCH', `${base}/:id`, async (call) => {
      const row = await getProtection(call);
      const { name_pattern: pattern = row.pattern, whitelist_usernames: accounts } = await readJsonBody(call, body);
      return ok(json(await tagProtections.change(row, pattern.trim(), accounts ?? parseAccounts(row))));
    }),
    route('DELETE', `${base}/:id`, async (call) => {
      await tagProtections.remove(await getProtection(call));
      return noContent;
    }),
  ];
}

function parseAccounts({ accounts }: TagProtectionRow): readonly string[] {
  return JSON.parse(accounts) as string[];
}

function json(row: TagProtectionRow) {
  return {
    id: row.id,
    name_pattern: row.pattern,
    whitelist_usernames: parseAccounts(row),
    whitelist_teams: [],
    created_at: formatTime(row.created_at),
    updated_at: formatTime(row.updated_at),
  };
}
