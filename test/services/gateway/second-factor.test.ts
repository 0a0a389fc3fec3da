import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateCode, toTimeStep } from '../../../services/kit/totp.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { openHome, type Answer, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';

const services = [fixtureService('lamp'), control, gateway];
let clock: FakeClock;
let home: Home;
let bySession: Record<string, string>;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  home = await openHome({ services, clock, settings: { shared: ['lamp'] } });
  const signIn = { method: 'POST', body: JSON.stringify(admin) };
  const { session } = await api<{ session: string }>(home.host.url('control'), '/api/session', signIn);
  // With a second factor, the password alone is not sufficient.
  bySession = { 'Homeport-Session': session, Authorization: '' };
});
afterEach(() => home[Symbol.asyncDispose]());

const callApp = <T = any>(path = '', body?: object): Promise<T> =>
  api<T>(home.host.url('control'), `/api/account/second-factor${path}`, {
    headers: bySession,
    ...(body === undefined ? (path === '' ? {} : { method: 'POST' }) : { method: 'POST', body: JSON.stringify(body) }),
  });
const form = (fields: Record<string, string>): Promise<Answer> =>
  home.ask('https://lamp.nas.local/.homeport/sign-in', {
    method: 'POST',
    headers: { Origin: `https://lamp.nas.local:${home.port}` },
    body: new URLSearchParams({ to: '/', ...fields }).toString(),
  });
const getTicket = ({ body }: Answer): string => /name="ticket" value="([^"]+)"/.exec(body)?.[1] ?? '';

/** Decodes the base32 secret as an authenticator app does. */
function getSecret(text: string): Uint8Array {
  const bits = [...text]
    .map((entry) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(entry).toString(2).padStart(5, '0'))
    .join('');
  return Uint8Array.from((bits.match(/.{8}/g) ?? []).map((entry) => Number.parseInt(entry, 2)));
}

/** Enables the second factor for the administrator and returns the secret and the recovery codes. */
async function switchOn(): Promise<{ code: () => string; recovery: string[] }> {
  const { secret, uri } = await callApp('', { password: admin.password });
  expect(uri).toBe(`otpauth://totp/Homeport:ada?secret=${secret}&issuer=Homeport`);
  const code = (): string => generateCode(getSecret(secret), toTimeStep(clock.now()));
  const { recoveryCodes } = await callApp('/confirm', { code: code() });
  clock.advance(30_000);
  return { code, recovery: recoveryCodes };
}

describe('TOTP codes', () => {
  it('matches the RFC 6238 test vectors', () => {
    const secret = Buffer.from('12345678901234567890');
    expect(
      [59, 1_111_111_109, 20_000_000_000].map((seconds) => generateCode(secret, toTimeStep(seconds * 1000))),
    ).toEqual(['287082', '081804', '353130']);
  });
});

describe('a second factor', () => {
  it('is required after the password', async () => {
    const { code } = await switchOn();
    expect(await callApp()).toEqual({ on: true, recoveryLeft: 10, passkeys: [] });
    const first = await form(admin);
    expect([first.status, first.headers['set-cookie']]).toEqual([200, undefined]);
    const ticket = getTicket(first);
    const wrong = await form({ ticket, code: '000000' });
    expect([wrong.status, wrong.headers['set-cookie'], getTicket(wrong)]).toEqual([401, undefined, ticket]);
    const right = await form({ ticket, code: code() });
    expect(right.status).toBe(303);
    const cookie = right.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await home.ask('https://lamp.nas.local/', { headers: { Cookie: cookie } })).body).toBe('lamp');
    expect((await form({ ticket, code: code() })).status).toBe(401);
    const basic = await home.ask('https://lamp.nas.local/', { headers: { Authorization: adminAuthorization } });
    expect([basic.status, basic.body]).toEqual([401, expect.stringContaining('accounts.token_needed')]);
    const { text } = await api<{ text: string }>(home.host.url('control'), '/api/accounts/ada/tokens', {
      method: 'POST',
      headers: bySession,
      body: '{}',
    });
    const token = { Authorization: `Basic ${Buffer.from(`ada:${text}`).toString('base64')}` };
    expect((await home.ask('https://lamp.nas.local/', { headers: token })).body).toBe('lamp');
  });

  it('accepts each code and recovery code once', async () => {
    const { code, recovery } = await switchOn();
    const signIn = async (code: string): Promise<number> =>
      (await form({ ticket: getTicket(await form(admin)), code })).status;
    expect(await signIn(code())).toBe(303);
    expect(await signIn(code())).toBe(401);
    expect(await signIn(` ${recovery[0]?.toUpperCase() ?? ''} `)).toBe(303);
    expect(await signIn(recovery[0] ?? '')).toBe(401);
    expect(await callApp()).toEqual({ on: true, recoveryLeft: 9, passkeys: [] });
  });

  it('throttles wrong codes', async () => {
    const { code } = await switchOn();
    const ticket = getTicket(await form(admin));
    const answers: Answer[] = [];
    const all = Promise.all(
      Array.from({ length: 40 }, async (_, turn) => answers.push(await form({ ticket, code: String(100_000 + turn) }))),
    );
    while (answers.length < 40) {
      clock.advance(100);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    await all;
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(5);
    expect(answers.every(({ headers }) => headers['set-cookie'] === undefined)).toBe(true);
    expect(code()).toHaveLength(6);
  });

  it('expires a sign-in without a code', async () => {
    const { code } = await switchOn();
    const ticket = getTicket(await form(admin));
    clock.advance(6 * 60_000);
    const late = await form({ ticket, code: code() });
    expect([late.status, late.headers['set-cookie']]).toEqual([401, undefined]);
    expect(late.body).toContain('took too long');
  });

  it('is disabled with a code or by an administrator', async () => {
    const { code } = await switchOn();
    await expect(callApp('/off', { code: '000000' })).rejects.toThrow('accounts.wrong_code');
    await callApp('/off', { code: code() });
    expect((await form(admin)).status).toBe(303);
    await switchOn();
    await expect(callApp('', { password: admin.password })).rejects.toThrow('accounts.second_factor_on');
    const reset = (headers: Record<string, string>): Promise<unknown> =>
      api(home.host.url('control'), '/api/accounts/ada/second-factor', { method: 'DELETE', headers });
    await expect(reset(bySession)).rejects.toThrow('accounts.own_second_factor');
    const other = { name: 'grace', password: 'velvet-otter-93-lantern' };
    await api(home.host.url('control'), '/api/accounts', {
      method: 'POST',
      headers: bySession,
      body: JSON.stringify({ ...other, role: 'admin' }),
    });
    const byOther = { Authorization: `Basic ${Buffer.from(`${other.name}:${other.password}`).toString('base64')}` };
    await reset(byOther);
    await expect(callApp()).rejects.toThrow('api.sign_in');
    expect((await form(admin)).status).toBe(303);
  });

  it('stores the secret sealed and recovery codes as fingerprints', async () => {
    const { secret } = await callApp('', { password: admin.password });
    const { recoveryCodes } = await callApp('/confirm', {
      code: generateCode(getSecret(secret), toTimeStep(clock.now())),
    });
    const folder = join(home.host.dataDir, 'host');
    const fileText = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name)).toString('latin1'))
      .join(' ');
    expect(fileText).toContain('second_factors');
    for (const open of [secret, Buffer.from(getSecret(secret)).toString('base64'), ...(recoveryCodes as string[])]) {
      expect(fileText).not.toContain(open);
    }
  });
});
