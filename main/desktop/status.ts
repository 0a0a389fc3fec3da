import { serviceChanged, type ServiceState } from '../../services/contracts/control/api.ts';
import {
  downloadChanged,
  downloadRemoved,
  downloadsApi,
  type Download,
} from '../../services/contracts/downloads/api.ts';
import { inboxAdded, inboxApi, inboxChanged } from '../../services/contracts/inbox/api.ts';
import { popupsApi, popupsChanged, type PopupsState } from '../../services/contracts/popups/popups.ts';
import type { Host } from '../host/host.ts';
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
  const services = new Map<string, ServiceState>();
  const urgent = new Set<number>();
  const downloads = new Set<string>();
  let { popups } = emptyStatus;
  let timer: NodeJS.Timeout | undefined;
  const scheduleChange = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      changed();
    }, gatherMs).unref();
  };

  const readUrgent = async (): Promise<void> => {
    const query = { unread: 'true', minPriority: '4', limit: String(maxUrgentCounted) };
    const { items = [] } = (await request(host, inboxApi.list, { query })) ?? {};
    urgent.clear();
    for (const { id, done } of items) if (!done) urgent.add(id);
    scheduleChange();
  };
  const follow = (download: Download): void => {
    if (download.state === 'finished' || download.state === 'failed') downloads.delete(download.uid);
    else downloads.add(download.uid);
    scheduleChange();
  };

  const open = new DisposableStack();
  open.defer(() => clearTimeout(timer));
  open.use(
    host.bus.subscribe(serviceChanged, (state) => {
      services.set(state.id, state);
      scheduleChange();
    }),
  );
  open.use(
    host.bus.subscribe(popupsChanged, (state) => {
      popups = state;
      scheduleChange();
    }),
  );
  open.use(
    host.bus.subscribe(inboxAdded, ({ id, priority, read }) => {
      if (priority < 4 || read) return;
      urgent.add(id);
      scheduleChange();
    }),
  );
  open.use(
    host.bus.subscribe(inboxChanged, ({ ids, change }) => {
      // No ids means every row. For rows that become unread again, the event does not contain the priority.
      if (ids.length === 0 || change.read === false || change.done === false) return void readUrgent();
      if (change.read === true || change.done === true || change.removed === true)
        ids.forEach((id) => urgent.delete(id));
      scheduleChange();
    }),
  );
  open.use(host.bus.subscribe(downloadChanged, follow));
  open.use(
    host.bus.subscribe(downloadRemoved, ({ uid }) => {
      downloads.delete(uid);
      scheduleChange();
    }),
  );
  for (const state of await host.control.services()) services.set(state.id, state);
  popups = (await request(host, popupsApi.popups)) ?? popups;
  await readUrgent();
  for (const download of (await request(host, downloadsApi.list))?.queue ?? []) follow(download);

  return {
    now: () => ({
      services: [...services.values()].filter(({ group }) => group !== 'system'),
      network: services.get('gateway'),
      popups,
      urgent: urgent.size,
      downloads: downloads.size,
    }),
    [Symbol.dispose]: () => open.dispose(),
  };
}
