import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';
import { accountGrants, createOwnedData, ownedData, send } from './account-data-rows.ts';

let access: AccessHost;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-removal-'));
  mkdirSync(join(folder, 'from'));
  access = await openAccessHost({});
  await request('admin', 'git', 'POST', '/api/v1/user/repos', { name: 'public', private: false, auto_init: true });
});
afterAll(async () => {
  await access[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const table = ownedData;
const request = (account: string, listener: string, method: string, path: string, body?: object): Promise<string> =>
  send(access, [account, listener], [method, path], body);

async function createAccount(name: string, role: 'admin' | 'user' = 'user'): Promise<void> {
  const account = { name, role, password: accessPassword, grants: accountGrants };
  await request('admin', 'control', 'POST', '/api/accounts', account);
}

const removeAccount = (name: string, query: string): Promise<string> =>
  request('admin', 'control', 'DELETE', `/api/accounts/${name}?${query}`);

const cases = Object.entries(table).flatMap(([what, data]) =>
  (['delete', 'transfer', 'keep'] as const).map((action) => ({ what, data, action, outcome: data[action] })),
);

describe('data of a removed account', () => {
  it.each(cases)('transfers $what to $outcome after $action', async ({ what, data, action, outcome }) => {
    const name = `temp-${action}-${String(Object.keys(table).indexOf(what))}`;
    const successorName = `heir-${name}`;
    const { listener = 'control', mark } = data;
    await createAccount(name, data.role);
    await createAccount(successorName, data.role);
    const list = await createOwnedData(access, data, { name, folder });
    const read = async (account: string): Promise<string> =>
      (await access.call(account, listener, 'GET', list.replaceAll('NAME', account))).text();
    expect(await read(name)).toContain(mark);
    await removeAccount(name, action === 'transfer' ? `data=transfer&to=${successorName}` : `data=${action}`);
    if (outcome === 'recipient') expect(await read(successorName)).toContain(mark);
    const remainder = data.remainingPath?.(name) ?? list;
    if (outcome === 'administrator')
      expect(await request('admin', listener, 'GET', remainder)).toContain(data.keptMark ?? mark);
    if (data.delete === 'recipient') return;
    if (outcome !== 'recipient') expect(await read(successorName)).not.toContain(mark);
    // A later account of the same name, and of one that differs in case only.
    for (const newName of [name, name.toUpperCase()]) {
      await createAccount(newName, data.role);
      expect(await read(newName)).not.toContain(mark);
      await removeAccount(newName, 'data=delete');
    }
    if (outcome === 'recipient') expect(await read(successorName)).toContain(mark);
  });

  it('ends credentials of the former account', async () => {
    await createAccount('temp-credentials');
    const token = JSON.parse(
      await request('temp-credentials', 'control', 'POST', '/api/account/tokens', { label: 't' }),
    );
    const session = JSON.parse(
      await request('anonymous', 'control', 'POST', '/api/session', {
        name: 'temp-credentials',
        password: accessPassword,
      }),
    );
    await removeAccount('temp-credentials', 'data=keep');
    await createAccount('temp-credentials');
    const base = access.rig.url('control');
    for (const headers of [{ Authorization: `Bearer ${token.text}` }, { 'Homeport-Session': session.session }])
      expect((await fetch(`${base}/api/account`, { headers })).status).toBe(401);
  });

  it('deletes the messages of a topic that the account had reserved', async () => {
    await createAccount('temp-topic', 'admin');
    await createAccount('temp-reader');
    await request('temp-topic', 'push', 'POST', '/v1/account/reservation', { topic: 'diary', everyone: 'deny-all' });
    await request('temp-topic', 'push', 'POST', '/diary', { topic: 'diary', message: 'Dear diary' });
    const read = (): Promise<string> => request('temp-reader', 'push', 'GET', '/diary/json?poll=1&since=all');
    expect(await read()).toContain('Dear diary');
    await removeAccount('temp-topic', 'data=delete');
    expect(await read()).not.toContain('Dear diary');
  });

  it('permits an administrator to take over a topic of a removed account', async () => {
    await createAccount('temp-kept', 'admin');
    const reservation = { topic: 'kept-topic', everyone: 'deny-all' };
    await request('temp-kept', 'push', 'POST', '/v1/account/reservation', reservation);
    await removeAccount('temp-kept', 'data=keep');
    await request('admin', 'push', 'POST', '/v1/account/reservation', reservation);
    expect(await request('admin', 'push', 'GET', '/v1/account')).toContain('kept-topic');
  });

  it('lists the data of the account in each service before the removal', async () => {
    await createAccount('temp-summary');
    for (const data of Object.values(table).filter(({ role, keep }) => role === undefined && keep === 'administrator'))
      await createOwnedData(access, data, { name: 'temp-summary', folder });
    const { data } = JSON.parse(await request('admin', 'control', 'GET', '/api/accounts/temp-summary/data'));
    const services = data.map(({ service }: { readonly service: string }) => service);
    expect(services.sort()).toEqual(['addons', 'git', 'sync']);
  });
});
