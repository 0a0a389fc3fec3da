import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recognizePayload } from '../../../services/notify/inbound/catalogue.ts';
import { variants } from './inbound/variants.ts';

interface Recorded {
  readonly name: string;
  readonly request?: { readonly headers: Readonly<Record<string, string>>; readonly body: Record<string, unknown> };
  readonly suggested_render?: { readonly title?: string; readonly type?: string };
}

const folder = new URL('inbound/golden/', import.meta.url);
const recorded = readdirSync(folder)
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recorded)
  .filter((entry) => entry.request !== undefined);

function read(body: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const header = (name: string) => lower.get(name);
  const { body: markdown } = recognizePayload(body, header, 'markdown') ?? {};
  const { body: text, ...rest } = recognizePayload(body, header, 'text') ?? {};
  return { ...rest, text, ...(markdown === text ? {} : { markdown }) };
}

describe('payloads of other programs', () => {
  it.each(recorded.map((entry) => [entry.name, entry] as const))(
    'converts the recorded payload: %s',
    (_name, { request, ...entry }) => {
      const notification = read(request?.body ?? {}, request?.headers);
      expect(notification).toMatchSnapshot();
      if (entry.suggested_render?.type !== undefined) expect(notification.type).toBe(entry.suggested_render.type);
      expect(notification.title ?? '').toContain(entry.suggested_render?.title ?? '');
    },
  );

  it.each(Object.entries(variants))('converts the documented payload: %s', (_name, [body, headers]) => {
    expect(read(body, headers)).toMatchSnapshot();
  });

  it.each([
    ['nothing', {}],
    ['a title alone', { title: 'x' }],
    ['numbers', { a: 1, message: 7, text: null }],
    [
      'inherited names',
      JSON.parse('{"__proto__":{"message":"x"},"constructor":{"message":"y"}}') as Record<string, unknown>,
    ],
  ])('are not recognized: %s', (_case, body) => {
    // A number in a text field is formatted like any other.
    expect(recognizePayload(body, () => undefined, 'text')?.body).toBe(
      'message' in body && body.message === 7 ? '7' : undefined,
    );
  });

  it('converts huge or deep payloads quickly to notifications of bounded size', () => {
    let deep: Record<string, unknown> = { message: 'x' };
    for (let level = 0; level < 90; level += 1) deep = { repository: deep, ref: deep, commits: [deep] };
    const huge = {
      version: '4',
      groupKey: '{}',
      status: 'firing',
      alerts: Array.from({ length: 5000 }, (_, index) => ({
        status: 'firing',
        labels: Object.fromEntries(Array.from({ length: 20 }, (__, label) => [`l${label}`, 'y'.repeat(20)])),
        annotations: { summary: 'x'.repeat(100_000), description: `${index}` },
      })),
    };
    expect(recognizePayload(deep, () => undefined, 'text')?.body.length).toBeLessThan(25_000);
    const notification = recognizePayload(huge, () => undefined, 'markdown');
    expect(notification?.body.length).toBeLessThan(25_000);
    expect(notification?.title).toBe('[FIRING:200] Alerts');
  });

  it('cannot inject links, control characters or markup', () => {
    const { markdown = '', ...notification } = read({
      heartbeat: { status: 0 },
      monitor: { name: 'a\nb\u0000c [x](javascript:alert)', url: 'javascript:alert(1)' },
      msg: '[click](http://evil.example) **x**',
    });
    expect(notification.title).toBe('a b c [x](javascript:alert) is down');
    expect(notification).not.toHaveProperty('link');
    expect(markdown).toBe('\\[click\\](http://evil.example) \\*\\*x\\*\\*');
  });
});
