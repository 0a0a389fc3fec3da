import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from './rig.ts';

/** Request and ntfy's response, recorded in sequence on one server. */
interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: string | null;
  };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown };
}

const folder = new URL('access/golden/', import.meta.url);
const exchanges = readdirSync(folder)
  .sort((a, b) => Number.parseInt(a) - Number.parseInt(b))
  .map((file): Exchange => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

let rig: Rig;
/** Tokens of this server by recorded token. */
const tokens = new Map<string, string>();

beforeAll(async () => {
  // Configured like the recorded server.
  rig = await openRig({
    environment: {
      NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: '1ms',
      NTFY_VISITOR_ATTACHMENT_TOTAL_SIZE_LIMIT: '1G',
      NTFY_VISITOR_ATTACHMENT_DAILY_BANDWIDTH_LIMIT: '5G',
    },
  });
  for (const { name, kind } of await rig.context.accounts.list()) {
    if (kind === 'service') await rig.context.accounts.remove(name);
  }
});
afterAll(() => rig[Symbol.asyncDispose]());

describe('answers account requests like ntfy', () => {
  for (const { name, request, response } of exchanges) {
    it(`replays ${name}`, async () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([key, value]) => [key, toCurrent(value)]),
      );
      const body = request.body === null ? undefined : toCurrent(request.body);
      // Otherwise Node sends the body of a DELETE without its length.
      if (body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(body));
      const { status, headers: responseHeaders, text } = await rig.ask(request.method, request.path, headers, body);
      expect([status, text.includes('\n')]).toEqual([response.status, true]);
      for (const header of ['access-control-allow-origin', 'content-type', 'cache-control']) {
        // Responses with data of accounts are not stored by browsers, which ntfy leaves open.
        const recorded = response.headers[header] ?? (header === 'cache-control' ? 'no-store' : undefined);
        // This server allows web pages to read this response, which ntfy omits.
        if (name !== 'config_js' || header !== 'access-control-allow-origin')
          expect(responseHeaders[header], header).toBe(recorded);
      }
      expect(responseHeaders['www-authenticate']).toBeUndefined();
      if (typeof response.body === 'string') {
        expect(toLines(text)).toEqual(toLines(response.body));
        return;
      }
      recordTokens(response.body, JSON.parse(text));
      const [answered, recorded] = [normalize(JSON.parse(text)), normalize(response.body)];
      expect(answered).toEqual(recorded);
      // Compares the order of fields, too.
      expect(JSON.stringify(answered)).toBe(JSON.stringify(recorded));
    });
  }
});

function toCurrent(text: string): string {
  return text.replace(/tk_[a-z0-9]{29}/g, (token) => tokens.get(token) ?? token);
}

function recordTokens(recorded: any, answered: any): void {
  if (typeof recorded?.token === 'string') tokens.set(recorded.token, answered.token);
}

/** Intended differences: no payments, no e-mail, a required sign-in, and hashed tokens. */
const intendedDifferences: Record<string, unknown> = {
  emails: 0,
  emails_remaining: 0,
  require_login: true,
};
const varyingFields = new Set([
  'last_access',
  'expires',
  'last_origin',
  'messages',
  'messages_remaining',
  'messages_rate',
]);
const secretFields = new Set([
  'token',
  'sync_topic',
  'web_push_public_key',
  'config_hash',
  'version',
  'commit',
  'date',
]);

function normalize(value: unknown, key = ''): unknown {
  if (Object.hasOwn(intendedDifferences, key)) return intendedDifferences[key];
  if (varyingFields.has(key)) return `<${typeof value}>`;
  if (secretFields.has(key)) return `<text of ${key === 'commit' ? 'any length' : String(String(value).length)}>`;
  if (Array.isArray(value)) {
    const items = value.map((entry) => normalize(entry));
    return key === 'tokens' ? items.sort((a: any, b: any) => ((a.label ?? '') < (b.label ?? '') ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, normalize(entry, name)]));
}

function toLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(
          /"(web_push_public_key|config_hash)": "([\w-]*)"/,
          (_, key: string, value: string) => `${key} ${value.length}`,
        )
        .replace(/"(require_login)": \w+/, '$1'),
    );
}
