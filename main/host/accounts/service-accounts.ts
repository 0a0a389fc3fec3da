import * as m from '#messages/manifests';
import { everyone, type Grant, type Role } from '../../../services/contracts/control/accounts.ts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import type { ServiceManifest } from '../../../services/contracts/service.ts';
import { insertAccount, type Db } from './store.ts';

interface PresetRow {
  readonly name: string;
  readonly role: Role;
  readonly description: Text;
  readonly grants: readonly Grant[];
}

const administration: PresetRow = {
  name: 'administration',
  role: 'admin',
  description: m.administrationAccount,
  grants: [],
};

/** Returns the predefined service accounts: one for administration, then those that services declare. */
export function getPresetAccounts(services: readonly Pick<ServiceManifest, 'id' | 'accounts'>[]): readonly PresetRow[] {
  const named = services.flatMap(({ id, accounts = [] }) =>
    accounts.map(({ name, description, grants }): PresetRow => {
      return { name, role: 'user', description, grants: grants.map((grant) => ({ service: id, ...grant })) };
    }),
  );
  return [administration, ...named];
}

/** Inserts them, disabled and without credentials, and the entry for everyone. */
export async function insertPresetAccounts(db: Db, accounts: readonly PresetRow[], now: number): Promise<void> {
  const commonFields = { kind: 'service', password_hash: null, created_at: now };
  const anyone = { name: everyone, role: 'user', enabled: 1, description: m.everyoneAccount() };
  await insertAccount(db, { ...commonFields, ...anyone }, []);
  for (const { name, role, description, grants } of accounts) {
    await insertAccount(db, { ...commonFields, name, role, description: readText(description), enabled: 0 }, grants);
  }
}
