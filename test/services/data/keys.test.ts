import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../../main/host/database/open.ts';
import { createBus } from '../../../main/host/services/bus.ts';
import { openVault } from '../../../main/host/vault/vault.ts';
import { verifyJwt } from '../../../services/data/keys/jwt.ts';
import { Keys } from '../../../services/data/keys/keys.ts';
import { migrations } from '../../../services/data/store/migrations.ts';
import { silentLog } from '../../support/database-location.ts';
import { signJwt, signJwtWithPair } from '../../support/jwt.ts';

const secret = 'a secret that is long enough for HS256';
const now = 1_750_000_000;
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('rejects tokens that its keys did not sign, whatever their header declares', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = { secret, publicKey: (kid: string) => (kid === 'k' ? publicKey : undefined) };
  const claims = { role: 'anon', exp: now + 60 };
  const [token, paired] = [signJwt(claims, secret), signJwtWithPair(claims, 'k', privateKey)];
  for (const valid of [token, paired]) expect(await verifyJwt(valid, keys, now)).toEqual({ claims });
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [, body = '', signature = ''] = token.split('.');
  const refused = [
    `${token}=`,
    `${encode({ alg: 'none' })}.${body}.`,
    `${encode({ alg: 'HS512', typ: 'JWT' })}.${body}.${signature}`,
    `${encode({ alg: 'ES256', kid: 'k' })}.${body}.${signature}`,
    `${encode({ alg: 'HS256', crit: ['exp'] })}.${body}.${signature}`,
    `${encode(null)}.${body}.${signature}`,
    `!.${body}.${signature}`,
    signJwt(claims, `${secret}!`),
    signJwtWithPair(claims, 'other', privateKey),
    signJwt(claims, ''),
  ];
  for (const each of refused)
    expect([each, await verifyJwt(each, keys, now)]).toEqual([each, { refusal: { kind: 'signature' } }]);
  // Before the keys are read, no token is valid.
  expect(await verifyJwt(signJwt(claims, ''), { ...keys, secret: '' }, now)).toEqual({
    refusal: { kind: 'signature' },
  });
  expect(await verifyJwt('a.b', keys, now)).toEqual({ refusal: { kind: 'malformed', parts: 2 } });
  expect(await verifyJwt(signJwt([], secret), keys, now)).toEqual({ refusal: { kind: 'claims' } });
});

it('does not cache a token that was being verified while the keys changed', async () => {
  await using database = await openDatabase({ folder, schema: 'data', log: silentLog });
  for (const migration of migrations) await migration.up(database.kysely);
  const vault = await openVault({ folder, create: true, log: silentLog });
  let count = 0;
  const context: any = {
    ...{ bus: createBus(silentLog), db: database.kysely, commit: database.commit, log: silentLog, vault },
    clock: { now: () => now * 1000 },
    random: { text: (length: number) => String((count += 1)).padStart(length, 'x') },
  };
  const keys = new Keys(context, { jwtSecret: '', anonKey: '', serviceKey: '', jwtExpiry: 3600 });
  await keys.open();
  const tokens = await Promise.all(
    Array.from({ length: 500 }, async (_, sub) => await keys.sign({ sub, role: 'authenticated', exp: now + 60 })),
  );
  // Some of the verifications begin under the former secret and end after the rotation.
  let isRotated = false;
  const rotation = keys.rotate().then(() => void (isRotated = true));
  const verifications: Promise<unknown>[] = [];
  for (const token of tokens) {
    if (isRotated) break;
    verifications.push(keys.verify(token));
    await setImmediate();
  }
  await Promise.all([rotation, ...verifications]);
  for (const token of tokens) expect(await keys.verify(token)).toEqual({ refusal: { kind: 'signature' } });
  expect(await keys.getRole(keys.anonKey)).toBe('anon');
  expect(await keys.verify(keys.serviceKey)).toMatchObject({ claims: { role: 'service_role' } });
});
