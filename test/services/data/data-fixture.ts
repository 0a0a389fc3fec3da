import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { control } from '../../../services/control/index.ts';
import { data } from '../../../services/data/index.ts';
import { signJwt } from '../../support/jwt.ts';
import type { Clock, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

export const jwtSecret = 'a-secret-of-tests-that-is-long-enough';
const day = 86_400;

/** Host with the data service, and the keys of its clients. */
export interface DataFixture extends AsyncDisposable {
  readonly host: TestHost;
  readonly url: string;
  readonly anonKey: string;
  readonly serviceKey: string;
  /** Creates an access token of a user. */
  token(sub: string, claims?: Record<string, unknown>): string;
  /** Runs statements as the owner of the tables; returns the rows of the last one. */
  sql(query: string): Promise<any[]>;
  /** Sends a request with the anon key unless `headers` has another one. */
  request(path: string, options?: RequestInit & { headers?: Record<string, string> }): Promise<Response>;
}

export async function openDataFixture(
  options: {
    readonly environment?: Record<string, string>;
    readonly dataDir?: string;
    /** Settings of the section `services.data`. */
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly services?: readonly ServiceDescriptor<any, any>[];
    readonly clock?: Clock;
  } = {},
): Promise<DataFixture> {
  const ownsFolder = options.dataDir === undefined && options.settings !== undefined;
  const dataDir = ownsFolder ? mkdtempSync(join(tmpdir(), 'homeport-data-')) : options.dataDir;
  if (dataDir !== undefined && options.settings !== undefined) {
    const section = { version: 1, services: { data: options.settings } };
    writeFileSync(join(dataDir, 'homeport.yaml'), JSON.stringify(section));
  }
  const host = await openTestHost({
    services: [data, control, ...(options.services ?? [])],
    environment: { DATA_JWT_SECRET: jwtSecret, ...options.environment },
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  const url = host.url('data');
  const now = Math.floor(Date.now() / 1000);
  const key = (role: string): string => signJwt({ iss: 'supabase', role, iat: now, exp: now + day }, jwtSecret);
  const [anonKey, serviceKey] = [key('anon'), key('service_role')];
  const request: DataFixture['request'] = (path, { headers, ...more } = {}) =>
    fetch(`${url}${path}`, { ...more, headers: { apikey: anonKey, ...headers } });
  return {
    host,
    url,
    anonKey,
    serviceKey,
    request,
    token: (sub, claims = {}) =>
      signJwt({ sub, role: 'authenticated', aud: 'authenticated', iat: now, exp: now + day, ...claims }, jwtSecret),
    async sql(query) {
      const reply = await request('/pg/query', {
        method: 'POST',
        headers: { apikey: serviceKey, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      const body: any = await reply.json();
      if (!reply.ok) throw new Error(`${reply.status} ${JSON.stringify(body)}`);
      return body;
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      if (ownsFolder && dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
