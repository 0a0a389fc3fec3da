import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from './rig.ts';

/** A request and what the peer answered it, recorded. */
interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

const folder = new URL('golden/', import.meta.url);
const exchanges = readdirSync(folder).map(
  (file): Exchange => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Exchange,
);
/** The ones that need what another has left behind, in this order at the end. */
const inOrder = ['add-autostart-false', 'add-duplicate-pending', 'start-pending'];

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ environment: { CORS_ALLOWED_ORIGINS: '*' } });
});
afterAll(async () => await rig[Symbol.asyncDispose]());

function order({ name }: Exchange): number {
  return inOrder.indexOf(name);
}

describe('answers as the peer does', () => {
  for (const { name, request, response } of exchanges.sort((a, b) => order(a) - order(b))) {
    it(name, async () => {
      const here = (text: string): string => text.replaceAll('http://media.test', rig.site.address);
      const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
      const reply = await fetch(rig.client.base + request.path, {
        method: request.method,
        headers: request.headers,
        ...(request.method === 'POST' ? { body: here(body) } : {}),
      });
      const text = await reply.text();
      expect(reply.status).toBe(response.status);
      for (const header of ['access-control-allow-origin', 'access-control-allow-headers', 'vary']) {
        if (header in response.headers) expect(reply.headers.get(header)).toBe(response.headers[header]);
      }
      if (response.status === 400) {
        // We say it as JSON, and clients find the message under any of the names they look for.
        const message = String(response.body).replace('400: ', '');
        expect(JSON.parse(text)).toEqual({ status: 'error', msg: message, error: message, message });
        expect(reply.statusText).toBe(message);
      } else if (typeof response.body === 'object') {
        expect(JSON.parse(text)).toMatchObject(
          JSON.parse(here(JSON.stringify(expected(name, response.body)))) as object,
        );
      } else if (response.status === 200) {
        expect(text).toBe(response.body);
      }
    });
  }
});

/** Our own version is not the peer's. */
function expected(name: string, body: unknown): unknown {
  return name === 'version' ? { 'yt-dlp': '2026.10.26' } : body;
}
