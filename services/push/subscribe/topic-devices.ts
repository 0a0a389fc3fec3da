import { accountsRemoved } from '../../contracts/control/accounts.ts';
import { everyTopic } from '../../contracts/push/web-push.ts';
import { pushDevicesChanged, type PushDevice } from '../../contracts/push/devices.ts';
import type { Context } from '../../contracts/service.ts';
import { Activity } from '../../kit/activity.ts';
import { LruMap } from '../../kit/lru-map.ts';

const maxTopics = 500;
const maxDevicesPerTopic = 20;
/** Time in ms for which a device is listed after its latest request. */
const listedMs = 3_600_000;
/** User agents are chosen by clients, so their length is limited. */
const maxUserAgentLength = 300;

/** Device as a request shows it. */
export type SeenDevice = Pick<PushDevice, 'connection' | 'userAgent' | 'address' | 'account'>;

interface StoredDevice extends SeenDevice {
  seenAt: number;
  openStreams: number;
}

/**
 * Devices of the network that recently received messages, by topic. Pages use them to confirm that a phone is
 * connected. They are held in memory of this process only.
 */
export class TopicDevices implements Disposable {
  readonly #clock: Context['clock'];
  readonly #byTopic = new LruMap<string, StoredDevice[]>(maxTopics);
  /** Reports changes to pages. */
  readonly #activity: Activity;
  readonly #removals: Disposable;

  constructor(context: Pick<Context, 'bus' | 'clock'>) {
    this.#clock = context.clock;
    this.#activity = new Activity(context, pushDevicesChanged);
    this.#removals = context.bus.subscribe(accountsRemoved, ({ account }) => this.#removeAccount(account));
  }

  /** Records a request for these topics. */
  record(device: SeenDevice, topics: readonly string[]): void {
    for (const topic of topics) this.#touch(device, topic);
    this.#activity.touch();
  }

  /** Records an open stream for these topics until it is disposed. */
  connect(device: SeenDevice, topics: readonly string[]): Disposable {
    const entries = topics.map((topic) => this.#touch(device, topic));
    for (const entry of entries) entry.openStreams += 1;
    this.#activity.touch();
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (!isOpen) return;
        isOpen = false;
        for (const entry of entries) {
          entry.openStreams -= 1;
          entry.seenAt = this.#clock.now();
        }
        this.#activity.touch();
      },
    };
  }

  /** Returns the devices of a topic, newest first, with browsers that receive all topics. */
  list(topic: string): readonly PushDevice[] {
    const oldest = this.#clock.now() - listedMs;
    return [...(this.#byTopic.get(topic) ?? []), ...(this.#byTopic.get(everyTopic) ?? [])]
      .filter(({ seenAt, openStreams }) => openStreams > 0 || seenAt > oldest)
      .toSorted((a, b) => b.seenAt - a.seenAt)
      .map(({ openStreams, ...device }) => ({ ...device, isConnected: openStreams > 0 }));
  }

  [Symbol.dispose](): void {
    this.#removals[Symbol.dispose]();
    this.#activity[Symbol.dispose]();
  }

  /** Removes the devices of a deleted account, so that no later account of that name sees them. */
  #removeAccount(account: string): void {
    for (const devices of this.#byTopic.values()) {
      const others = devices.filter((device) => device.account !== account);
      devices.splice(0, devices.length, ...others);
    }
  }

  #touch(device: SeenDevice, topic: string): StoredDevice {
    const userAgent = device.userAgent.slice(0, maxUserAgentLength);
    const devices = this.#byTopic.get(topic) ?? [];
    const existing = devices.find(
      (entry) =>
        entry.connection === device.connection &&
        entry.address === device.address &&
        entry.account === device.account &&
        entry.userAgent === userAgent,
    );
    const entry = existing ?? { ...device, userAgent, seenAt: 0, openStreams: 0 };
    entry.seenAt = this.#clock.now();
    const others = devices.filter((other) => other !== entry);
    this.#byTopic.set(topic, [entry, ...others].slice(0, maxDevicesPerTopic));
    return entry;
  }
}
