import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signJwtWithPair } from '../../support/jwt.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** Tokens signed by the secret, by the current key pair and by earlier pairs. */
let fixture: AuthFixture;
beforeAll(async () => {
  fixture = await openAuthFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() =>
  callApp(fixture, '/keys/signing', { with: 'secret' }).then(() => callApp(fixture, '/keys/signing/end', {})),
);

async function callApp({ host }: AuthFixture, path: string, body?: unknown): Promise<any> {
  const reply = await fetch(`${host.url('control')}/api/data${path}`, {
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(reply.status).toBe(200);
  return reply.json();
}

const jwks = async ({ url }: AuthFixture): Promise<any> => (await fetch(`${url}/auth/v1/.well-known/jwks.json`)).json();
const head = (token: string): any => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
const getStatus = (token: string): Promise<number> =>
  fixture.call('GET', '/user', undefined, { authorization: `Bearer ${token}` }).then((reply) => reply.status);

let count = 0;
async function signedIn(host: AuthFixture = fixture) {
  const client = host.client();
  count += 1;
  const { data } = await client.auth.signUp({ email: `signer${count}@example.com`, password: 'correct horse 1' });
  const token = data.session?.access_token ?? '';
  expect(token).not.toBe('');
  return { client, token };
}

test('supports getClaims of supabase-js, remotely for the secret and locally for a key pair', async () => {
  const { client, token } = await signedIn();
  expect(head(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(await jwks(fixture)).toEqual({ keys: [] });
  const request = await client.auth.getClaims();
  expect([request.error, request.data?.claims.role]).toEqual([null, 'authenticated']);

  const { pair } = await callApp(fixture, '/keys/signing', { with: 'pair' });
  const laterSession = await signedIn();
  expect(head(laterSession.token)).toEqual({ alg: 'ES256', kid: pair.kid, typ: 'JWT' });
  const { keys } = await jwks(fixture);
  expect(keys).toEqual([
    {
      kty: 'EC',
      crv: 'P-256',
      alg: 'ES256',
      use: 'sig',
      key_ops: ['verify'],
      ext: true,
      kid: pair.kid,
      x: expect.any(String),
      y: expect.any(String),
    },
  ]);
  // Only the public key is requested: the session itself no longer exists.
  await fixture.sql('delete from auth.sessions');
  const checked = await laterSession.client.auth.getClaims(laterSession.token);
  expect([checked.error, checked.data?.claims.email]).toEqual([null, `signer${count}@example.com`]);
  expect(checked.data?.header).toMatchObject({ alg: 'ES256', kid: pair.kid });
});

test('keeps sessions after a new key pair, and ends earlier tokens in time or on request', async () => {
  const first = await signedIn();
  const one = await callApp(fixture, '/keys/signing', { with: 'pair' });
  const second = await signedIn();
  expect([await getStatus(first.token), await getStatus(second.token)]).toEqual([200, 200]);
  const two = await callApp(fixture, '/keys/signing', { with: 'pair' });
  const third = await signedIn();
  expect(two.pair.kid).not.toBe(one.pair.kid);
  expect(two.earlier.map(({ kid }: any) => kid)).toEqual([one.pair.kid]);
  expect((await jwks(fixture)).keys.map(({ kid }: any) => kid)).toEqual([two.pair.kid, one.pair.kid]);
  expect([await getStatus(second.token), await getStatus(third.token)]).toEqual([200, 200]);
  // Rows of the user are visible with either kind of key.
  const rows = await fetch(`${fixture.url}/rest/v1/rpc/nothing_there`, {
    method: 'POST',
    headers: { apikey: fixture.anonKey, authorization: `Bearer ${second.token}` },
  });
  expect(rows.status).toBe(404);

  const ended = await callApp(fixture, '/keys/signing/end', {});
  expect(ended.earlier).toEqual([]);
  expect([await getStatus(second.token), await getStatus(third.token), await getStatus(first.token)]).toEqual([
    403, 200, 200,
  ]);
  // Refresh tokens remain valid.
  const { data, error } = await second.client.auth.refreshSession();
  expect([error, head(data.session?.access_token ?? '').kid]).toEqual([null, two.pair.kid]);

  const back = await callApp(fixture, '/keys/signing', { with: 'secret' });
  expect([back.pair, back.earlier.map(({ kid }: any) => kid)]).toEqual([null, [two.pair.kid]]);
  expect(back.earlier[0].endsAt).toBeLessThanOrEqual(fixture.clock.now() + back.tokenSeconds * 1000);
  expect([await getStatus(third.token), head((await signedIn()).token).alg]).toEqual([200, 'HS256']);
});

test('refuses signatures of the other kind of key and of foreign key pairs', async () => {
  const { pair } = await callApp(fixture, '/keys/signing', { with: 'pair' });
  const { token } = await signedIn();
  const [header = '', claims = '', signature = ''] = token.split('.');
  const [jwk] = (await jwks(fixture)).keys;
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  // The public key as the secret of HS256, in every encoding that a program might use.
  const secrets = [
    publicKey.export({ type: 'spki', format: 'pem' }),
    publicKey.export({ type: 'spki', format: 'der' }),
    jwk.x,
    JSON.stringify(jwk),
  ];
  const mixed = secrets.map((secret) => {
    const signed = `${encoded({ alg: 'HS256', kid: pair.kid, typ: 'JWT' })}.${claims}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  });
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const body = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const wrong = [
    ...mixed,
    signJwtWithPair(body, pair.kid, foreign),
    signJwtWithPair(body, 'another', foreign),
    `${header}.${encoded({ ...body, role: 'service_role' })}.${signature}`,
    `${encoded({ alg: 'ES256', typ: 'JWT' })}.${claims}.${signature}`,
    `${encoded({ alg: 'ES256', kid: [pair.kid], typ: 'JWT' })}.${claims}.${signature}`,
    `${encoded({ alg: 'none', kid: pair.kid })}.${claims}.`,
    `${header}.${claims}.${Buffer.alloc(64).toString('base64url')}`,
    `${header}.${claims}.`,
    `${token}=`,
  ];
  for (const entry of wrong) {
    expect([entry, await getStatus(entry)]).toEqual([entry, 403]);
    const reply = await fetch(`${fixture.url}/rest/v1/`, {
      headers: { apikey: fixture.anonKey, authorization: `Bearer ${entry}` },
    });
    expect([entry, reply.status]).toEqual([entry, 401]);
  }
  expect(await getStatus(token)).toBe(200);
});

test('keeps key pairs after a restart and replaces them with a new secret', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-data-'));
  try {
    let token: string;
    let kid: string;
    {
      await using before = await openAuthFixture({ dataDir, environment: { DATA_JWT_SECRET: '' } });
      ({ kid } = (await callApp(before, '/keys/signing', { with: 'pair' })).pair);
      const { anon } = await callApp(before, '/keys');
      const { data } = await before
        .client({ key: anon })
        .auth.signUp({ email: 'ann@example.com', password: 'correct horse 1' });
      token = data.session?.access_token ?? '';
    }
    await using after = await openAuthFixture({ dataDir, environment: { DATA_JWT_SECRET: '' } });
    const user = async (key: string): Promise<number> =>
      (await fetch(`${after.url}/auth/v1/user`, { headers: { apikey: key, authorization: `Bearer ${token}` } })).status;
    const keys = await callApp(after, '/keys');
    expect([keys.pair.kid, await user(keys.anon)]).toEqual([kid, 200]);
    const rotated = await callApp(after, '/keys/rotate', { key: 'all' });
    expect([rotated.pair.kid === kid, rotated.earlier, await user(rotated.anon)]).toEqual([false, [], 403]);
    expect((await jwks(after)).keys.map((key: any) => key.kid)).toEqual([rotated.pair.kid]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
