import type { z } from 'zod';
import { mailApi, mailActivity } from '../../../../../services/contracts/mail/api.ts';
import { notifyActivity } from '../../../../../services/contracts/notify/notification.ts';
import { notifyStatistics } from '../../../../../services/contracts/notify/statistics.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { services } from '../../../state/services.svelte.ts';

/** Minimum time in ms between reloads, because statistics change with each notification. */
const reloadDelayMs = 2000;

/** Statistics of notifications and mails, updated while observed. A disabled service has none. */
class DeliveryStatistics extends Loadable {
  notify = $state.raw<z.infer<typeof notifyStatistics.reply>>();
  mail = $state.raw<z.infer<typeof mailApi.outcomes.reply>>();
  #observers = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    live.on(notifyActivity, () => this.#refresh());
    live.on(mailActivity, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Keeps the statistics up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    void this.load();
    return () => {
      this.#observers -= 1;
      if (this.#observers > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  async load(): Promise<void> {
    const isOn = (name: string): boolean => services.list.some(({ id, state }) => id === name && state !== 'off');
    await this.readLatest(
      () =>
        Promise.all([
          isOn('notify') ? call(notifyStatistics) : undefined,
          isOn('mail') ? call(mailApi.outcomes) : undefined,
        ]),
      ([notify, mail]) => {
        this.notify = notify;
        this.mail = mail;
      },
    );
  }

  #refresh(): void {
    if (this.#observers === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, reloadDelayMs);
  }
}

export const deliveryStatistics = new DeliveryStatistics();
