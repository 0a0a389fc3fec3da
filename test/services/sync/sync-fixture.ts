import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Grant } from '../../../services/contracts/control/accounts.ts';
import { control } from '../../../services/control/index.ts';
import { sync } from '../../../services/sync/index.ts';
import type { Clock, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { sharedEngines } from '../../support/engines.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { isMissing, needs } from '../../support/requirements.ts';

needs('rclone');

/** Path of rclone, installed by `npm run test:clients` or by the system. */
export const rclonePath = (await sharedEngines().find('rclone')).path;
export const lacksRclone = isMissing(rclonePath !== null);

/** Host with file sync, and a folder with files to sync. */
export interface SyncFixture extends AsyncDisposable {
  readonly host: TestHost;
  readonly url: string;
  /** Real path of the test's folder. */
  readonly folder: string;
  /** Creates files below the folder by path. */
  write(files: Readonly<Record<string, string>>): void;
  call(path: string, input?: object, options?: CallOptions): Promise<CallResult>;
  api(method: string, path: string, body?: unknown, authorization?: string): Promise<any>;
  /** Creates an account with these grants on file sync and returns its Authorization header. */
  account(name: string, grants: readonly Pick<Grant, 'resource' | 'permission'>[]): Promise<string>;
}

export interface CallOptions {
  readonly authorization?: string;
  readonly headers?: Record<string, string>;
}

export interface CallResult {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

export async function openSyncFixture(
  options: {
    readonly services?: readonly ServiceDescriptor<any, any>[];
    readonly environment?: Record<string, string>;
    readonly dataDir?: string;
    readonly clock?: Clock;
  } = {},
): Promise<SyncFixture> {
  const host = await openTestHost({
    services: [sync, control, ...(options.services ?? [])],
    environment: { ...(rclonePath === null ? {} : { RCLONE_PATH: rclonePath }), ...options.environment },
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  const folder = mkdtempSync(join(tmpdir(), 'homeport-sync-'));
  const url = host.url('sync');
  const json = { 'content-type': 'application/json' };
  return {
    host,
    url,
    folder,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
    },
    async call(path, input = {}, { authorization = adminAuthorization, headers = {} } = {}) {
      const reply = await fetch(`${url}/${path}`, {
        method: 'POST',
        headers: { ...json, authorization, ...headers },
        body: JSON.stringify(input),
      });
      return { status: reply.status, headers: reply.headers, body: await reply.json() };
    },
    async api(method, path, body, authorization = adminAuthorization) {
      const reply = await fetch(`${host.url('control')}${path}`, {
        method,
        headers: { ...json, authorization },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer: any = await reply.json();
      if (!reply.ok) throw new Error(`${String(reply.status)} ${JSON.stringify(answer)}`);
      return answer;
    },
    async account(name, grants) {
      const password = 'a long password';
      const reply = await fetch(`${host.url('control')}/api/accounts`, {
        method: 'POST',
        headers: { ...json, authorization: adminAuthorization },
        body: JSON.stringify({ name, password, grants: grants.map((grant) => ({ service: 'sync', ...grant })) }),
      });
      if (!reply.ok) throw new Error(await reply.text());
      return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the running engine processes of this host. */
export function listEnginePids(fixture: SyncFixture): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return commandLine.includes('\0rcd\0') && commandLine.includes(fixture.host.dataDir);
      } catch {
        return false; // It ended as we looked.
      }
    })
    .map(Number);
}

/** Repeats a request until its result meets the condition. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, withinMs = 120_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const response = await ask();
    if (isSo(response)) return response;
    if (Date.now() > deadline) throw new Error(`never: ${JSON.stringify(response)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
