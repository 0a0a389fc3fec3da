import { expect, test } from 'vitest';
import { parseDuration } from '../../../services/data/auth-api/domain/durations.ts';
import { describeJsonError } from '../../../services/data/auth-api/domain/go-json-error.ts';
import { RateLimits, type Origin } from '../../../services/data/auth-api/domain/rate-limits.ts';
import { isAllowedRedirect, encodeRedirect } from '../../../services/data/auth-api/domain/redirects.ts';
import { AuthError, formatAuthError } from '../../../services/data/auth-api/http/auth-error.ts';
import { createRefreshToken } from '../../../services/data/auth-api/one-time-tokens.ts';
import { hashToken } from '../../../services/data/keys/code-hash.ts';

test('formats errors in the version that the client selects', () => {
  const refusal = new AuthError(422, 'weak_password', 'Too short.', ['length']);
  expect(formatAuthError(refusal, undefined)).toEqual({
    status: 422,
    headers: { 'x-sb-error-code': 'weak_password' },
    body: { code: 422, error_code: 'weak_password', msg: 'Too short.', weak_password: { reasons: ['length'] } },
  });
  for (const version of ['2023-12-31', 'soon', '']) {
    expect(formatAuthError(refusal, version).body).toHaveProperty('msg');
  }
  expect(formatAuthError(refusal, '2025-06-01').body).toEqual({
    code: 'weak_password',
    message: 'Too short.',
    weak_password: { reasons: ['length'] },
  });
  const defect = formatAuthError(new AuthError(500, 'unexpected_failure', 'No.'), undefined);
  expect(defect.body['error_id']).toMatch(/^[\da-f-]{36}$/);
});

test.each([
  ['{bad', "invalid character 'b' looking for beginning of object key string"],
  ['not json', "invalid character 'o' in literal null (expecting 'u')"],
  ['', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['{"a":1}x', "invalid character 'x' after top-level value"],
  [`{'a':1}`, String.raw`invalid character '\'' looking for beginning of object key string`],
  ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
  ['x', "invalid character 'x' looking for beginning of value"],
])('describes the error of %j like Go', (text, sentence) => {
  expect(describeJsonError(text)).toBe(sentence);
});

test('reports an error for deeply nested JSON', () => {
  expect(describeJsonError('['.repeat(1_000_000))).toBe('exceeded max depth');
});

test.each([
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['-2s', -2000],
  ['100ms', 100],
  ['0', 0],
])('%s is a duration', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', 'h', '24', '24 h', '1d', '1h x', '--1h', '1e3h'])('rejects %j', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

const site = 'https://app.example.org';
test.each([
  [site, true],
  [`${site}/welcome?a=b#c`, true],
  ['http://app.example.org/', false],
  ['https://app.example.org:8443/', false],
  ['https://evil.example/', false],
  ['https://app.example.org.evil.example/', false],
  ['https://app.example.org@evil.example/', false],
  ['https://a.preview.example.com/x', true],
  ['https://a.b.preview.example.com/x', false],
  ['https://a.preview.example.com.evil.example/x', false],
  ['com.example.app://login', true],
  ['https://deep.example.com/a/b/c', true],
  ['http://3232235777/x', false],
  ['http://192.168.1.1/x', false],
  ['http://10.0.0.5:3000/x', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['/relative', false],
  ['https://app.example.org\n.evil.example', false],
])('a link may lead to %j: %s', (target, expected) => {
  const allowed = [
    'https://*.preview.example.com/*',
    'com.example.app://**',
    'https://deep.example.com/**',
    'http://10.0.0.5:3000/*',
    'http://*/x',
  ];
  expect(isAllowedRedirect(target, site, allowed)).toBe(expected);
});

test('allows any port of a site on loopback', () => {
  expect(isAllowedRedirect('http://localhost:5173/x', 'http://localhost:3000', [])).toBe(true);
  expect(isAllowedRedirect('http://localhost:5173/x', 'https://localhost:3000', [])).toBe(false);
});

test('keeps a redirect in a link readable and in its position', () => {
  expect(encodeRedirect('http://127.0.0.1:3999/x')).toBe('http://127.0.0.1:3999/x');
  expect(new URLSearchParams(`a=${encodeRedirect('https://x.y/?a=1&b=2#c d')}`).get('a')).toBe(
    'https://x.y/?a=1&b=2#c d',
  );
});

test('fills, drains and resets limits', () => {
  const limits = new RateLimits();
  const from = (network: string, location = network): Origin => ({ network, location });
  const used = Array.from({ length: 40 }, () => limits.allows('verify', from('10.0.0.1'), 0));
  expect(used.filter(Boolean)).toHaveLength(30);
  expect(limits.allows('verify', from('10.0.0.2'), 0)).toBe(true);
  expect(limits.allows('verify', from('10.0.0.1'), 9_000)).toBe(false);
  expect(limits.allows('verify', from('10.0.0.1'), 10_000)).toBe(true);
  // Clients behind one proxy have separate limits and a common one.
  const behind = Array.from({ length: 200 }, (_, index) =>
    limits.allows('verify', from('10.0.0.9', `of ${String(index)}`), 0),
  );
  expect(behind.filter(Boolean)).toHaveLength(120);
  // A clock that was set back neither resets nor extends limits.
  expect(limits.allows('verify', from('10.0.0.1'), -1_000_000)).toBe(false);
  for (let index = 0; index < 10; index += 1) limits.addFailure('code', 'a@example.com', 0);
  expect(limits.mayTry('code', 'a@example.com', 0)).toBe(false);
  limits.clearFailures('code', 'a@example.com');
  expect(limits.mayTry('code', 'a@example.com', 0)).toBe(true);
  expect([
    limits.takeTurn('x', 60_000, 0),
    limits.takeTurn('x', 60_000, 1_500),
    limits.takeTurn('x', 60_000, 60_000),
  ]).toEqual([undefined, 58, undefined]);
});

test('hashes codes with a secret, so that knowing the address and all codes does not reveal the token', () => {
  const hash = hashToken('a secret', 'a@example.com', '123456');
  expect(hash).toMatch(/^[0-9a-f]{56}$/);
  expect(hash).toBe(hashToken('a secret', 'a@example.com', '123456'));
  // The hash of Supabase Auth, which uses no secret.
  expect(hash).not.toBe('a1828f725cbf9d6eecc3a3afeb2d88a886ccb3280cc2dc88aafb5c82');
  expect(hashToken('another', 'a@example.com', '123456')).not.toBe(hash);
  expect(hashToken('a secret', 'a@example.com1', '23456')).not.toBe(hashToken('a secret', 'a@example.com', '123456'));
  expect(createRefreshToken()).toMatch(/^[a-z2-7]{12}$/);
});
