import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { registry } from '../../main/host/services/registry.ts';
import type { NotifyDelivery, NotifyHistoryEntry } from '../../services/contracts/notify/history.ts';
import { api } from '../support/api.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { sharing } from '../support/gateway/phone.ts';
import { accounts } from './accounts.ts';
import { code } from './code.ts';
import { databases } from './databases.ts';
import { delivery } from './delivery.ts';
import { downloads } from './downloads.ts';
import { messages } from './messages.ts';
import { type House, type Moment, day } from './moment.ts';
import { network } from './network.ts';
import { streaming, streamingEnvironment } from './streaming.ts';
import { sync } from './sync.ts';
import { traffic } from './traffic.ts';
import { createTravelClock } from './travel-clock.ts';
import { uptime } from './uptime.ts';

const parts: readonly ((house: House) => Promise<readonly Moment[]>)[] = [
  accounts,
  network,
  messages,
  delivery,
  downloads,
  streaming,
  uptime,
  sync,
  code,
  databases,
  traffic,
];

/** Parts of the household that contain sample data of a service, by the id of the service. */
export const householdParts: Readonly<Record<string, readonly string[]>> = {
  addons: ['streaming'],
  data: ['databases'],
  downloads: ['downloads'],
  gateway: ['network'],
  git: ['code'],
  inbox: ['messages'],
  mail: ['delivery'],
  notify: ['delivery'],
  push: ['messages'],
  sync: ['sync'],
  uptime: ['uptime'],
};

/**
 * Waits until all notifications have been tried everywhere: sample data must not contain the time of their delivery.
 */
async function untilTold(sendRequest: House['ask']): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await wait(20);
    const { notices } = await sendRequest('GET', '/notify/notices?state=waiting&limit=20');
    const deliveries: readonly NotifyDelivery[] = notices.flatMap((notice: NotifyHistoryEntry) => notice.deliveries);
    if (deliveries.every(({ state, attempts }) => state !== 'waiting' || attempts > 0)) return;
  }
}

/** Short default folder, since pages show its path. */
function openFolder(): string {
  const short = join(tmpdir(), 'ada');
  try {
    mkdirSync(short);
    return short;
  } catch {
    return mkdtempSync(join(tmpdir(), 'ada-'));
  }
}

/** Returns the environment that moves all listeners to their usual ports plus an offset. */
export function shiftPorts(above: number): Record<string, string> {
  return Object.fromEntries(
    registry.flatMap(({ id, listeners = [] }) =>
      listeners.map(({ name, port }, at) => [
        `HOMEPORT_PORT_${id}${at === 0 ? '' : `_${name}`}`.toUpperCase(),
        String(port + above),
      ]),
    ),
  );
}

/**
 * Opens all services as they look after a month of use: people and programs act through the public interfaces, and
 * stand-ins on loopback replace the services outside. Used for screenshots and for manual tests of the pages.
 */
export async function openHousehold(
  options: {
    readonly pages?: string;
    /** Default: a new folder, deleted at the end. */
    readonly dataDir?: string;
    /** Offset that is added to the usual ports; without it, free ports are used. */
    readonly portsAbove?: number;
    /** Names of the parts to create; without it, all. */
    readonly only?: readonly string[];
    /** Language of notifications; default: English. */
    readonly language?: string;
  } = {},
): Promise<TestHost> {
  await using open = new AsyncDisposableStack();
  const folder = openFolder();
  open.defer(() => rmSync(folder, { recursive: true, force: true }));
  const clock = createTravelClock(31 * day);
  const use: House['keep'] = (kept) => open.use(kept);
  const environment = {
    ...sharing(),
    ...(options.portsAbove === undefined ? {} : shiftPorts(options.portsAbove)),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    ...(options.language === undefined ? {} : { HOMEPORT_LANGUAGE: options.language }),
    DOWNLOAD_DIR: join(folder, 'Downloads'),
    ...(await streamingEnvironment(use)),
  };
  const host = use(
    await openTestHost({
      clock,
      environment,
      ...(options.pages === undefined ? {} : { pages: options.pages }),
      ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    }),
  );
  const sendRequest: House['ask'] = (method, path, body) =>
    api(host.url('control'), `/api${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const selectedParts = parts.filter(({ name }) => options.only?.includes(name) ?? true);
  const moments: Moment[] = [];
  for (const part of selectedParts) moments.push(...(await part({ host, folder, ask: sendRequest, keep: use })));
  for (const { ago, run } of moments.sort((a, b) => b.ago - a.ago)) {
    await clock.goTo(ago);
    await run();
    await untilTold(sendRequest);
  }
  await clock.goTo(0);
  const kept = open.move();
  return { ...host, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
