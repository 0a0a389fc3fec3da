import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { admin, openRig, type Rig } from './rig.ts';

const folder = mkdtempSync(join(tmpdir(), 'push-declared-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hash = (password: string): string => bcrypt.hashSync(password, 4);
const [first, second] = [hash('secret one'), hash('secret two')];
const tokens = { nas: `tk_${'n'.repeat(29)}`, other: `tk_${'o'.repeat(29)}` };
const toBasic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const toBearer = (token: string) => ({ authorization: `Bearer ${token}` });
const adminHeaders = { authorization: admin };

/** Starts a server on the folder with declarations of homeport.yaml. */
async function start(declared: Record<string, unknown>): Promise<Rig> {
  writeFileSync(join(folder, 'homeport.yaml'), stringify({ version: 1, host: declared }));
  return await openRig({ dataDir: folder });
}

const fullDeclaration = {
  authUsers: [
    { name: 'phil', passwordHash: first, role: 'admin' },
    { name: 'nas', passwordHash: second },
  ],
  authAccess: [
    { user: 'nas', pattern: '*-backup', permission: 'write' },
    { user: '*', pattern: 'open', permission: 'read' },
    { user: 'nobody', pattern: 'x', permission: 'read' },
  ],
  authTokens: [
    { user: 'nas', token: tokens.nas, label: 'scripts' },
    { user: 'nobody', token: tokens.other },
  ],
};

describe('accounts, grants and tokens of homeport.yaml', () => {
  let rig: Rig;
  beforeAll(async () => {
    // With another administrator, so that the declared one is not the last.
    rig = await start({});
    await rig[Symbol.asyncDispose]();
    rig = await start(fullDeclaration);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const sendRequest = (method: string, path: string, headers: Record<string, string>, body = '') =>
    rig.ask(method, path, body === '' ? headers : { ...headers, 'content-length': String(body.length) }, body);
  const status = async (...request: Parameters<typeof sendRequest>) => (await sendRequest(...request)).status;
  const code = async (method: string, path: string, headers: Record<string, string>, body: object) =>
    (JSON.parse((await sendRequest(method, path, headers, JSON.stringify(body))).text) as { code: number }).code;

  it('creates declared entries at the start', async () => {
    expect(await status('GET', '/v1/users', toBasic('phil', 'secret one'))).toBe(200);
    expect(await status('POST', '/db-backup', toBearer(tokens.nas))).toBe(200);
    expect(await status('POST', '/db-backup', toBasic('nas', 'secret two'))).toBe(200);
    expect(await status('POST', '/door', toBearer(tokens.nas))).toBe(403);
    expect(await status('GET', '/open/json?poll=1', {})).toBe(200);
    expect(await status('POST', '/open', {})).toBe(403);
  });

  it('are skipped with a log record when they refer to an unknown account', async () => {
    expect(await status('POST', '/x', toBearer(tokens.other))).toBe(401);
    expect(rig.host.log.join('\n')).toMatch(/declared grant skipped.*nobody/);
    expect(rig.host.log.join('\n')).not.toContain(tokens.other);
  });

  it('are marked as provisioned in lists', async () => {
    const nas = toBearer(tokens.nas);
    expect(JSON.parse((await rig.ask('GET', '/v1/account', nas)).text).tokens).toMatchObject([
      { label: 'scripts', provisioned: true },
    ]);
    expect(await rig.context.accounts.find('nas')).toMatchObject({ provisioned: true });
    expect(await rig.context.accounts.find('admin')).not.toHaveProperty('provisioned');
  });

  it("can only be changed in the file, with ntfy's error codes", async () => {
    const change = { password: 'secret two', new_password: 'secret new' };
    expect(await code('POST', '/v1/account/password', toBasic('nas', 'secret two'), change)).toBe(40905);
    expect(await code('DELETE', '/v1/account', toBasic('nas', 'secret two'), { password: 'secret two' })).toBe(40905);
    expect(await code('DELETE', '/v1/users', adminHeaders, { username: 'nas' })).toBe(40905);
    expect(await code('PUT', '/v1/users', adminHeaders, { username: 'nas', password: 'secret new' })).toBe(40905);
    const grant = { username: 'nas', topic: '*-backup', permission: 'ro' };
    expect(await code('PUT', '/v1/users/access', adminHeaders, grant)).toBe(40905);
    expect(await code('DELETE', '/v1/users/access', adminHeaders, grant)).toBe(40905);
    expect(await code('PATCH', '/v1/account/token', toBearer(tokens.nas), { label: 'mine' })).toBe(40906);
    expect(await code('DELETE', '/v1/account/token', toBearer(tokens.nas), {})).toBe(40906);
    const page = await fetch(`${rig.host.url('control')}/api/accounts/nas`, {
      method: 'PATCH',
      headers: { ...adminHeaders, 'content-type': 'application/json' },
      body: JSON.stringify({ enabled: false }),
    });
    expect([page.status, await page.json()]).toMatchObject([409, { error: { code: 'accounts.provisioned' } }]);
  });

  it('can be supplemented', async () => {
    const grant = { username: 'nas', topic: 'door', permission: 'rw' };
    expect(await status('POST', '/v1/users/access', adminHeaders, JSON.stringify(grant))).toBe(200);
    expect(await status('POST', '/door', toBearer(tokens.nas))).toBe(200);
    expect(await status('POST', '/v1/account/token', toBearer(tokens.nas), '{"label":"phone"}')).toBe(200);
  });

  it('keeps declared entries after a restart without ending sessions', async () => {
    const { secret } = await rig.context.accounts.signIn('nas', 'secret two', { remoteAddress: '::1', userAgent: 't' });
    await rig[Symbol.asyncDispose]();
    rig = await start(fullDeclaration);
    const identity = await rig.context.accounts.authenticate({ session: secret, remoteAddress: '127.0.0.1' });
    expect(identity).toMatchObject({ account: 'nas', via: 'session' });
    expect(await status('POST', '/db-backup', toBearer(tokens.nas))).toBe(200);
  });

  it('applies changes of the file and deletes entries with their declaration', async () => {
    await rig[Symbol.asyncDispose]();
    rig = await start({
      authUsers: [{ name: 'nas', passwordHash: first }],
      authAccess: [{ user: 'nas', pattern: '*-backup', permission: 'read-write' }],
    });
    expect(await status('GET', '/v1/users', toBasic('phil', 'secret one'))).toBe(401);
    expect(await status('POST', '/db-backup', toBearer(tokens.nas))).toBe(401);
    expect(await status('POST', '/db-backup', toBasic('nas', 'secret two'))).toBe(401);
    const nas = toBasic('nas', 'secret one');
    expect(await status('GET', '/db-backup/json?poll=1', nas)).toBe(200);
    expect(await status('GET', '/open/json?poll=1', {})).toBe(403);
    // A grant added through the API remains.
    expect(await status('POST', '/door', nas)).toBe(200);
    await rig[Symbol.asyncDispose]();
    rig = await start({});
    expect(await status('POST', '/door', nas)).toBe(401);
    expect(await rig.context.accounts.find('nas')).toBeUndefined();
  });
});
