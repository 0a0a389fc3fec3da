import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NewInvitation } from '../../../services/contracts/control/one-time-links.ts';
import { eachDialect } from '../../support/database.ts';
import { readCode } from '../../support/second-factor.ts';
import { address, openAccountsFixture, session, tooMany, type AccountsFixture } from './accounts-fixture.ts';

const password = 'velvet-otter-93-lantern';
const newPassword = 'quiet-maple-17-harbor';
const client = { remoteAddress: address, userAgent: 'test' };
const invalid = { code: 'accounts.link_invalid', status: 403 };
const dayMs = 24 * 60 * 60_000;
const invitation: NewInvitation = { name: '', role: 'user', grants: [] };
const reset = { removesSecondFactor: false, createdBy: '' };

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
    await fixture.accounts.create({ name: 'ada', password, role: 'admin' });
    await fixture.accounts.create({ name: 'mia', password });
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const links = () => fixture.accounts.oneTimeLinks;
  const use = (token: string, name = '') => links().use(token, { name, password: newPassword }, address);

  /** Returns the password hashes by account. */
  async function exportHashes(): Promise<ReadonlyMap<string, string | null>> {
    const data = (await fixture.accounts.exportAccounts({ secrets: true })) as {
      name: string;
      secrets?: { passwordHash: string | null };
    }[];
    return new Map(data.map(({ name, secrets }) => [name, secrets?.passwordHash ?? null]));
  }

  describe('a link that sets a new password', () => {
    it('ends the sessions, keeps the tokens, and works once', async () => {
      const { secret } = await fixture.accounts.signIn('mia', password, client);
      const { text } = await fixture.accounts.createToken('mia', { label: 'phone', expiresAt: null });
      const { token, link } = await links().createReset('mia', reset);
      expect(await links().open(token, address)).toEqual({ kind: 'reset', account: 'mia', expiresAt: link.expiresAt });
      expect(await use(token)).toBe('mia');
      expect(await fixture.accounts.authenticate(session(secret))).toBeUndefined();
      expect(await fixture.accounts.findToken('mia', text)).toBeDefined();
      await expect(fixture.accounts.signIn('mia', password, client)).rejects.toMatchObject({ status: 401 });
      await fixture.accounts.signIn('mia', newPassword, client);
      await expect(use(token)).rejects.toMatchObject(invalid);
      expect(await links().list()).toEqual([]);
    });

    it('is used by one of several concurrent requests on two hosts', async () => {
      const { token } = await links().createReset('mia', reset);
      const other = await fixture.another();
      const attempts = [links(), other.oneTimeLinks, links(), other.oneTimeLinks].map((each, index) =>
        each.use(token, { name: '', password: `${newPassword}-${String(index)}` }, address),
      );
      const outcomes = await Promise.allSettled(attempts);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      for (const reason of refused) expect(reason).toMatchObject(invalid);
    });

    it('expires after 24 hours, and is replaced by a later one', async () => {
      const first = await links().createReset('mia', reset);
      const second = await links().createReset('mia', reset);
      await expect(links().open(first.token, address)).rejects.toMatchObject(invalid);
      fixture.clock.advance(dayMs - 1);
      await links().open(second.token, address);
      fixture.clock.advance(1);
      await expect(use(second.token)).rejects.toMatchObject(invalid);
    });

    it('is no longer valid after a password change, and while the account is disabled', async () => {
      const { token } = await links().createReset('mia', reset);
      await fixture.accounts.change('mia', { password: newPassword });
      await expect(use(token)).rejects.toMatchObject(invalid);
      const later = await links().createReset('mia', reset);
      await fixture.accounts.change('mia', { enabled: false });
      await expect(use(later.token)).rejects.toMatchObject(invalid);
      const again = links().createReset('mia', reset);
      await expect(again).rejects.toMatchObject({ code: 'accounts.link_not_possible' });
    });

    it('does not change the password of an account that the settings declare in the meantime', async () => {
      const { token } = await links().createReset('mia', reset);
      const passwordHash = (await exportHashes()).get('ada') ?? '';
      const user = { name: 'mia', passwordHash, role: 'user' as const };
      await fixture.accounts.declare({ authUsers: [user], authAccess: [], authTokens: [] });
      await expect(use(token)).rejects.toMatchObject(invalid);
      const again = links().createReset('mia', reset);
      await expect(again).rejects.toMatchObject({ code: 'accounts.provisioned' });
      // The row of a link that an earlier version left, used at a host that has not loaded the declaration.
      await fixture.accounts.declare({ authUsers: [], authAccess: [], authTokens: [] });
      await fixture.accounts.create({ name: 'mia', password });
      const later = await links().createReset('mia', reset);
      const declared = { kind: 'account', account: 'mia', name: '', value: '' } as const;
      await fixture.database.kysely.insertInto('declared').values(declared).execute();
      await expect(use(later.token)).rejects.toMatchObject(invalid);
    });

    it('ends when an import changes the password', async () => {
      const data = (await fixture.accounts.exportAccounts({ secrets: true })) as object[];
      await fixture.accounts.change('mia', { password: newPassword });
      const { token } = await links().createReset('mia', reset);
      await fixture.accounts.importAccounts(data);
      await expect(use(token)).rejects.toMatchObject(invalid);
    });

    it('is not created for an account that was removed in the meantime on another host', async () => {
      const { kysely } = fixture.database;
      // The change is not published, so this host still has the account in memory.
      await kysely.deleteFrom('accounts').where('name', '=', 'mia').execute();
      await expect(links().createReset('mia', reset)).rejects.toMatchObject({ code: 'accounts.unknown' });
      expect(await kysely.selectFrom('one_time_links').selectAll().execute()).toEqual([]);
    });

    it('keeps the second factor unless it is asked to disable it', async () => {
      const { secret } = await fixture.accounts.factors.begin('mia');
      await fixture.accounts.factors.confirm('mia', readCode(secret, 0, fixture.clock.now()), address);
      await use((await links().createReset('mia', reset)).token);
      expect((await fixture.accounts.factors.status('mia')).on).toBe(true);
      await use((await links().createReset('mia', { ...reset, removesSecondFactor: true })).token);
      expect(await fixture.accounts.factors.status('mia')).toEqual({ on: false, recoveryLeft: 0, passkeys: [] });
      expect(fixture.logged.join('\n')).toContain('"detail":"reset by a one-time link"');
    });

    it('is still valid after a password that is too weak', async () => {
      const { token } = await links().createReset('mia', reset);
      const weak = links().use(token, { name: '', password: 'mia-mia-mia' }, address);
      await expect(weak).rejects.toMatchObject({ code: 'accounts.weak_password' });
      expect(await use(token)).toBe('mia');
    });

    it('is refused for unknown accounts and for service accounts', async () => {
      await fixture.accounts.create({ name: 'robot', kind: 'service' });
      await expect(links().createReset('nobody', reset)).rejects.toMatchObject({ code: 'accounts.unknown' });
      const refused = { code: 'accounts.link_not_possible' };
      await expect(links().createReset('robot', reset)).rejects.toMatchObject(refused);
      await expect(links().createReset('*', reset)).rejects.toMatchObject(refused);
    });
  });

  describe('an invitation', () => {
    it('creates an account with its role and grants, once', async () => {
      const grants = [{ service: 'push', resource: 'home-*', permission: 'read' as const }];
      const { token } = await links().createInvitation({ name: 'jo', role: 'user', grants }, 'ada');
      expect(await links().open(token, address)).toMatchObject({ kind: 'invitation', account: 'jo' });
      expect(await use(token, 'joanna')).toBe('joanna');
      expect(await fixture.accounts.find('joanna')).toMatchObject({
        role: 'user',
        kind: 'person',
        enabled: true,
        grants,
      });
      await expect(use(token, 'jon')).rejects.toMatchObject(invalid);
      expect(await fixture.accounts.find('jon')).toBeUndefined();
    });

    it('is still valid after a taken or invalid name', async () => {
      const { token } = await links().createInvitation(invitation, 'ada');
      await expect(use(token, 'MIA')).rejects.toMatchObject({ code: 'accounts.exists' });
      await expect(use(token, 'no spaces')).rejects.toMatchObject({ code: 'accounts.invalid' });
      await expect(use(token, '*')).rejects.toMatchObject({ code: 'accounts.invalid' });
      expect(await use(token, 'jo')).toBe('jo');
    });

    it('expires after seven days', async () => {
      const { token } = await links().createInvitation(invitation, 'ada');
      fixture.clock.advance(7 * dayMs - 1);
      await links().open(token, address);
      fixture.clock.advance(1);
      await expect(use(token, 'jo')).rejects.toMatchObject(invalid);
      expect(await links().list()).toEqual([]);
    });

    it('stops working when it is revoked, or when its creator is no longer an administrator', async () => {
      const revoked = await links().createInvitation(invitation, 'ada');
      await links().revoke(revoked.link.id);
      await expect(use(revoked.token, 'jo')).rejects.toMatchObject(invalid);
      await expect(links().revoke(revoked.link.id)).rejects.toMatchObject({ code: 'accounts.unknown_link' });
      await fixture.accounts.create({ name: 'eve', password, role: 'admin' });
      const { token } = await links().createInvitation({ ...invitation, role: 'admin' }, 'eve');
      await fixture.accounts.change('eve', { role: 'user' });
      await expect(use(token, 'jo')).rejects.toMatchObject(invalid);
      await fixture.accounts.change('eve', { role: 'admin' });
      await fixture.accounts.remove('eve');
      await expect(use(token, 'jo')).rejects.toMatchObject(invalid);
    });

    it.each([
      ['loses the role', () => fixture.accounts.change('eve', { role: 'user' })],
      ['is disabled', () => fixture.accounts.change('eve', { enabled: false })],
      [
        'loses the role by a declaration',
        async () => {
          const user = { name: 'eve', passwordHash: (await exportHashes()).get('eve') ?? '', role: 'user' as const };
          await fixture.accounts.declare({ authUsers: [user], authAccess: [], authTokens: [] });
        },
      ],
      [
        'loses the role by an import',
        async () => {
          const data = (await fixture.accounts.exportAccounts({ secrets: true })) as { name: string; role: string }[];
          const role = 'user';
          await fixture.accounts.importAccounts(data.map((each) => (each.name === 'eve' ? { ...each, role } : each)));
        },
      ],
    ])('is deleted when its creator %s', async (_change, change) => {
      await fixture.accounts.create({ name: 'eve', password, role: 'admin' });
      await links().createInvitation(invitation, 'eve');
      const { link } = await links().createInvitation(invitation, 'ada');
      await change();
      const rows = await fixture.database.kysely.selectFrom('one_time_links').select('id').execute();
      expect(rows).toEqual([{ id: link.id }]);
    });

    it('publishes a change when it is created or revoked, so that pages reload the links', async () => {
      const countChanges = (): number => fixture.changed.filter((name) => name === 'ada').length;
      const before = countChanges();
      const { link } = await links().createInvitation(invitation, 'ada');
      await vi.waitFor(() => expect(countChanges()).toBe(before + 1));
      await links().revoke(link.id);
      await vi.waitFor(() => expect(countChanges()).toBe(before + 2));
    });

    it('is limited in number', async () => {
      for (let count = 0; count < 100; count += 1) await links().createInvitation(invitation, 'ada');
      const one = links().createInvitation(invitation, 'ada');
      await expect(one).rejects.toMatchObject({ code: 'accounts.too_many_links', status: 409 });
    });
  });

  describe('the tokens of one-time links', () => {
    it('are stored as hashes and never logged', async () => {
      const created = [await links().createReset('mia', reset), await links().createInvitation(invitation, 'ada')];
      await expect(links().open('A'.repeat(43), address)).rejects.toMatchObject(invalid);
      await use(created[0]?.token ?? '');
      const rows = JSON.stringify(await fixture.database.kysely.selectFrom('one_time_links').selectAll().execute());
      for (const { token } of created) {
        expect(token).toMatch(/^[\w-]{43}$/);
        expect(rows).not.toContain(token);
        expect(fixture.logged.join('\n')).not.toContain(token);
      }
      for (const event of ['link_created', 'link_used', 'sign_in_failed'])
        expect(fixture.logged.join('\n')).toContain(`"event":"${event}"`);
    });

    it('are throttled by address when they are wrong', async () => {
      const guess = (): Promise<unknown> => links().open('B'.repeat(43), address);
      for (let count = 0; count < 30; count += 1) await expect(guess()).rejects.toMatchObject(invalid);
      await expect(guess()).rejects.toMatchObject(tooMany);
      const { token } = await links().createReset('mia', reset);
      expect(await links().open(token, address)).toMatchObject({ account: 'mia' });
    });
  });
});
