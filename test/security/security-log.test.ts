import { readFileSync } from 'node:fs';
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

/** The filter of the documentation, as fail2ban reads it. */
function documentedFilter(): RegExp {
  const text = readFileSync(new URL('../../docs/security-log.md', import.meta.url), 'utf8');
  const pattern = /failregex = (.+)/.exec(text)?.[1] ?? '';
  return new RegExp(pattern.replace('<HOST>', '(?<host>[0-9a-f.:]+)'));
}

describe('security log', () => {
  it('records failed sign-ins so that the documented fail2ban filter finds the address', async () => {
    const name = 'x address=198.51.100.9';
    const body = { name, password: 'guess' };
    expect((await access.call('anonymous', 'control', 'POST', '/api/session', body)).status).toBe(401);
    const [line = ''] = lines('sign_in_failed');
    expect(documentedFilter().exec(line)?.groups?.['host']).toBe('127.0.0.1');
    expect(line).not.toContain('guess');
  });

  it('records refused requests, sign-ins and changes of accounts with who did them', async () => {
    expect((await access.call('nogrant', 'control', 'GET', '/api/accounts')).status).toBe(403);
    expect(lines('access_refused').join()).toContain('account=nogrant');
    expect(lines('account_created').join()).toMatch(/target=control account=nogrant by=ada/);
    const base = access.rig.url('control');
    await api(base, '/api/accounts/nogrant', { method: 'PATCH', body: JSON.stringify({ role: 'admin' }) });
    expect(lines('role_changed').join()).toContain('detail="user to admin"');
    await api(base, '/api/accounts/nogrant/tokens', { method: 'POST', body: '{}' });
    expect(lines('token_created')).toHaveLength(1);
    expect(access.rig.log.join()).not.toContain(accessPassword);
  });
});

describe('own sessions', () => {
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
