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
import { ask } from './ask.ts';

/** What the tray tells of the host. */
export interface HostStatus {
  /** Without the app's own. */
  readonly services: readonly ServiceState[];
  /** The one that lets the home network in; undefined where there is none. */
  readonly network?: ServiceState | undefined;
  readonly popups: PopupsState;
  /** Unread messages of priority 4 and 5. */
  readonly urgent: number;
  /** Downloads that are not over. */
  readonly downloads: number;
}

/** Of a host that has told nothing yet. */
export const emptyStatus: HostStatus = {
  services: [],
  popups: { enabled: true, driver: 'electron', pausedUntil: null, quietUntil: null, held: 0 },
  urgent: 0,
  downloads: 0,
};

/** Unread messages that are counted; the tray says "many" as well. */
const mostUrgent = 200;
/** Changes that come together are told together, after this time in ms: a busy download must not redraw the tray at each step. */
const gatherMs = 250;

/** Follows the host by its own events; `changed` is told afterwards, at most four times a second. */
export async function watchStatus(
  host: Pick<Host, 'bus' | 'control'>,
  changed: () => void,
): Promise<Disposable & { now(): HostStatus }> {
  const services = new Map<string, ServiceState>();
  const urgent = new Set<number>();
  const downloads = new Set<string>();
  let { popups } = emptyStatus;
  let soon: NodeJS.Timeout | undefined;
  const tell = (): void => {
    soon ??= setTimeout(() => {
      soon = undefined;
      changed();
    }, gatherMs).unref();
  };

  const readUrgent = async (): Promise<void> => {
    const query = { unread: 'true', minPriority: '4', limit: String(mostUrgent) };
    const { items = [] } = (await ask(host, inboxApi.list, { query })) ?? {};
    urgent.clear();
    for (const { id, done } of items) if (!done) urgent.add(id);
    tell();
  };
  const follow = (download: Download): void => {
    if (download.state === 'finished' || download.state === 'failed') downloads.delete(download.uid);
    else downloads.add(download.uid);
    tell();
  };

  const open = new DisposableStack();
  open.defer(() => clearTimeout(soon));
  open.use(
    host.bus.subscribe(serviceChanged, (state) => {
      services.set(state.id, state);
      tell();
    }),
  );
  open.use(
    host.bus.subscribe(popupsChanged, (state) => {
      popups = state;
      tell();
    }),
  );
  open.use(
    host.bus.subscribe(inboxAdded, ({ id, priority, read }) => {
      if (priority < 4 || read) return;
      urgent.add(id);
      tell();
    }),
  );
  open.use(
    host.bus.subscribe(inboxChanged, ({ ids, change }) => {
      // No ids: every row. And what is unread again may be urgent or not, which the event does not tell.
      if (ids.length === 0 || change.read === false || change.done === false) return void readUrgent();
      if (change.read === true || change.done === true || change.removed === true)
        ids.forEach((id) => urgent.delete(id));
      tell();
    }),
  );
  open.use(host.bus.subscribe(downloadChanged, follow));
  open.use(
    host.bus.subscribe(downloadRemoved, ({ uid }) => {
      downloads.delete(uid);
      tell();
    }),
  );
  for (const state of await host.control.services()) services.set(state.id, state);
  popups = (await ask(host, popupsApi.popups)) ?? popups;
  await readUrgent();
  for (const download of (await ask(host, downloadsApi.list))?.queue ?? []) follow(download);

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
