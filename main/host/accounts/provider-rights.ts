import type { Grant } from '../../../services/contracts/control/accounts.ts';
import type { ProviderUser } from '../../../services/contracts/control/provider-users.ts';
import { checkFields } from './account-list.ts';
import { areSameGrants, mergeProviderGrants, parseGrants } from './provider-grants.ts';
import { deleteIdentity, findIdentity, listEndedAssignments, saveIdentity } from './provider-identities.ts';
import { deleteCreatedLinks, readGrants, replaceGrants, type Db } from './store.ts';
import type { AccountRow, ProviderIdentityRow } from './tables.ts';

/** Role and grants of an account. */
interface Rights {
  readonly role: string;
  readonly grants: readonly Grant[];
}

/** Role and grants before and after a sign-in. */
export interface ChangedRights {
  readonly account: string;
  readonly before: Rights;
  readonly after: Rights;
}

/** Rights that a sign-in results in, and the row that records which of them the groups added. */
interface NextRights extends ChangedRights {
  readonly identity: ProviderIdentityRow;
  readonly isChanged: boolean;
}

interface RoleOptions {
  /** Keeps the role of the last administrator. */
  readonly keepsRole: boolean;
}

/** Returns whether a sign-in changes anything: most do not, and need no write. */
export async function hasNewRights(db: Db, user: ProviderUser, account: AccountRow): Promise<boolean> {
  const ended = await listEndedAssignments(db, user, account.name);
  const next = await buildRights(db, user, account, { keepsRole: false, now: 0 });
  return ended.length > 0 || next.isChanged;
}

/** Applies the groups of a user to the account, and takes away what they added to accounts of ended assignments. */
export async function applyRights(
  db: Db,
  user: ProviderUser,
  account: AccountRow,
  options: RoleOptions & { readonly now: number },
): Promise<readonly ChangedRights[]> {
  const changed: ChangedRights[] = [];
  for (const ended of await listEndedAssignments(db, user, account.name))
    changed.push(...(await revokeRights(db, ended, options)));
  const next = await buildRights(db, user, account, options);
  if (!next.isChanged) return changed;
  await writeRights(db, next);
  await saveIdentity(db, next.identity);
  return [...changed, next];
}

async function buildRights(
  db: Db,
  user: ProviderUser,
  { name, role: current }: AccountRow,
  { keepsRole, now }: RoleOptions & { readonly now: number },
): Promise<NextRights> {
  const former = await findIdentity(db, user, name);
  const declared = await readDeclared(db, name);
  const { role, assignedRole } = toRole(user, former, current, keepsRole || declared.isAccount);
  const before = { role: current, grants: await readGrants(db, name) };
  const formerlyAssigned = parseGrants(former?.grants ?? '[]');
  const { grants, assigned } = mergeProviderGrants({
    current: before.grants,
    formerlyAssigned,
    assigned: user.grants,
    declaredTargets: declared.grantTargets,
  });
  const link = getLink(user, former);
  const isSameIdentity = former?.link === link && former.role === assignedRole;
  return {
    account: name,
    before,
    after: { role, grants },
    identity: {
      issuer: user.issuer,
      subject: user.subject,
      account: name,
      link,
      role: assignedRole,
      grants: JSON.stringify(assigned),
      created_at: former === undefined ? now : Number(former.created_at),
    },
    isChanged:
      !isSameIdentity ||
      role !== current ||
      !areSameGrants(grants, before.grants) ||
      !areSameGrants(assigned, formerlyAssigned),
  };
}

/** Takes away what the groups of a user added to an account, and forgets the assignment. */
async function revokeRights(
  db: Db,
  identity: ProviderIdentityRow,
  { keepsRole }: RoleOptions,
): Promise<readonly ChangedRights[]> {
  const { account: name } = identity;
  const account = await db.selectFrom('accounts').selectAll().where('name', '=', name).executeTakeFirst();
  // A role that the account must keep for now is taken away at a later sign-in.
  if (keepsRole && identity.role === 'admin') await saveIdentity(db, { ...identity, grants: '[]' });
  else await deleteIdentity(db, identity);
  if (account === undefined) return [];
  const declared = await readDeclared(db, name);
  const before = { role: account.role, grants: await readGrants(db, name) };
  const { grants } = mergeProviderGrants({
    current: before.grants,
    formerlyAssigned: parseGrants(identity.grants),
    assigned: [],
    declaredTargets: declared.grantTargets,
  });
  const keepsOwnRole = keepsRole || declared.isAccount || identity.role !== 'admin';
  const change = { account: name, before, after: { role: keepsOwnRole ? account.role : 'user', grants } };
  await writeRights(db, change);
  return [change];
}

async function writeRights(db: Db, { account, before, after }: ChangedRights): Promise<void> {
  checkFields({ grants: after.grants });
  if (after.role !== before.role) {
    await db.updateTable('accounts').set({ role: after.role }).where('name', '=', account).execute();
    if (after.role !== 'admin') await deleteCreatedLinks(db, account);
  }
  if (!areSameGrants(after.grants, before.grants)) await replaceGrants(db, account, after.grants);
}

/** Returns whether the settings declare an account, and the targets of the grants that they declare for it. */
async function readDeclared(
  db: Db,
  account: string,
): Promise<{ readonly isAccount: boolean; readonly grantTargets: ReadonlySet<string> }> {
  const rows = await db.selectFrom('declared').select(['kind', 'name']).where('account', '=', account).execute();
  return {
    isAccount: rows.some(({ kind }) => kind === 'account'),
    grantTargets: new Set(rows.filter(({ kind }) => kind === 'grant').map(({ name }) => name)),
  };
}

/** Returns how a user has an account, which an assignment in the settings does not change. */
function getLink({ assignedAccount }: ProviderUser, former: ProviderIdentityRow | undefined): string {
  const existing = former?.link ?? 'assigned';
  if (existing !== 'assigned') return existing;
  return assignedAccount === undefined ? 'name' : 'assigned';
}

/** Returns the role by the groups. Only a role that groups assigned is taken away when they no longer do. */
function toRole(
  { isAdministrator }: ProviderUser,
  former: ProviderIdentityRow | undefined,
  current: string,
  keepsRole: boolean,
): { readonly role: string; readonly assignedRole: string } {
  const formerlyAssigned = former?.role ?? '';
  if (keepsRole) return { role: current, assignedRole: formerlyAssigned };
  if (isAdministrator) return { role: 'admin', assignedRole: current === 'admin' ? formerlyAssigned : 'admin' };
  return { role: formerlyAssigned === 'admin' ? 'user' : current, assignedRole: '' };
}
