import type { OwnerProfile, OwnerRow } from './tables.ts';

export function parseProfile({ profile }: Pick<OwnerRow, 'profile'>): OwnerProfile {
  return JSON.parse(profile) as OwnerProfile;
}
