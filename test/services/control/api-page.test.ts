import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatSchema } from '../../../services/control/api-page/schema-text.ts';
import { seriousFindings } from '../../renderer/axe.ts';
import { getBrowser, noBrowser, openPage } from '../../support/browser.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

describe('formatSchema', () => {
  const format = (schema: Parameters<typeof formatSchema>[0]): string => formatSchema(schema, (name) => `<${name}>`);

  it.each([
    [{ type: 'integer' }, 'number'],
    [{ const: 'a' }, '"a"'],
    [{ enum: ['a', 'b'] }, '"a" | "b"'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ $ref: '#/components/schemas/Download' }, '<Download>'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }, { type: 'string' }] }, 'string | null'],
    [{ allOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }] }, '<A> & <B>'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object' }, '{}'],
    [{}, 'any'],
  ] as const)('formats %j as %s', (schema, text) => {
    expect(format(schema)).toBe(text);
  });

  it('formats nested objects with optional and quoted names', () => {
    const schema = {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Its\n  id.' },
        'x-y': { type: 'object', properties: { n: { type: 'number' } } },
      },
      required: ['id'],
    };
    expect(format(schema)).toBe('{\n  id: string // Its id.\n  "x-y"?: {\n    n?: number\n  }\n}');
  });
});

describe('API page', () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await openTestHost({
      environment: { HOMEPORT_TRUSTED_PROXIES: '127.0.0.1', HOMEPORT_ALLOWED_HOSTS: 'api.example' },
    });
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it('describes every operation of the OpenAPI document, without signing in', async () => {
    const document = (await (await fetch(`${host.url('control')}/api/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
    };
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    const html = await (await fetch(`${host.url('control')}/api`)).text();
    expect(ids.filter((id) => !html.includes(`<details id="${id}">`))).toEqual([]);
    expect(ids.length).toBeGreaterThan(300);
  });

  it('shows the address of a trusted proxy in its examples', async () => {
    const headers = { 'X-Forwarded-Host': 'api.example', 'X-Forwarded-Proto': 'https' };
    const html = await (await fetch(`${host.url('control')}/api`, { headers })).text();
    expect(html).toContain('curl https://api.example/api/session');
    expect(await (await fetch(`${host.url('control')}/api`)).text()).toContain(
      `curl ${host.url('control')}/api/session`,
    );
  });

  it('escapes what it shows, and links only to anchors that exist', async () => {
    const html = await (await fetch(`${host.url('control')}/api`)).text();
    const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? '');
    const anchors = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    expect(targets.filter((id) => !anchors.has(id))).toEqual([]);
    expect(html).not.toMatch(/<script|undefined|\[object/);
  });

  it.skipIf(noBrowser !== undefined)('opens an operation with the keyboard and passes axe', async () => {
    for (const dark of [false, true]) {
      await using opened = await openPage(await getBrowser(), { width: 360, height: 800, dark });
      const { page, complaints } = opened;
      await page.goto(`${host.url('control')}/api#getInbox`);
      await page.locator('#getInbox summary').press('Enter');
      await page.locator('#getInbox').getByText('curl').waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(await seriousFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
    }
  });
});
