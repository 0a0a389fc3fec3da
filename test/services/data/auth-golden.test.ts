import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signJwt } from '../../support/jwt.ts';
import { jwtSecret, movableClock, openAuthFixture, type AuthFixture } from './auth-fixture.ts';
import recorded from './golden/auth.json' with { type: 'json' };

/** Recorded exchanges with GoTrue. Each request is sent again in order, with values of earlier responses inserted. */
interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answer: unknown;
}

const all = Object.entries(recorded as unknown as Record<string, Recorded>);
const dataDir = mkdtempSync(join(tmpdir(), 'homeport-golden-'));
const clock = movableClock();
const site = 'http://127.0.0.1:3999';
/** Recorded values and their replacements. */
const existing = new Map<string, string>();
let fixture: AuthFixture;

const open = (autoconfirm: boolean): Promise<AuthFixture> =>
  openAuthFixture({
    dataDir,
    clock,
    environment: { DATA_SITE_URL: site, DATA_ANONYMOUS_SIGN_INS: 'true', DATA_AUTOCONFIRM: String(autoconfirm) },
  });

/** Exchanges that were recorded with confirmation of addresses. */
const confirming = new Set(['76', '77', '78', '79', '80']);

beforeAll(async () => {
  fixture = await open(true);
  // The list was recorded with twelve further users.
  for (let index = 0; index < 12; index += 1) {
    const reply = await fixture.call(
      'POST',
      '/admin/users',
      { email: `seed${index}@example.com` },
      { Authorization: `Bearer ${fixture.serviceKey}` },
    );
    expect(reply.status).toBe(200);
  }
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const jwt = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*$/;

function readClaims(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

/** Converts a recorded token to one of this service with the same user, session and defect. */
function ourToken(name: string, token: string): string {
  if (!jwt.test(token)) return token;
  const claims = readClaims(token);
  if (claims['sub'] === undefined) return claims['role'] === 'service_role' ? fixture.serviceKey : fixture.anonKey;
  const texts = Object.entries(claims).map(([key, value]) => [
    key,
    typeof value === 'string' ? translated(value) : value,
  ]);
  const now = Math.floor(clock.now() / 1000);
  const actualValue: Record<string, unknown> = { ...Object.fromEntries(texts), iat: now - 60, exp: now + 3600 };
  if (name.includes('expired')) return signJwt({ ...actualValue, exp: now - 3600 }, jwtSecret);
  const right = signJwt(actualValue, jwtSecret);
  if (name.includes('alg_none')) {
    const head = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    return `${head}.${right.split('.')[1]}.`;
  }
  if (!name.includes('tampered')) return right;
  const [head, , signature] = signJwt({ ...actualValue, role: 'authenticated' }, jwtSecret).split('.');
  return `${head}.${Buffer.from(JSON.stringify({ ...actualValue, role: 'service_role' })).toString('base64url')}.${signature}`;
}

function translated(text: string): string {
  let result = text;
  for (const [recordedText, actualText] of existing) result = result.replaceAll(recordedText, actualText);
  return result;
}

/** Removes values that differ each time and remembers those that later exchanges refer to. */
function normalizeBoth(expected: unknown, actual: unknown, path: string): [unknown, unknown] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const pairs = expected.map((value: unknown, index) => normalizeBoth(value, actual[index], `${path}[]`));
    return [
      pairs.map(([remaining]) => remaining),
      [...pairs.map(([, right]) => right), ...actual.slice(expected.length)],
    ];
  }
  if (typeof expected === 'object' && typeof actual === 'object' && expected !== null && actual !== null) {
    const [remaining, right]: Record<string, unknown>[] = [{}, {}];
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const [one, other] = normalizeBoth((expected as any)[key], (actual as any)[key], `${path}.${key}`);
      // GoTrue computes it in the database and sees it one request later.
      if (key === 'confirmed_at' && one === undefined && time.test(String(other))) continue;
      // Only the response to the sign-up contains a value that is not stored; later ones contain false.
      if (key === 'email_verified' && path.startsWith('04_') && path.endsWith('identity_data')) continue;
      // GoTrue reveals by this field whether a password reset was requested for an existing account.
      if (key === 'recovery_sent_at' && path === '77_signup_duplicate_needs_confirmation_obfuscated') continue;
      if (one !== undefined && remaining !== undefined) remaining[key] = one;
      if (other !== undefined && right !== undefined) right[key] = other;
    }
    return [remaining, right];
  }
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (typeof expected === 'number' && typeof actual === 'number' && /^(?:exp|iat|expires_at|timestamp)$/.test(name)) {
    return ['<number>', '<number>'];
  }
  if (typeof expected !== 'string' || typeof actual !== 'string') return [expected, actual];
  if (jwt.test(expected) && jwt.test(actual))
    return normalizeBoth(readClaims(expected), readClaims(actual), `${path}.claims`);
  if (time.test(expected) && time.test(actual)) return ['<time>', '<time>'];
  const isNew = ['refresh_token', 'hashed_token', 'email_otp', 'secret'].includes(name) || uuid.test(expected);
  if (isNew) {
    expect(expected.length).toBe(actual.length);
    // Equal recorded values must map to equal values here.
    const before = existing.get(expected);
    if (before !== undefined) return [before, actual];
    existing.set(expected, actual);
    return ['<new>', '<new>'];
  }
  if (name === 'qr_code') return [expected.slice(0, 4), actual.slice(0, 4)];
  if (name === 'iss') return ['<address>', actual === `${fixture.url}/auth/v1` ? '<address>' : actual];
  return [unprefixed(expected), unprefixed(actual)];
}

