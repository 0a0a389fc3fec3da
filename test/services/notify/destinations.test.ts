import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Handovers } from '../../../services/contracts/bus.ts';
import type { NoticeType, TextFormat } from '../../../services/contracts/notice.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Fetch, FetchOptions } from '../../../services/contracts/service.ts';
import { destinationId, parseDestination } from '../../../services/notify/destinations/catalogue.ts';
import type { Destination, Result } from '../../../services/notify/destinations/destination.ts';
import { parseDestinationUrl } from '../../../services/notify/destinations/url.ts';
import { shapeMessage, type Message } from '../../../services/notify/domain/message.ts';

interface Recorded {
  readonly note: string;
  readonly url: string;
  readonly normal: string;
  readonly masked: string;
  readonly cases: readonly {
    readonly case: string;
    readonly input: { title: string; body: string; notify_type: NoticeType; body_format: TextFormat };
    readonly requests: readonly {
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: unknown;
    }[];
  }[];
}

const recorded = JSON.parse(readFileSync(new URL('destinations.json', import.meta.url), 'utf8')) as readonly Recorded[];
const handovers: Handovers = {
  pass: () => Promise.reject(new Error('not used')),
  receive: () => ({ [Symbol.dispose]() {} }),
};

function parsed(url: string): Destination {
  const destination = parseDestination(url);
  if (typeof destination === 'string') throw new Error(destination);
  return destination;
}

function messageOf(fields: Partial<Message>): Message {
  const empty = {
    id: 'n1',
    title: '',
    body: '',
    type: 'info',
    format: 'text',
    tags: [],
    source: 'notify',
    time: 0,
  } as const;
  return { ...empty, link: undefined, ...fields };
}

async function send(url: string, fields: Partial<Message>, fetch: Fetch): Promise<readonly Result[]> {
  const destination = parsed(url);
  const parts = destination.parts ?? [destination];
  return Promise.all(
    parts.map((part) =>
      part.send(shapeMessage(messageOf(fields), part.shape), { fetch, handovers }, AbortSignal.timeout(5000)),
    ),
  );
}

/** The reader of arguments of the peer writes values of its own, which ours leave out. */
function comparable(url: string): string {
  return url.replace('&image=yes', '').split('&').toSorted().join('&');
}

describe.each(recorded.map((each) => [each.note, each] as const))(
  'recorded destination: %s',
  (_note, { url, normal, masked, cases }) => {
    it('has the normal form of the peer, and hides what is secret', () => {
      expect(comparable(parsed(url).url(false))).toBe(comparable(normal));
      // The values of headers and query parameters are hidden too: tokens travel in them.
      const hidden = masked.replace('%2BX-Tok=abc', '%2BX-Tok=****').replace('-q=1', '-q=****');
      expect(comparable(parsed(url).url(true))).toBe(comparable(hidden));
    });

    it.each(cases.map((each) => [each.case, each] as const))(
      'sends %s as the peer does',
      async (_case, { input, requests }) => {
        const sent: { url: string; options: FetchOptions }[] = [];
        const results = await send(
          url,
          { title: input.title, body: input.body, type: input.notify_type, format: input.body_format },
          (to, options = {}) => {
            sent.push({ url: to, options });
            return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array(), url: to });
          },
        );
        expect(results.every(({ ok }) => ok)).toBe(true);
        const byBody = (each: { body: unknown }) => JSON.stringify(each.body);
        const actual = sent.map(({ url: to, options }) => {
          const { 'user-agent': agent, ...headers } = options.headers ?? {};
          expect(agent).toBe('Homeport');
          return { method: options.method, url: to, headers, body: JSON.parse(String(options.body)) as unknown };
        });
        const expected = requests.map(({ headers, ...request }) => ({
          ...request,
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        }));
        expect(actual.toSorted((a, b) => byBody(a).localeCompare(byBody(b)))).toEqual(
          expected.toSorted((a, b) => byBody(a).localeCompare(byBody(b))),
        );
      },
    );
  },
);

describe('destination URLs', () => {
  it('are taken apart as they were typed', () => {
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
    'are refused when they are none: %j',
    (text) => {
      expect(parseDestinationUrl(text)).toBeUndefined();
    },
  );

  it.each([
    ['nosuch://host', 'nosuch:// is not served'],
    ['json://', 'a host is missing: json://host/path'],
    ['json://host?method=BREW', 'method must be one of POST, GET, DELETE, PUT, HEAD, PATCH'],
    ['json://host?verify=no', 'verify=no is not served: certificates are always checked'],
    ['push://', 'a push destination is push://topic, with one topic'],
    ['push://a/b', 'a push destination is push://topic, with one topic'],
    ['push://a?priority=9', 'priority must be 1 to 5'],
    ['inbox://somewhere', 'the inbox takes no address: inbox://'],
    ['ntfy://host/bad!topic', 'a topic holds characters topics do not have'],
  ])('say what is wrong: %s', (url, reason) => {
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
  ])('with status %i: ok %s, worth another one %s', async (status, ok, retryable) => {
    const [result] = await send('json://host/', { body: 'x' }, (url) =>
      Promise.resolve({ status, headers: { 'retry-after': '7' }, body: new Uint8Array(), url }),
    );
    expect(result).toMatchObject(ok ? { ok } : { ok, retryable, status, retryAfterMs: 7000 });
  });

  it('without an answer is worth another one unless the address is refused', async () => {
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

  it('with an answer too long to be read is not repeated: the notice may have been shown', async () => {
    const fetch: Fetch = () => Promise.reject(new Problem('fetch.too_large', 502, 'Too large.'));
    expect(await send('json://host/', { body: 'x' }, fetch)).toMatchObject([{ ok: false, retryable: false }]);
  });
});

describe('fitting a message', () => {
  const shape = { format: 'text', titleLimit: 0, bodyLimit: 10 } as const;

  it('puts the title before the body where there is no place for it, and cuts whole characters', () => {
    expect(shapeMessage(messageOf({ title: 'T', body: '🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉' }), shape)).toMatchObject({
      title: '',
      body: 'T\r\n🎉🎉🎉🎉🎉🎉…',
    });
    expect(shapeMessage(messageOf({ title: 'T', body: 'b' }), { ...shape, titleLimit: undefined })).toMatchObject({
      title: 'T',
    });
  });

  it('turns HTML into text, and text into HTML where that is wanted', () => {
    expect(
      shapeMessage(messageOf({ body: '<p>a &amp; b</p>', format: 'html' }), { ...shape, bodyLimit: undefined }).body,
    ).toBe('a & b');
    expect(shapeMessage(messageOf({ body: 'a & b\nc' }), { ...shape, format: 'html', bodyLimit: undefined }).body).toBe(
      'a &amp; b<br/>c',
    );
  });
});

describe('what stands percent-encoded in a URL', () => {
  it.each([
    'json://h/?+X-A=a%0d%0aX-B:b',
    'json://h/?+a%20b=c',
    'json://h/?+content-length=5',
    'json://h/?+transfer-encoding=chunked',
    'json://h%0ahost/x',
    'json://h%00/x',
    'ntfy://tk_a%0d%0aX@h/topic',
    `ntfy://h/${Array.from({ length: 101 }, (_, at) => `t${at}`).join('/')}`,
  ])('cannot put anything else into the request: %s', (url) => {
    expect(typeof parseDestination(url)).toBe('string');
  });
});
