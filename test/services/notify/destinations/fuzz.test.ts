import { describe, expect, it } from 'vitest';
import type { FetchOptions } from '../../../../services/contracts/outgoing.ts';
import { destinationId, kinds, parseDestination } from '../../../../services/notify/destinations/catalogue.ts';
import { describeForms, fillForm, listSecrets, writeForm } from '../../../../services/notify/destinations/forms.ts';
import { parseDestinationUrl, writeDestinationUrl } from '../../../../services/notify/destinations/url.ts';
import { buildMessage, openProvider } from './provider-server.ts';

/** Creates a repeatable number generator (mulberry32), so that failures are reproducible. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const schemes = kinds.flatMap(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols]);
const pieces = [
  ...[
    '/',
    '//',
    ':',
    '@',
    '?',
    '&',
    '=',
    '+',
    '-',
    '#',
    '%',
    '%2F',
    '%zz',
    '%00',
    '%0d%0a',
    '%ff',
    ' ',
    '[::1]',
    '[',
    ']',
    '..',
  ],
  ...['a', 'host', '127.0.0.1', '99999', '0', '-1', '1e9', 'token', 'ü', '🎉', '\u202e', '\ud800', 'x'.repeat(300)],
  ...[
    'to=',
    'format=html',
    'mode=',
    'priority=high',
    'overflow=split',
    '+X-A=b',
    ':f=g',
    '-q=r',
    'from=<',
    'qos=7',
    'topic=x',
  ],
  ...['123456:abc', 'xoxb-1', '+15551234567', '#chan', '!room:host', 'user:pass@', 'a/b@host'],
];

function anyUrl(next: (below: number) => number): string {
  const scheme = next(20) === 0 ? 'nosuch' : (schemes[next(schemes.length)] ?? '');
  const rest = Array.from({ length: next(14) }, () => pieces[next(pieces.length)] ?? '');
  return `${scheme}://${rest.join('')}`;
}

describe('any URL', () => {
  it('is a destination or an error message, and its normalized form is stable', () => {
    const next = numbers(1);
    let served = 0;
    for (let index = 0; index < 20_000; index += 1) {
      const url = anyUrl(next);
      const destination = parseDestination(url);
      if (typeof destination === 'string') {
        expect(destination, url).toMatch(/^.{5,200}$/su);
        continue;
      }
      served += 1;
      const normal = destination.url(false);
      const reparsed = parseDestination(normal);
      expect(typeof reparsed === 'string' ? `${url} -> ${normal}: ${reparsed}` : reparsed.url(false)).toBe(normal);
      expect(destinationId(destination)).toMatch(/^[0-9a-f]{16}$/);
      for (const part of destination.parts ?? []) expect(typeof parseDestination(part.url(false)), url).toBe('object');
      expect(destination.url(true).length).toBeGreaterThan(0);
      fillForm(normal);
      listSecrets(normal);
    }
    expect(served).toBeGreaterThan(1000);
  });

  it('always returns a result when sent, without header or address injection', async () => {
    await using provider = await openProvider();
    const requestedUrls: string[] = [];
    const outlets = {
      ...provider.outlets,
      fetch: (url: string, { headers = {} }: FetchOptions = {}) => {
        expect(URL.canParse(url), url).toBe(true);
        for (const [name, value] of Object.entries(headers)) expect(`${name}: ${value}`).not.toMatch(/[\r\n\0]/);
        requestedUrls.push(url);
        return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array(), url });
      },
      handovers: { ...provider.outlets.handovers, pass: () => Promise.resolve() },
    };
    const next = numbers(2);
    for (let index = 0; index < 4000; index += 1) {
      const url = anyUrl(next);
      // These kinds do not use HTTP.
      if (/^(mailtos?|r?syslog|mqtts?):/.test(url)) continue;
      const destination = parseDestination(url);
      if (typeof destination === 'string') continue;
      for (const part of destination.parts?.slice(0, 3) ?? [destination]) {
        const result = await part.send(buildMessage({ title: 'T', body: 'b' }), outlets, AbortSignal.timeout(1000));
        expect(typeof result.detail, url).toBe('string');
      }
    }
    expect(requestedUrls.length).toBeGreaterThan(100);
  });

  it('is unchanged after parsing and formatting', () => {
    const next = numbers(3);
    for (let index = 0; index < 20_000; index += 1) {
      const url = parseDestinationUrl(anyUrl(next));
      if (url === undefined) continue;
      const reparsed = parseDestinationUrl(writeDestinationUrl(url));
      expect(reparsed).toMatchObject({ host: url.host, user: url.user, path: url.path, query: url.query });
    }
  });
});

describe('every form', () => {
  it.each(describeForms().map((form) => [form.scheme, form] as const))(
    'converts a form of %s to a valid URL and back',
    (scheme, form) => {
      const values = Object.fromEntries(
        form.fields.map((field) => [field.name, getSample(scheme, field.name, field.kind, field.required)]),
      );
      const filledValues = Object.fromEntries(
        Object.entries(values).filter(([, value]) => value !== undefined),
      ) as Record<string, string | boolean>;
      const written = writeForm({ scheme, values: filledValues });
      expect(written).toHaveProperty('url');
      const url = 'url' in written ? written.url : '';
      const destination = parseDestination(url);
      expect(typeof destination === 'string' ? `${url}: ${destination}` : 'served').toBe('served');
      const filled = fillForm(url);
      expect(filled?.scheme).toBe(scheme);
      for (const field of form.fields) {
        if (filledValues[field.name] === undefined || field.kind === 'switch') continue;
        if (field.kind === 'secret') expect(filled?.set, field.name).toContain(field.name);
        else expect(filled?.values[field.name], field.name).toBe(filledValues[field.name]);
      }
      const masked = typeof destination === 'string' ? '' : destination.url(true);
      expect(masked).not.toContain('s3cretvalue');
    },
  );
});

/** Returns a realistic value of a field by its name; undefined where it may be empty. */
function getSample(scheme: string, name: string, kind: string, required: boolean): string | boolean | undefined {
  const samples: Readonly<Record<string, string>> = {
    ...{ 'notifiarr channels': '#123', 'whatsapp phone': '1234567', 'sns region': 'eu-west-1' },
    ...{ host: 'host.example', topics: 'alerts', topic: 'alerts', chats: '-100123' },
    ...{
      from: '+15551234567',
      to: '+15557654321',
      'slack bot': 'xoxb-s3cretvalue',
      'matrix user': 'someone',
      'mqtt topic': '/alerts',
      'rocket targets': '#chan',
    },
    ...{ 'tgram token': '123456789:s3cretvalue', 'matrix password': 's3cretvalue', 'rocket password': 's3cretvalue' },
  };
  const sampleValue = samples[`${scheme} ${name}`];
  if (sampleValue !== undefined) return sampleValue;
  if (!required) return undefined;
  return kind === 'secret' ? 's3cretvalue' : (samples[name] ?? 'name');
}