function unprefixed(text: string): string {
  return translated(text)
    .replace(/^http:\/\/127\.0\.0\.1:\d+(?:\/auth\/v1)?\/verify/, '<verify>')
    .replaceAll(/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, '<jwt>')
    .replaceAll(/(refresh_token=|secret=)\w+/g, '$1<new>')
    .replaceAll(/token=[\da-f]{56}/g, 'token=<new>')
    .replaceAll(/expires_at=\d+/g, 'expires_at=<number>')
    .replaceAll(/after \d+ seconds/g, 'after <number> seconds');
}

const headers = [
  'content-type',
  'x-sb-error-code',
  'x-supabase-api-version',
  'link',
  'x-total-count',
  'cache-control',
  'location',
  'vary',
];

test.each(all)('%s', async (name, exchange) => {
  const number = name.slice(0, 2);
  if (number === '76') {
    await fixture[Symbol.asyncDispose]();
    fixture = await open(false);
  } else if (number === '81') {
    await fixture[Symbol.asyncDispose]();
    fixture = await open(true);
  }
  expect(confirming.has(number)).toBe(number >= '76' && number <= '80');
  // The recording allowed no reuse of tokens and one mail per second.
  if (name.includes('reuse_detected')) clock.advance(11_000);
  if (['44', '58', '61', '69', '70', '73', '80'].includes(number)) clock.advance(61_000);

  if (name === '93_cors_preflight') return preflight(exchange);
  const { apikey, ...rest } = exchange.headers;
  const sent: Record<string, string> = { apikey: apikey === undefined ? '' : ourToken('', apikey), ...rest };
  const bearer = /^Bearer (.+)$/.exec(rest['Authorization'] ?? '')?.[1];
  if (bearer !== undefined) sent['Authorization'] = `Bearer ${ourToken(name, bearer)}`;
  const body = exchange.body === null ? undefined : exchange.body;
  const reply = await fetch(fixture.url + translated(exchange.path), {
    method: exchange.method,
    redirect: 'manual',
    headers: sent,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : translated(JSON.stringify(body)) }),
  });
  const text = await reply.text();
  // The request of the specification has no grant type, which GoTrue refuses.
  if (name === '19_token_no_grant_type') {
    expect([reply.status, JSON.parse(text).user.email]).toEqual([200, (exchange.body as any).email]);
    return;
  }
  expect(reply.status, text).toBe(exchange.status);
  for (const header of headers) {
    // Browsers do not store tokens and users, which the recorded server leaves open.
    const recordedValue = exchange.answerHeaders[header] ?? (header === 'cache-control' ? 'no-store' : undefined);
    const actualValue = reply.headers.get(header) ?? undefined;
    expect(actualValue === undefined ? actualValue : unprefixed(actualValue), header).toBe(
      recordedValue === undefined ? recordedValue : unprefixed(recordedValue),
    );
  }
  const isJson = reply.headers.get('content-type') === 'application/json';
  const parsed = text === '' ? null : isJson ? JSON.parse(text) : text;
  const [expected, actual] = normalizeBoth(exchange.answer, parsed, name);
  expect(actual).toEqual(expected);
});

/** Compares only the parts that a browser uses. */
async function preflight(exchange: Recorded): Promise<void> {
  const reply = await fetch(fixture.url + exchange.path, { method: 'OPTIONS', headers: exchange.headers });
  expect(reply.ok).toBe(true);
  expect(await reply.text()).toBe('');
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(reply.headers.get('access-control-allow-methods')).toContain('POST');
  const allowed = reply.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
  for (const name of (exchange.headers['Access-Control-Request-Headers'] ?? '').split(','))
    expect(allowed).toContain(name);
}

test('replays all recorded exchanges', () => {
  expect(all).toHaveLength(93);
});
