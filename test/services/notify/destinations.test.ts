import * as problems from '#messages/notify-problems';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Fetch } from '../../../services/contracts/outgoing.ts';
import { destinationId, parseDestination } from '../../../services/notify/destinations/catalogue.ts';
import type { DeliveryResult } from '../../../services/notify/destinations/destination.ts';
import { parseDestinationUrl } from '../../../services/notify/destinations/url.ts';
import type { Message } from '../../../services/notify/domain/message.ts';
import { openProvider, parsed, sendTo } from './destinations/provider-server.ts';

async function send(url: string, fields: Partial<Message>, fetch: Fetch): Promise<readonly DeliveryResult[]> {
  await using provider = await openProvider();
  return sendTo(url, fields, { ...provider.outlets, fetch });
}

describe('destination URLs', () => {
  it('are parsed as they were typed', () => {
    expect(
      parseDestinationUrl('NTFY://us%40er:p%2Fw@[::1]:80/My_Topic/%C3%BC?+X-A=b+c&-q=1&:f=&Tags=x%2Cy&flag'),
    ).toMatchObject({
      scheme: 'ntfy',
      user: 'us@er',
      password: 'p/w',
      host: '[::1]',
      port: 80,
      path: ['My_Topic', 'ü'],
      headers: new Map([['X-A', 'b c']]),
      parameters: new Map([['q', '1']]),
      fields: new Map([['f', '']]),
      query: new Map([
        ['tags', 'x,y'],
        ['flag', ''],
      ]),
    });
    expect(parseDestinationUrl('slack://T1/B2/C3/#chan')?.path).toEqual(['B2', 'C3', '#chan']);
    expect(parseDestinationUrl('json://host/%zz')?.path).toEqual(['%zz']);
  });

  it.each(['', 'json', 'json:/x', 'json://h:99999/', 'json://h:x/', 'json://a\nb'])(
    'are refused when they are invalid: %j',
    (text) => {
      expect(parseDestinationUrl(text)).toBeUndefined();
    },
  );

  it.each([
    ['nosuch://host', problems.schemeUnsupported({ scheme: 'nosuch' })],
    ['json://', problems.addressIncomplete({ example: 'json://{host}' })],
    [
      'json://host?method=BREW',
      problems.argumentInvalid({ name: 'method', values: 'POST, GET, DELETE, PUT, HEAD, PATCH' }),
    ],
    ['push://', problems.topicAddressInvalid()],
    ['push://a/b', problems.topicAddressInvalid()],
    ['push://a?priority=9', problems.argumentInvalid({ name: 'priority', values: '1–5' })],
    ['inbox://somewhere', problems.inboxAddressInvalid()],
    ['ntfy://host/bad!topic', problems.topicInvalid()],
  ])('explains an invalid URL: %s', (url, reason) => {
    expect(parseDestination(url)).toBe(reason);
  });

  it('have the same identity however their arguments are written', () => {
    expect(destinationId(parsed('json://h/p'))).toBe(destinationId(parsed('JSON://h/p?method=post&format=text')));
    expect(destinationId(parsed('json://h/p'))).not.toBe(destinationId(parsed('json://h/q')));
  });
});

describe('the end of an attempt', () => {
  it.each([
    [204, true, undefined],
    [400, false, false],
    [404, false, false],
    [408, false, true],
    [429, false, true],
    [500, false, true],
    [503, false, true],
  ])('maps status %i to ok %s, retryable %s', async (status, ok, retryable) => {
    const [result] = await send('json://host/', { body: 'x' }, (url) =>
      Promise.resolve({ status, headers: { 'retry-after': '7' }, body: new Uint8Array(), url }),
    );
    expect(result).toMatchObject(ok ? { ok } : { ok, retryable, status, retryAfterMs: 7000 });
  });

  it('retries requests without a response unless the address is refused', async () => {
    const failing =
      (status: number): Fetch =>
      () =>
        Promise.reject(new Problem('fetch.failed', status, 'No answer.'));
    expect(await send('json://u:secret@host/', { body: 'x' }, failing(502))).toMatchObject([
      { ok: false, retryable: true },
    ]);
    const [refused] = await send('json://u:secret@host/', { body: 'x' }, failing(403));
    expect(refused).toMatchObject({ ok: false, retryable: false });
    expect(JSON.stringify(refused)).not.toContain('secret');
  });

  it('does not retry after an oversized response, because the notification may have been shown', async () => {
    const fetch: Fetch = () => Promise.reject(new Problem('fetch.too_large', 502, 'Too large.'));
    expect(await send('json://host/', { body: 'x' }, fetch)).toMatchObject([{ ok: false, retryable: false }]);
  });
});

describe('a percent-encoded part of a URL', () => {
  it.each([
    'json://h/?+X-A=a%0d%0aX-B:b',
    'json://h/?+a%20b=c',
    'json://h/?+content-length=5',
    'json://h/?+transfer-encoding=chunked',
    'json://h%0ahost/x',
    'json://h%00/x',
    'ntfy://tk_a%0d%0aX@h/topic',
    `ntfy://h/${Array.from({ length: 101 }, (_, index) => `t${index}`).join('/')}`,
  ])('cannot inject anything into the request: %s', (url) => {
    expect(typeof parseDestination(url)).toBe('string');
  });
});
