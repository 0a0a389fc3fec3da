import type { ServiceState } from '../../services/contracts/control/api.ts';
import { serviceStatusChanged, type ServiceStatus } from '../../services/contracts/control/service-status.ts';
import { readTexts } from '../../services/contracts/text.ts';
import {
  downloadChanged,
  downloadRemoved,
  downloadsApi,
  type Download,
} from '../../services/contracts/downloads/api.ts';
import { inboxAdded, inboxApi, inboxChanged, type InboxChanged } from '../../services/contracts/inbox/api.ts';
import { popupsApi, popupsChanged, type PopupsState } from '../../services/contracts/popups/popups.ts';
import type { Host } from '../host/running-host.ts';
import { request } from './ask.ts';

/** State of the host for the tray. */
export interface HostStatus {
  /** Services without the parts of the app. */
  readonly services: readonly ServiceState[];
  /** Service that shares with the home network, if any. */
  readonly network?: ServiceState | undefined;
  readonly popups: PopupsState;
  /** Number of unread messages with priority 4 and 5. */
  readonly urgent: number;
  /** Number of unfinished downloads. */
  readonly downloads: number;
}

/** State before the host has reported anything. */
export const emptyStatus: HostStatus = {
  services: [],
  popups: { enabled: true, driver: 'electron', pausedUntil: null, quietUntil: null, held: 0 },
  urgent: 0,
  downloads: 0,
};

/** Maximum count of unread messages; the tray then shows "many". */
const maxUrgentCounted = 200;
/** Changes are collected for this time in ms, so that a busy download does not redraw the tray at each step. */
const gatherMs = 250;

/** Follows the host by its events; calls `changed` at most four times a second. */
export async function watchStatus(
  host: Pick<Host, 'bus' | 'control'>,
  changed: () => void,
): Promise<Disposable & { now(): HostStatus }> {
  const watch = new StatusWatch(host, changed);
  await watch.read();
  return watch;
}

class StatusWatch implements Disposable {
  readonly #host: Pick<Host, 'bus' | 'control'>;
  readonly #changed: () => void;
  readonly #services = new Map<string, ServiceStatus>();
  /** Ids of unread messages. */
  readonly #urgent = new Set<number>();
  readonly #downloads = new Set<string>();
  readonly #subscriptions = new DisposableStack();
  #popups = emptyStatus.popups;
  #timer: NodeJS.Timeout | undefined;

  constructor(host: Pick<Host, 'bus' | 'control'>, changed: () => void) {
    this.#host = host;
    this.#changed = changed;
    this.#subscribe();
  }

  /** Reads the current state, which the events then change. */
  async read(): Promise<void> {
    const host = this.#host;
    for (const state of await host.control.services()) this.#services.set(state.id, state);
    this.#popups = (await request(host, popupsApi.popups)) ?? this.#popups;
    await this.#readUrgent();
    for (const download of (await request(host, downloadsApi.list))?.queue ?? []) this.#follow(download);
  }

  now(): HostStatus {
    const network = this.#services.get('gateway');
    const services = [...this.#services.values()].filter(({ group }) => group !== 'system');
    return {
      services: services.map((service) => readTexts(service)),
      network: network && readTexts(network),
      popups: this.#popups,
      urgent: this.#urgent.size,
      downloads: this.#downloads.size,
    };
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
  }

  #subscribe(): void {
    const { bus } = this.#host;
    this.#subscriptions.defer(() => clearTimeout(this.#timer));
    this.#subscriptions.use(
      bus.subscribe(serviceStatusChanged, (state) => {
        this.#services.set(state.id, state);
        this.#scheduleChange();
      }),
    );
    this.#subscriptions.use(
      bus.subscribe(popupsChanged, (state) => {
        this.#popups = state;
        this.#scheduleChange();
      }),
    );
    this.#subscriptions.use(
      bus.subscribe(inboxAdded, ({ id, priority, read }) => {
        if (priority < 4 || read) return;
        this.#urgent.add(id);
        this.#scheduleChange();
      }),
    );
    this.#subscriptions.use(bus.subscribe(inboxChanged, (event) => this.#updateUrgent(event)));
    this.#subscriptions.use(bus.subscribe(downloadChanged, (download) => this.#follow(download)));
    this.#subscriptions.use(
      bus.subscribe(downloadRemoved, ({ uid }) => {
        this.#downloads.delete(uid);
        this.#scheduleChange();
      }),
    );
  }

  #scheduleChange(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#changed();
    }, gatherMs).unref();
  }

  async #readUrgent(): Promise<void> {
    const query = { unread: 'true', minPriority: '4', limit: String(maxUrgentCounted) };
    const { items = [] } = (await request(this.#host, inboxApi.list, { query })) ?? {};
    this.#urgent.clear();
    for (const { id, done } of items) if (!done) this.#urgent.add(id);
    this.#scheduleChange();
  }

  #updateUrgent({ ids, change }: InboxChanged): void {
    // No ids means every row. For rows that become unread again, the event does not contain the priority.
    if (ids.length === 0 || change.read === false || change.done === false) return void this.#readUrgent();
    if (change.read === true || change.done === true || change.removed === true)
      ids.forEach((id) => this.#urgent.delete(id));
    this.#scheduleChange();
  }

  #follow(download: Download): void {
    if (download.state === 'finished' || download.state === 'failed') this.#downloads.delete(download.uid);
    else this.#downloads.add(download.uid);
    this.#scheduleChange();
  }
}
