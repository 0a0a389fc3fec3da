import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Credentials, Grant, Identity, Permission } from '../../../services/contracts/control/accounts.ts';
import { basic, bearer, openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

let fixture: AccountsFixture;
let mia: Identity;
beforeEach(async () => {
  fixture = await openAccountsFixture();
  await fixture.accounts.create({ name: 'mia', password: 'correct horse' });
  mia = await signedIn('mia');
});
afterEach(() => fixture[Symbol.asyncDispose]());

const signedIn = (name: string, password = 'correct horse') => identify(basic(name, password));

async function identify(credentials: Credentials): Promise<Identity> {
  const identity = await fixture.accounts.authenticate(credentials);
  if (identity === undefined) throw new Error('not signed in');
  return identity;
}
const on = (resource: string, permission: Permission = 'read-write', service = 'push'): Grant => ({
  service,
  resource,
  permission,
});
const give = (name: string, ...grants: readonly Grant[]) => fixture.accounts.change(name, { grants });
const may = (resource: string, permission: 'read' | 'write' = 'read', identity: Identity = mia) =>
  fixture.accounts.may(identity, 'push', permission, resource);
/** Checks the permission of a caller without credentials. */
const anyoneMay = (resource: string, permission: 'read' | 'write' = 'read') =>
  fixture.accounts.may(undefined, 'push', permission, resource);

describe('grant patterns', () => {
  test.each([
    ['alerts', 'alerts', true],
    ['alerts', 'Alerts', false],
    ['alerts', 'alerts2', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['*-*-backup', 'nas-error-backup', true],
    ['*-*-backup', 'a-b-c-backup', true],
    ['*-*-backup', '--backup', true],
    ['*-*-backup', '-backup', false],
    ['*-*-backup', 'nas-error-backup2', false],
    ['*-*-backup', 'backup', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a**b', 'ab', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'xxbxxaxx', false],
    ['*ab*ab', 'ab', false],
    ['*ab*ab', 'abab', true],
    ['a_b', 'axb', false],
    ['a.b', 'axb', false],
    ['a%', 'abc', false],
    ['[a-z]?', 'ab', false],
    ['(a+)+$', '(a+)+$', true],
    ['\\*', '\\anything', true],
  ])('matches %s against %s: %s', async (pattern, resource, expected) => {
    await give('mia', on(pattern));
    expect(may(resource)).toBe(expected);
  });

  test('matches wildcards against a long text in linear time', async () => {
    await give('mia', on(`${'*a'.repeat(63)}*b`));
    // Backtracking would never finish.
    expect(may('a'.repeat(1_000_000))).toBe(false);
  });
});

describe('grant precedence', () => {
  test('denies without a grant, for accounts and for everyone', () => {
    expect(may('alerts')).toBe(false);
    expect(anyoneMay('alerts')).toBe(false);
  });

  test.each<[Permission, boolean, boolean]>([
    ['read-write', true, true],
    ['read', true, false],
    ['write', false, true],
    ['none', false, false],
  ])('allows with %s reading: %s, writing: %s', async (permission, read, write) => {
    await give('mia', on('alerts', permission));
    expect([may('alerts', 'read'), may('alerts', 'write')]).toEqual([read, write]);
  });

  test('prefers the longest matching pattern in any order', async () => {
    await give('mia', on('*'), on('secret-*', 'none'), on('secret-but-mine', 'read'), on('s*', 'read-write'));
    expect(may('open', 'write')).toBe(true);
    expect(may('secret-x')).toBe(false);
    expect(may('secret-but-mine')).toBe(true);
    expect(may('secret-but-mine', 'write')).toBe(false);
  });

  test('prefers writing in a tie, and denial over reading', async () => {
    await give('mia', on('a*', 'read'), on('*b', 'write'), on('c*', 'read'), on('*d', 'none'));
    expect([may('ab', 'read'), may('ab', 'write')]).toEqual([false, true]);
    expect(may('cd', 'read')).toBe(false);
  });

  test('prefers own grants to those of everyone, regardless of length', async () => {
    await give('*', on('alerts', 'read-write'));
    expect(may('alerts', 'write')).toBe(true);
    await give('mia', on('*', 'read'));
    expect(may('alerts', 'write')).toBe(false);
    expect(anyoneMay('alerts', 'write')).toBe(true);
  });

  test('limits grants to their service', async () => {
    await give('mia', on('*', 'read-write', 'notify'));
    expect(may('alerts')).toBe(false);
    expect(fixture.accounts.may(mia, 'notify', 'write', 'alerts')).toBe(true);
  });

  test('allows administrators everything', async () => {
    await fixture.accounts.create({
      name: 'root',
      password: 'correct horse',
      role: 'admin',
      grants: [on('*', 'none')],
    });
    expect(may('alerts', 'write', await signedIn('root'))).toBe(true);
  });
});

describe('identity during changes', () => {
  test('follows changes of grants and role', async () => {
    await give('mia', on('*'));
    expect(may('alerts')).toBe(true);
    await give('mia');
    expect(may('alerts')).toBe(false);
    await fixture.accounts.change('mia', { role: 'admin' });
    expect(may('alerts')).toBe(true);
    await fixture.accounts.create({ name: 'root', password: 'correct horse', role: 'admin' });
    await fixture.accounts.change('mia', { role: 'user' });
    expect(may('alerts')).toBe(false);
  });

  test('becomes invalid with its token, session, password or account', async () => {
    await give('mia', on('*'));
    const { text, token } = await fixture.accounts.createToken('mia', {
      label: '',
      expiresAt: fixture.clock.now() + 1000,
    });
    const byToken = await identify(bearer(text));
    const { identity: bySession } = await fixture.accounts.signIn('mia', 'correct horse', {
      remoteAddress: '::1',
      userAgent: '',
    });
    expect([may('a', 'read', byToken), may('a', 'read', bySession), may('a')]).toEqual([true, true, true]);
    fixture.clock.advance(1000);
    expect(may('a', 'read', byToken)).toBe(false);
    await fixture.accounts.removeToken('mia', token.id);
    expect(may('a', 'read', byToken)).toBe(false);
    await fixture.accounts.signOut(bySession);
    expect(may('a', 'read', bySession)).toBe(false);
    expect(may('a')).toBe(true);
    await fixture.accounts.change('mia', { password: 'battery staple' });
    expect(may('a')).toBe(false);
    const second = await signedIn('mia', 'battery staple');
    expect(may('a', 'read', second)).toBe(true);
    await fixture.accounts.remove('mia');
    expect(may('a', 'read', second)).toBe(false);
  });

  test('has not even the permissions of everyone for a disabled account', async () => {
    await give('*', on('*'));
    await fixture.accounts.change('mia', { enabled: false });
    expect(may('a')).toBe(false);
    expect(anyoneMay('a')).toBe(true);
  });

  test('has each pattern set individually', async () => {
    await give('mia', on('a'), on('b', 'read'));
    await Promise.all([
      fixture.accounts.setGrant('mia', 'push', 'c', 'write'),
      fixture.accounts.setGrant('mia', 'push', 'b', 'none'),
      fixture.accounts.setGrant('mia', 'push', 'a', undefined),
      fixture.accounts.setGrant('mia', 'push', 'never', undefined),
    ]);
    expect((await fixture.accounts.find('mia'))?.grants).toEqual([on('b', 'none'), on('c', 'write')]);
    await fixture.accounts.setGrant('*', 'push', 'open', 'read');
    expect([anyoneMay('open'), anyoneMay('open', 'write')]).toEqual([true, false]);
    await expect(fixture.accounts.setGrant('nobody', 'push', 'a', 'read')).rejects.toMatchObject({
      code: 'accounts.unknown',
    });
  });

  test('is valid as long as its credentials', async () => {
    expect(fixture.accounts.isStillValid(mia)).toBe(true);
    await fixture.accounts.change('mia', { password: 'battery staple' });
    expect(fixture.accounts.isStillValid(mia)).toBe(false);
  });

  test('treats hostile resources as plain text', async () => {
    await give('mia', on('a'));
    for (const resource of ['', '\0', 'a\0', '*', 'mia\0push\0read\0a', 'x'.repeat(1_000_000), '__proto__'])
      expect(may(resource)).toBe(false);
    for (let index = 0; index < 30_000; index += 1) may(`topic-${index}`);
    expect(may('a')).toBe(true);
  });
});

describe('predefined service accounts', () => {
  test('creates them disabled with their grants', async () => {
    const accounts = (await fixture.accounts.list()).filter(({ kind }) => kind === 'service');
    expect(accounts.map(({ name, role, enabled, hasPassword }) => [name, role, enabled, hasPassword])).toEqual([
      ['administration', 'admin', false, false],
      ['backup-jobs', 'user', false, false],
      ['metrics-alerts', 'user', false, false],
      ['monitoring', 'user', false, false],
      ['workflow-engine', 'user', false, false],
    ]);
    expect(accounts.every(({ description }) => description !== '')).toBe(true);
  });

  test.each([
    ['metrics-alerts', 'nas-error-monitoring', false, true],
    ['metrics-alerts', 'nas-error-backup', false, false],
    ['backup-jobs', 'nas-info-backup', false, true],
    ['workflow-engine', 'ci-info-deployment', true, true],
    ['workflow-engine', 'ci-info-maintenance', true, true],
    ['workflow-engine', 'ci-info-security', false, false],
    ['monitoring', 'anything', true, true],
    ['administration', 'anything', true, true],
  ])('grants %s on %s: read %s, write %s once enabled', async (name, topic, read, write) => {
    await fixture.accounts.change(name, { enabled: true });
    const { text } = await fixture.accounts.createToken(name, { label: '', expiresAt: null });
    const identity = await identify(bearer(text));
    expect([may(topic, 'read', identity), may(topic, 'write', identity)]).toEqual([read, write]);
    await fixture.accounts.change(name, { enabled: false });
    expect(may(topic, 'write', identity)).toBe(false);
  });

  test('are not created again after their removal', async () => {
    await fixture.accounts.remove('monitoring');
    expect(await (await fixture.another()).find('monitoring')).toBeUndefined();
  });
});

describe('token with scopes', () => {
  const createToken = async (name: string, ...scopes: readonly Grant[]) => {
    const { token, text } = await fixture.accounts.createToken(name, { label: '', expiresAt: null, scopes });
    expect(token.scopes).toEqual(scopes);
    return identify(bearer(text));
  };

  test('has only the rights of its account within the scopes', async () => {
    await give('mia', on('backup-*'), on('alerts', 'read'));
    const token = await createToken('mia', on('backup-nas', 'write'), on('alerts'), on('secret'));
    expect(token).toMatchObject({ account: 'mia', limited: true });
    expect(may('backup-nas', 'write', token)).toBe(true);
    expect(may('backup-nas', 'read', token)).toBe(false);
    expect(may('backup-pc', 'write', token)).toBe(false);
    // A token has no permission that its account lacks.
    expect(may('alerts', 'read', token)).toBe(true);
    expect(may('alerts', 'write', token)).toBe(false);
    expect(may('secret', 'read', token)).toBe(false);
    expect(fixture.accounts.may(token, 'downloads', 'read', '*')).toBe(false);
    expect(may('backup-pc', 'write')).toBe(true);
  });

  test('does not use grants of everyone beyond them', async () => {
    await give('*', on('open'));
    expect(may('open', 'read', await createToken('mia', on('alerts')))).toBe(false);
  });

  test('denies a longer pattern within a wider one', async () => {
    await give('mia', on('*'));
    const token = await createToken('mia', on('*'), on('secret-*', 'none'));
    expect(may('alerts', 'write', token)).toBe(true);
    expect(may('secret-plans', 'read', token)).toBe(false);
  });

  test('does not let a token of an administrator administrate', async () => {
    await fixture.accounts.create({ name: 'ada', password: 'correct horse', role: 'admin' });
    const token = await createToken('ada', on('alerts', 'write'));
    expect(token.role).toBe('user');
    expect(may('alerts', 'write', token)).toBe(true);
    expect(may('alerts', 'read', token)).toBe(false);
    expect(fixture.accounts.may(token, 'metrics', 'read', 'all')).toBe(false);
  });

  test('keeps its scopes on another host and in an export and import', async () => {
    await give('mia', on('*'));
    const { text } = await fixture.accounts.createToken('mia', {
      label: 'nas',
      expiresAt: null,
      scopes: [on('backup-*', 'write')],
    });
    const data = await fixture.accounts.exportAccounts({ secrets: false });
    await fixture.accounts.importAccounts(data);
    const otherFixture = await fixture.another();
    const token = await otherFixture.authenticate(bearer(text));
    expect(otherFixture.may(token, 'push', 'write', 'backup-nas')).toBe(true);
    expect(otherFixture.may(token, 'push', 'write', 'alerts')).toBe(false);
  });
});
