import { pushDevicesApi, pushDevicesChanged, type PushDevice } from '../../../../../services/contracts/push/devices.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** Devices of the network that receive the messages of one topic, kept up to date by events. */
export class TopicDevices extends Loadable {
  list = $state.raw<readonly PushDevice[]>([]);
  readonly #topic: string;

  constructor(topic: string) {
    super();
    this.#topic = topic;
  }

  /** Keeps the list up to date until the returned function is called. */
  observe(): () => void {
    void this.load();
    const stops = [live.on(pushDevicesChanged, () => void this.load()), live.onReset(() => void this.load())];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(pushDevicesApi.list, { params: { topic: this.#topic } }),
      ({ devices }) => (this.list = devices),
    );
  }
}
