import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { git } from '../../services/git/index.ts';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';

let host: AccessHost;
beforeAll(async () => {
  host = await openAccessHost(
    { mia: [{ service: 'git', resource: '*', permission: 'read-write' }] },
    { services: [control, git] },
  );
});
afterAll(() => host[Symbol.asyncDispose]());

const createOrganization = (username: string): Promise<Response> =>
  host.call('admin', 'git', 'POST', '/api/v1/orgs', { username });
const rename = (from: string, to: string): Promise<Response> =>
  host.call('admin', 'git', 'POST', `/api/v1/orgs/${from}/rename`, { new_name: to });
const createAccount = async (name: string): Promise<number> =>
  (await host.call('admin', 'control', 'POST', '/api/accounts', { name, password: accessPassword })).status;

describe('a renamed organization', () => {
  it.each(['mia', 'MIA'])('cannot use the name of an account: %s', async (name) => {
    await createOrganization('guild');
    expect((await rename('guild', name)).status).toBe(422);
    expect((await host.call('mia', 'git', 'GET', '/api/v1/users/mia')).status).toBe(200);
  });

  it('keeps its new name from accounts, in any spelling', async () => {
    await createOrganization('port');
    expect((await rename('port', 'harbor')).status).toBe(204);
    for (const name of ['harbor', 'Harbor']) expect(await createAccount(name)).toBe(409);
  });

  it('leaves its former name to others', async () => {
    await createOrganization('former');
    expect((await rename('former', 'latter')).status).toBe(204);
    expect(await createAccount('former')).toBe(200);
    expect((await rename('latter', 'former')).status).toBe(422);
  });

  it('cannot use the name that owns the data of a removed account', async () => {
    expect(await createAccount('leaver')).toBe(200);
    await host.call('admin', 'control', 'DELETE', '/api/accounts/leaver?data=keep');
    await createOrganization('club');
    expect((await rename('club', 'Leaver.removed')).status).toBe(422);
  });
});

describe('an account', () => {
  it('cannot be renamed', async () => {
    const changes = [
      host.call('admin', 'git', 'POST', '/api/v1/admin/users/mia/rename', { new_username: 'guild' }),
      host.call('admin', 'control', 'PATCH', '/api/accounts/mia', { name: 'guild' }),
      host.call('admin', 'git', 'PATCH', '/api/v1/admin/users/mia', { login_name: 'guild', username: 'guild' }),
    ];
    await Promise.all(changes);
    const { accounts } = (await (await host.call('admin', 'control', 'GET', '/api/accounts')).json()) as {
      readonly accounts: readonly { readonly name: string }[];
    };
    expect(accounts.map(({ name }) => name)).toContain('mia');
    expect(accounts.map(({ name }) => name)).not.toContain('guild');
  });
});
