import { z } from 'zod';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { Follows } from '../repositories/follows.ts';
import type { OwnerRow } from '../store/tables.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { parseProfile } from '../store/owner-profile.ts';
import { toUserJson } from '../wire/users.ts';
import {
  getAccount,
  readJsonBody,
  requireIdentity,
  ok,
  optional,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

const shortText = optional(z.string().max(255));
const settingsBody = z.object({
  full_name: optional(z.string().max(100)),
  description: shortText,
  website: shortText,
  location: optional(z.string().max(50)),
  language: optional(z.string().max(20)),
  theme: optional(z.string().max(50)),
  diff_view_style: optional(z.enum(['', 'unified', 'split'])),
  hide_email: optional(z.boolean()),
  hide_activity: optional(z.boolean()),
});

/** Builds the routes of the profile and the settings of an account. */
export function profileRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('GET', '/user', 'user', (call) => readOwnUser(deps, call)),
    route('GET', '/users/:user', 'user', (call) => readUser(deps, call)),
    signedInRoute('GET', '/user/settings', 'user', async (call) => ok(settingsJson(await getOwnRow(deps, call)))),
    signedInRoute('PATCH', '/user/settings', 'user', (call) => changeSettings(deps, call)),
    signedInRoute('GET', '/user/emails', 'user', (call) => listEmails(deps, call)),
  ];
}

function getOwnRow({ storage: { owners } }: Dependencies, call: Call): Promise<OwnerRow> {
  return owners.getForAccount(getAccount(call));
}

function settingsJson(row: OwnerRow) {
  const { website = '', location = '', language = '', theme = '', ...profile } = parseProfile(row);
  return {
    full_name: row.full_name,
    website,
    description: row.description,
    location,
    language,
    theme,
    hide_email: profile.hide_email ?? false,
    hide_activity: profile.hide_activity ?? false,
    diff_view_style: profile.diff_view_style ?? '',
  };
}

async function countFollows({ context }: Dependencies, row: OwnerRow) {
  const follows = new Follows(context);

  const { followers, following, starred } = await follows.counts(row.name);
  return { followers_count: followers, following_count: following, starred_repos_count: starred };
}

async function readOwnUser(deps: Dependencies, call: Call): Promise<Answer> {
  const row = await getOwnRow(deps, call);
  const admin = requireIdentity(call.caller).role === 'admin';
  return ok({ ...toUserJson(row, call.base, { self: true, admin }), ...(await countFollows(deps, row)) });
}

async function readUser(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { owners, repositories } = deps.storage;
  const name = call.params['user'] ?? '';
  const row = call.caller.identity === undefined ? await repositories.findOwner(name) : await owners.find(name);
  if (row === undefined) throw buildNotFoundProblem();
  if (row.kind === 'organization' && !(await access.maySeeOrganization(call.caller, row))) throw buildNotFoundProblem();
  return ok({ ...toUserJson(row, call.base), ...(await countFollows(deps, row)) });
}

async function changeSettings(deps: Dependencies, call: Call): Promise<Answer> {
  const { owners } = deps.storage;
  const { full_name, description, ...profile } = await readJsonBody(call, settingsBody);
  return ok(settingsJson(await owners.change(await getOwnRow(deps, call), { full_name, description, profile })));
}

async function listEmails(deps: Dependencies, call: Call): Promise<Answer> {
  const row = await getOwnRow(deps, call);
  const email = { verified: true, primary: true, user_id: row.id, username: row.name };
  return ok([{ email: getCommitEmail(row, call.base), ...email }]);
}
