import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from './rig.ts';

/** A request and what the peer answered it, recorded one after another on one server. */
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
/** Recorded tokens and ours, by the case that made them. */
const tokens = new Map<string, string>();

beforeAll(async () => {
  // As the recorded server was set up.
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

describe('answers about accounts as the peer does', () => {
  for (const { name, request, response } of exchanges) {
    it(name, async () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, ours(value)]));
      const body = request.body === null ? undefined : ours(request.body);
      // Node's client sends the body of a DELETE without its length else.
      if (body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(body));
      const { status, headers: got, text } = await rig.ask(request.method, request.path, headers, body);
      expect([status, text.includes('\n')]).toEqual([response.status, true]);
      for (const header of ['access-control-allow-origin', 'content-type', 'cache-control']) {
        // Ours lets web pages read this one too; the peer forgot it.
        if (name !== 'config_js' || header !== 'access-control-allow-origin')
          expect(got[header], header).toBe(response.headers[header]);
      }
      expect(got['www-authenticate']).toBeUndefined();
      if (typeof response.body === 'string') {
        expect(lines(text)).toEqual(lines(response.body));
        return;
      }
      learn(response.body, JSON.parse(text));
      const [answered, recorded] = [shape(JSON.parse(text)), shape(response.body)];
      expect(answered).toEqual(recorded);
      // The order of the fields, too.
      expect(JSON.stringify(answered)).toBe(JSON.stringify(recorded));
    });
  }
});

function ours(text: string): string {
  return text.replace(/tk_[a-z0-9]{29}/g, (token) => tokens.get(token) ?? token);
}

function learn(recorded: any, answered: any): void {
  if (typeof recorded?.token === 'string') tokens.set(recorded.token, answered.token);
}

/** Where ours differs by design: nobody pays, no e-mail, a sign-in is asked for, and only hashes of tokens are kept. */
const different: Record<string, unknown> = {
  emails: 0,
  emails_remaining: 0,
  require_login: true,
};
const varying = new Set(['last_access', 'expires', 'last_origin', 'messages', 'messages_remaining', 'messages_rate']);
const secret = new Set(['token', 'sync_topic', 'web_push_public_key', 'config_hash', 'version', 'commit', 'date']);

function shape(value: unknown, key = ''): unknown {
  if (Object.hasOwn(different, key)) return different[key];
  if (varying.has(key)) return `<${typeof value}>`;
  if (secret.has(key)) return `<text of ${key === 'commit' ? 'any length' : String(String(value).length)}>`;
  if (Array.isArray(value)) {
    const all = value.map((each) => shape(each));
    return key === 'tokens' ? all.sort((a: any, b: any) => ((a.label ?? '') < (b.label ?? '') ? -1 : 1)) : all;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shape(each, name)]));
}

function lines(text: string): string[] {
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
