import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBus } from '../../../main/host/services/bus.ts';
import { createLog } from '../../../main/host/log/log.ts';
import type { Notifier, Popup, PopupEvent } from '../../../services/contracts/popups/desktop.ts';
import { isSeen } from '../../../services/inbox/item-marker.ts';
import { openPopups, type Popups } from '../../../services/popups/popups.ts';
import type { PopupSettings } from '../../../services/popups/settings.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import { inboxAdded, inboxSeen, type InboxItem } from '../../../services/contracts/inbox/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';

/** Returns an inbox row of priority 3 from `push`. */
export function message(id: number, fields: Partial<InboxItem> = {}): InboxItem {
  return {
    id,
    title: `Message ${String(id)}`,
    body: 'body',
    format: 'text',
    priority: 3,
    tags: [],
    source: 'push',
    topic: '',
    link: null,
    time: 0,
    read: false,
    done: false,
    ...fields,
  };
}

/** Notifier that records popups; `answer` sends an event of the newest popup. */
export class RecordingNotifier implements Notifier {
  readonly name = 'remembered';
  readonly popups: Popup[] = [];
  answer: (event: PopupEvent) => void = () => undefined;
  /** Event sent immediately for each popup. */
  first: PopupEvent = 'shown';

  show(popup: Popup, listener: (event: PopupEvent) => void): void {
    this.popups.push(popup);
    this.answer = listener;
    listener(this.first);
  }

  get titles(): string[] {
    return this.popups.map(({ title }) => title);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** Popups with a real bus and state file and a fake clock, without a host. */
export class PopupsFixture implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'homeport-popups-'));
  readonly log: string[] = [];
  readonly bus: Bus = createBus(createLog({ level: 'debug', format: 'text', write: (line) => this.log.push(line) }));
  readonly clock: FakeClock;
  notifier = new RecordingNotifier();
  settings: PopupSettings = { popups: true, popupSound: true, quietHours: [], repeatUrgentMinutes: 15 };
  readonly opened: string[] = [];
  readonly markedRead: number[] = [];
  #popups: Popups | undefined;

  constructor(start: string) {
    this.clock = createFakeClock(Date.parse(start));
  }

  get popups(): Popups {
    if (this.#popups === undefined) throw new Error('start it first');
    return this.#popups;
  }

  async start(): Promise<void> {
    this.notifier = new RecordingNotifier();
    this.#popups = await openPopups({
      file: join(this.folder, 'host', 'popups.json'),
      bus: this.bus,
      clock: this.clock,
      log: createLog({ level: 'debug', format: 'text', write: (line) => this.log.push(line) }),
      notifier: this.notifier,
      settings: () => this.settings,
      zone: 'Europe/Berlin',
      actions: {
        inHostLanguage: (work) => work(),
        openPage: (path) => void this.opened.push(path),
        openLink: (url) => void this.opened.push(url),
        markRead: (ids) => {
          this.markedRead.push(...ids);
          return Promise.resolve();
        },
      },
    });
  }

  async stop(): Promise<void> {
    await this.#popups?.[Symbol.asyncDispose]();
    this.#popups = undefined;
  }

  /** Publishes inbox rows; resolves when the popups have handled them. */
  async add(...items: readonly InboxItem[]): Promise<void> {
    for (const item of items) this.bus.publish(inboxAdded, item);
    await this.delivered();
  }

  async change(ids: readonly number[], change: { read?: boolean; done?: boolean; removed?: boolean }): Promise<void> {
    if (isSeen(change)) this.bus.publish(inboxSeen, { keys: [], ids: [...ids] });
    await this.delivered();
  }

  async delivered(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
