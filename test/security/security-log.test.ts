import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';

let access: AccessHost;
beforeAll(async () => {
  access = await openAccessHost({}, { services: [control] });
});
afterAll(() => access[Symbol.asyncDispose]());

const lines = (event: string): readonly string[] =>
  access.rig.log.filter((line) => line.includes(`event=${event} `) || line.includes(`"event":"${event}"`));

/** Finds the address as fail2ban does with the documented filter: it removes the date, then matches what remains. */
function findAddress(line: string): string | undefined {
  const text = readFileSync(new URL('../../docs/security-log.md', import.meta.url), 'utf8');
  const read = (name: string): string => new RegExp(`^${name} = (.+)`, 'm').exec(text)?.[1] ?? '';
  const digits: Readonly<Record<string, string>> = {
    Y: '[0-9]{4}',
    f: '[0-9]{1,6}',
    z: '(?:Z|[+-][0-9]{2}:?[0-9]{2})',
  };
  const date = read('datepattern').replaceAll(/%%(.)/g, (_, letter: string) => digits[letter] ?? '[0-9]{2}');
  const withoutDate = line.replace(new RegExp(date), '');
  if (withoutDate === line) return undefined;
  const pattern = read('failregex').replace('<HOST>', '(?<host>[0-9a-f.:]+)');
  return new RegExp(pattern).exec(withoutDate)?.groups?.['host'];
}

describe('security log', () => {
  it('records failed sign-ins so that the documented fail2ban filter finds the address', async () => {
    const name = 'x address=198.51.100.9';
    const body = { name, password: 'guess' };
    expect((await access.call('anonymous', 'control', 'POST', '/api/session', body)).status).toBe(401);
    const [line = ''] = lines('sign_in_failed');
    expect(findAddress(line)).toBe('127.0.0.1');
    const written = readFileSync(join(access.rig.dataDir, 'logs', 'homeport.log'), 'utf8');
    expect(written.split('\n')).toContain(line);
    expect(line).not.toContain('guess');
  });

  it('records refused requests, sign-ins and account changes with their accounts', async () => {
    expect((await access.call('nogrant', 'control', 'GET', '/api/accounts')).status).toBe(403);
    expect(lines('access_refused').join()).toContain('account=nogrant');
    expect(lines('account_created').join()).toMatch(/target=control account=nogrant by=ada/);
    const base = access.rig.url('control');
    await api(base, '/api/accounts/nogrant', { method: 'PATCH', body: JSON.stringify({ role: 'admin' }) });
    expect(lines('role_changed').join()).toContain('detail="user to admin"');
    await api(base, '/api/accounts/nogrant/tokens', { method: 'POST', body: '{}' });
    expect(lines('token_created')).toHaveLength(1);
    await api(base, '/api/accounts/nogrant?data=delete', { method: 'DELETE' });
    expect(lines('account_removed').join()).toMatch(/account=nogrant by=ada detail="data: delete"/);
    expect(access.rig.log.join()).not.toContain(accessPassword);
  });
});

describe('sessions of the account', () => {
  it('lists the own sessions and signs out one or all others', async () => {
    const base = access.rig.url('control');
    await api(base, '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({ name: 'mia', password: accessPassword }),
    });
    const signIn = async (): Promise<Record<string, string>> => {
      const reply = await access.call('anonymous', 'control', 'POST', '/api/session', {
        name: 'mia',
        password: accessPassword,
      });
      return { 'Homeport-Session': ((await reply.json()) as { session: string }).session };
    };
    const [first, second] = [await signIn(), await signIn()];
    const { sessions } = await (await fetch(`${base}/api/account/sessions`, { headers: first })).json();
    expect(sessions.map(({ current }: { current: boolean }) => current).sort()).toEqual([false, true]);
    expect((await fetch(`${base}/api/account/sessions`, { method: 'DELETE', headers: first })).status).toBe(200);
    expect((await fetch(`${base}/api/account`, { headers: second })).status).toBe(401);
    expect((await fetch(`${base}/api/account`, { headers: first })).status).toBe(200);
  });
});

describe('new passwords', () => {
  it.each([
    ['short', 'abcdefgh1'],
    ['common', 'password1234'],
    ['repeated', 'abcabcabcabc'],
    ['a run', '0123456789'],
    ['the name', 'grace-grace-1'],
    ['the product', 'homeport2026'],
  ])('refuses %s', async (_reason, password) => {
    const reply = await access.call('admin', 'control', 'POST', '/api/accounts', { name: 'grace', password });
    expect([400, 422]).toContain(reply.status);
  });
});
