import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock, ServiceDescriptor } from '../../services/contracts/service.ts';
import { openHost, type HostOptions } from '../../main/host/host.ts';
import type { Host } from '../../main/host/running-host.ts';
import { registry } from '../../main/host/services/registry.ts';

export const admin = { name: 'ada', password: 'correct horse battery' } as const;
export const adminAuthorization = `Basic ${Buffer.from(`${admin.name}:${admin.password}`).toString('base64')}`;
export const builtPages = fileURLToPath(new URL('../../dist/renderer', import.meta.url));

/** Folder in which `npm run test:clients` installs engines once for all tests. */
export const enginesFolder = fileURLToPath(new URL('../../.cache/engines-home/engines', import.meta.url));

export interface TestHostOptions {
  /** Started services; default: all. */
  readonly services?: readonly ServiceDescriptor<any, any>[];
  /** Data folder; default: a new folder, deleted at the end. An explicit folder is kept. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** False creates no administrator, as before the first-run setup. */
  readonly administrator?: boolean;
  readonly safeMode?: boolean;
  readonly clock?: Clock;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
  readonly pages?: string;
  /** Desktop integration; default: none. */
  readonly notifier?: HostOptions['notifier'];
  readonly openAddress?: HostOptions['openAddress'];
  /** Called when a restored backup is pending for the next start. */
  readonly restartHost?: HostOptions['restartHost'];
}

export interface TestHost extends AsyncDisposable {
  readonly host: Host;
  readonly dataDir: string;
  /** Lines of the log so far. */
  readonly log: readonly string[];
  /** Returns the base address of a running service, e.g. `http://127.0.0.1:41234`. */
  url(service: string): string;
  port(service: string): number;
}

/** Returns the environment of a test host: free ports, nothing installed, and no settings of the developer. */
export function testEnvironment(
  dataDir: string,
  options: Pick<TestHostOptions, 'environment' | 'administrator'> = {},
): Record<string, string> {
  const ports = registry.flatMap(({ id, listeners = [] }) =>
    listeners.map(({ name }, index) => [`HOMEPORT_PORT_${id}${index === 0 ? '' : `_${name}`}`.toUpperCase(), '0']),
  );
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: dataDir,
    DOWNLOAD_DIR: join(dataDir, 'Downloads'),
    HOMEPORT_ENGINES_DIR: enginesFolder,
    HOMEPORT_INSTALL_ENGINES: 'false',
    HOMEPORT_OPEN_BROWSER: 'false',
    ...Object.fromEntries(ports),
    ...(options.administrator === false
      ? {}
      : { HOMEPORT_ADMIN_USER: admin.name, HOMEPORT_ADMIN_PASSWORD: admin.password }),
    ...options.environment,
  };
}

/** Opens a complete host in this process on free ports. */
export async function openTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'homeport-test-'));
  const log: string[] = [];
  const host = await openHost({
    dataDir,
    descriptors: options.services ?? registry,
    pages: options.pages ?? builtPages,
    environment: testEnvironment(dataDir, options),
    safeMode: options.safeMode ?? false,
    passwordCost: 8,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.notifier === undefined ? {} : { notifier: options.notifier }),
    ...(options.openAddress === undefined ? {} : { openAddress: options.openAddress }),
    ...(options.restartHost === undefined ? {} : { restartHost: options.restartHost }),
    logWrite: (line) => log.push(line),
  });
  const url = (service: string): string => {
    const address = host.addresses()[service];
    if (address === undefined)
      throw new Error(`${service} is not up: ${host.failures()[service] ?? ''}\n${log.join('\n')}`);
    return address;
  };
  return {
    host,
    dataDir,
    log,
    url,
    port: (service) => Number(new URL(url(service)).port),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
