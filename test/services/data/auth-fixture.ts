import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { control } from '../../../services/control/index.ts';
import { data } from '../../../services/data/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import type { Clock, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { signJwt } from '../../support/jwt.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

export const jwtSecret = 'a-secret-of-tests-that-is-long-enough';
const day = 86_400;

/** Real clock that can be advanced. */
export interface MovableClock extends Clock {
  advance(ms: number): void;
}

export function movableClock(): MovableClock {
  let ahead = 0;
  const handle = (timer: NodeJS.Timeout): Disposable => ({ [Symbol.dispose]: () => clearTimeout(timer) });
  return {
    now: () => Date.now() + ahead,
    after: (ms, call) => handle(setTimeout(call, ms).unref()),
    every: (ms, call) => handle(setInterval(call, ms).unref()),
    advance: (ms) => void (ahead += ms),
  };
}

/** Mail in the inbox. */
export interface InboxMail {
  readonly title: string;
  readonly body: string;
  readonly link: string | null;
}

export interface AuthFixture extends AsyncDisposable {
  readonly host: TestHost;
  readonly clock: MovableClock;
  readonly url: string;
  readonly anonKey: string;
  readonly serviceKey: string;
  /** Creates a supabase-js client with separate storage. */
  client(options?: { readonly key?: string; readonly flowType?: 'pkce' | 'implicit' }): SupabaseClient;
  /** Sends a request to `/auth/v1` with the anon key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Runs statements as the owner of the tables; returns the rows of the last one. */
  sql(query: string): Promise<any[]>;
  /** Waits for the next mail to an address that was not returned before. */
  mailTo(email: string): Promise<InboxMail>;
}

export interface AuthFixtureOptions {
  readonly environment?: Record<string, string>;
  readonly dataDir?: string;
  readonly clock?: MovableClock;
  /** Enabled services in addition to data, the inbox and the pages. */
  readonly services?: readonly ServiceDescriptor<any, any>[];
}

export async function openAuthFixture(options: AuthFixtureOptions = {}): Promise<AuthFixture> {
  const clock = options.clock ?? movableClock();
  const host = await openTestHost({
    services: [data, control, inbox, ...(options.services ?? [])],
    environment: { DATA_JWT_SECRET: jwtSecret, ...options.environment },
    clock,
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
  });
  const url = host.url('data');
  const iat = Math.floor(Date.now() / 1000) - 10;
  const key = (role: string): string => signJwt({ iss: 'supabase', role, iat, exp: iat + 30 * day }, jwtSecret);
  const [anonKey, serviceKey] = [key('anon'), key('service_role')];
  const call: AuthFixture['call'] = (method, path, body, headers = {}) =>
    fetch(`${url}/auth/v1${path}`, {
      method,
      redirect: 'manual',
      headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const seen = new Set<number>();
  const inboxItems = async (): Promise<(InboxMail & { id: number })[]> => {
    const reply = await fetch(`${host.url('control')}/api/inbox?limit=100`, {
      headers: { Authorization: adminAuthorization },
    });
    const { items }: any = await reply.json();
    return items;
  };
  return {
    ...{ host, clock, url, anonKey, serviceKey, call },
    client: ({ key: apiKey = anonKey, flowType = 'implicit' } = {}) => {
      const store = new Map<string, string>();
      return createClient(url, apiKey, {
        auth: {
          flowType,
          autoRefreshToken: false,
          persistSession: true,
          detectSessionInUrl: false,
          storage: {
            getItem: (name) => store.get(name) ?? null,
            setItem: (name, value) => void store.set(name, value),
            removeItem: (name) => void store.delete(name),
          },
        },
      });
    },
    async sql(query) {
      const reply = await fetch(`${url}/pg/query`, {
        method: 'POST',
        headers: { apikey: serviceKey, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      const body: any = await reply.json();
      if (!reply.ok) throw new Error(`${reply.status} ${JSON.stringify(body)}`);
      return body;
    },
    async mailTo(email) {
      for (let remaining = 200; remaining > 0; remaining -= 1) {
        const mail = (await inboxItems()).find(({ id, title }) => !seen.has(id) && title.endsWith(`(${email})`));
        if (mail !== undefined) {
          seen.add(mail.id);
          return mail;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`no mail came to ${email} at ${admin.name}'s inbox`);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}
