import { z } from 'zod';
import { unknown } from '../repositories/lookup.ts';
import { Follows } from '../repositories/follows.ts';
import type { OwnerRow } from '../store/tables.ts';
import { emailOf, profileOf, userOf } from '../wire/users.ts';
import { accountOf, bodyOf, needIdentity, ok, optional, type Call, type Route } from './call.ts';
import type { RestParts } from './api-dependencies.ts';

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

/** What an account says of itself. */
export function profileRoutes({ access, context, owners, repositories }: RestParts): readonly Route[] {
  const follows = new Follows(context);

  const self = (call: Call): Promise<OwnerRow> => owners.ofAccount(accountOf(call));
  const settingsJson = (row: OwnerRow) => {
    const { website = '', location = '', language = '', theme = '', ...profile } = profileOf(row);
    return {
      ...{ full_name: row.full_name, website, description: row.description, location, language, theme },
      hide_email: profile.hide_email ?? false,
      hide_activity: profile.hide_activity ?? false,
      diff_view_style: profile.diff_view_style ?? '',
    };
  };
  const counted = async (row: OwnerRow) => {
    const { followers, following, starred } = await follows.counts(row.name);
    return { followers_count: followers, following_count: following, starred_repos_count: starred };
  };

  return [
    {
      method: 'GET',
      path: '/user',
      scope: 'user',
      signedIn: true,
      handle: async (call) => {
        const row = await self(call);
        const admin = needIdentity(call.visitor).role === 'admin';
        return ok({ ...userOf(row, call.base, { self: true, admin }), ...(await counted(row)) });
      },
    },
    {
      method: 'GET',
      path: '/users/:user',
      scope: 'user',
      handle: async (call) => {
        const name = call.params['user'] ?? '';
        const row = call.visitor.identity === undefined ? await repositories.owner(name) : await owners.find(name);
        if (row === undefined) throw unknown();
        if (row.kind === 'organization' && !(await access.seesOrganization(call.visitor, row))) throw unknown();
        return ok({ ...userOf(row, call.base), ...(await counted(row)) });
      },
    },
    {
      method: 'GET',
      path: '/user/settings',
      scope: 'user',
      signedIn: true,
      handle: async (call) => ok(settingsJson(await self(call))),
    },
    {
      method: 'PATCH',
      path: '/user/settings',
      scope: 'user',
      signedIn: true,
      handle: async (call) => {
        const { full_name, description, ...profile } = await bodyOf(call, settingsBody);
        return ok(settingsJson(await owners.change(await self(call), { full_name, description, profile })));
      },
    },
    {
      // The one that commits made here have; further addresses are not kept.
      method: 'GET',
      path: '/user/emails',
      scope: 'user',
      signedIn: true,
      handle: async (call) => {
        const row = await self(call);
        const shown = { verified: true, primary: true, user_id: row.id, username: row.name };
        return ok([{ email: emailOf(row, call.base), ...shown }]);
      },
    },
  ];
}
