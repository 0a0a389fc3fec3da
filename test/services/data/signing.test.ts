import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signByPair } from '../../../services/data/keys/jwt.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openAuthRoom, type AuthRoom } from './auth-room.ts';

/** Tokens that are signed by the secret, by a pair of keys, and by pairs that came before it. */
let room: AuthRoom;
beforeAll(async () => {
  room = await openAuthRoom();
});
afterAll(() => room[Symbol.asyncDispose]());
beforeEach(() => own(room, '/keys/signing', { with: 'secret' }).then(() => own(room, '/keys/signing/end', {})));

async function own({ host }: AuthRoom, path: string, body?: unknown): Promise<any> {
  const reply = await fetch(`${host.url('control')}/api/data${path}`, {
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(reply.status).toBe(200);
  return reply.json();
}

const jwks = async ({ url }: AuthRoom): Promise<any> => (await fetch(`${url}/auth/v1/.well-known/jwks.json`)).json();
const head = (token: string): any => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
const statusOf = (token: string): Promise<number> =>
  room.call('GET', '/user', undefined, { authorization: `Bearer ${token}` }).then((reply) => reply.status);

let count = 0;
async function signedIn(at: AuthRoom = room) {
  const client = at.client();
  count += 1;
  const { data } = await client.auth.signUp({ email: `signer${count}@example.com`, password: 'correct horse 1' });
  const token = data.session?.access_token ?? '';
  expect(token).not.toBe('');
  return { client, token };
}

test('getClaims of supabase-js checks a token of the secret by asking, and one of a pair by itself', async () => {
  const { client, token } = await signedIn();
  expect(head(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(await jwks(room)).toEqual({ keys: [] });
  const asked = await client.auth.getClaims();
  expect([asked.error, asked.data?.claims.role]).toEqual([null, 'authenticated']);

  const { pair } = await own(room, '/keys/signing', { with: 'pair' });
  const later = await signedIn();
  expect(head(later.token)).toEqual({ alg: 'ES256', kid: pair.kid, typ: 'JWT' });
  const { keys } = await jwks(room);
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
  // Nothing but the public key is asked for: the session itself is gone.
  await room.sql('delete from auth.sessions');
  const checked = await later.client.auth.getClaims(later.token);
  expect([checked.error, checked.data?.claims.email]).toEqual([null, `signer${count}@example.com`]);
  expect(checked.data?.header).toMatchObject({ alg: 'ES256', kid: pair.kid });
});

test('a new pair signs nobody out, and the tokens before it end in time or when that is wished', async () => {
  const first = await signedIn();
  const one = await own(room, '/keys/signing', { with: 'pair' });
  const second = await signedIn();
  expect([await statusOf(first.token), await statusOf(second.token)]).toEqual([200, 200]);
  const two = await own(room, '/keys/signing', { with: 'pair' });
  const third = await signedIn();
  expect(two.pair.kid).not.toBe(one.pair.kid);
  expect(two.earlier.map(({ kid }: any) => kid)).toEqual([one.pair.kid]);
  expect((await jwks(room)).keys.map(({ kid }: any) => kid)).toEqual([two.pair.kid, one.pair.kid]);
  expect([await statusOf(second.token), await statusOf(third.token)]).toEqual([200, 200]);
  // The rows of somebody are seen with either kind.
  const rows = await fetch(`${room.url}/rest/v1/rpc/nothing_there`, {
    method: 'POST',
    headers: { apikey: room.anonKey, authorization: `Bearer ${second.token}` },
  });
  expect(rows.status).toBe(404);

  const ended = await own(room, '/keys/signing/end', {});
  expect(ended.earlier).toEqual([]);
  expect([await statusOf(second.token), await statusOf(third.token), await statusOf(first.token)]).toEqual([
    403, 200, 200,
  ]);
  // Who has a refresh token goes on.
  const { data, error } = await second.client.auth.refreshSession();
  expect([error, head(data.session?.access_token ?? '').kid]).toEqual([null, two.pair.kid]);

  const back = await own(room, '/keys/signing', { with: 'secret' });
  expect([back.pair, back.earlier.map(({ kid }: any) => kid)]).toEqual([null, [two.pair.kid]]);
  expect(back.earlier[0].endsAt).toBeLessThanOrEqual(room.clock.now() + back.tokenSeconds * 1000);
  expect([await statusOf(third.token), head((await signedIn()).token).alg]).toEqual([200, 'HS256']);
});

test('no key takes a signature of the other kind, nor one of a pair that is not ours', async () => {
  const { pair } = await own(room, '/keys/signing', { with: 'pair' });
  const { token } = await signedIn();
  const [header = '', claims = '', signature = ''] = token.split('.');
  const [jwk] = (await jwks(room)).keys;
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  // The public key as the secret of HS256, in every spelling that a program might keep it in.
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
    signByPair(body, pair.kid, foreign),
    signByPair(body, 'another', foreign),
    `${header}.${encoded({ ...body, role: 'service_role' })}.${signature}`,
    `${encoded({ alg: 'ES256', typ: 'JWT' })}.${claims}.${signature}`,
    `${encoded({ alg: 'ES256', kid: [pair.kid], typ: 'JWT' })}.${claims}.${signature}`,
    `${encoded({ alg: 'none', kid: pair.kid })}.${claims}.`,
    `${header}.${claims}.${Buffer.alloc(64).toString('base64url')}`,
    `${header}.${claims}.`,
    `${token}=`,
  ];
  for (const each of wrong) {
    expect([each, await statusOf(each)]).toEqual([each, 403]);
    const reply = await fetch(`${room.url}/rest/v1/`, {
      headers: { apikey: room.anonKey, authorization: `Bearer ${each}` },
    });
    expect([each, reply.status]).toEqual([each, 401]);
  }
  expect(await statusOf(token)).toBe(200);
});

test('pairs outlive a restart, and a new secret replaces them too', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-data-'));
  try {
    let token: string;
    let kid: string;
    {
      await using before = await openAuthRoom({ dataDir, environment: { DATA_JWT_SECRET: '' } });
      ({ kid } = (await own(before, '/keys/signing', { with: 'pair' })).pair);
      const { anon } = await own(before, '/keys');
      const { data } = await before
        .client({ key: anon })
        .auth.signUp({ email: 'ann@example.com', password: 'correct horse 1' });
      token = data.session?.access_token ?? '';
    }
    await using after = await openAuthRoom({ dataDir, environment: { DATA_JWT_SECRET: '' } });
    const user = async (key: string): Promise<number> =>
      (await fetch(`${after.url}/auth/v1/user`, { headers: { apikey: key, authorization: `Bearer ${token}` } })).status;
    const keys = await own(after, '/keys');
    expect([keys.pair.kid, await user(keys.anon)]).toEqual([kid, 200]);
    const anew = await own(after, '/keys/rotate', { key: 'all' });
    expect([anew.pair.kid === kid, anew.earlier, await user(anew.anon)]).toEqual([false, [], 403]);
    expect((await jwks(after)).keys.map((key: any) => key.kid)).toEqual([anew.pair.kid]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
