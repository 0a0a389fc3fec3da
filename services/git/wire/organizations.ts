import type { OwnerRow } from '../store/tables.ts';
import { parseProfile } from '../store/owner-profile.ts';
import { avatarUrl } from './users.ts';

/** Converts an organization to JSON. */
export function organizationJson(row: OwnerRow, base: string) {
  const { website = '', location = '' } = parseProfile(row);
  return {
    id: row.id,
    name: row.name,
    full_name: row.full_name,
    email: '',
    avatar_url: avatarUrl(row.name, base),
    description: row.description,
    website,
    location,
    visibility: row.visibility,
    repo_admin_change_team_access: false,
    username: row.name,
  };
}
