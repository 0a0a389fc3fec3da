import type { z } from 'zod';
import { mailApi, mailActivity } from '../../../../services/contracts/mail/api.ts';
import { notifyActivity } from '../../../../services/contracts/notify/notification.ts';
import { notifyStatistics } from '../../../../services/contracts/notify/statistics.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';
import { services } from '../../state/services.svelte.ts';

/** Sums change with each notice; they are read anew at most this often, in ms. */
const pauseMs = 2000;

/** How notices and mails fared, while someone looks. A service that is off has none. */
class DeliveryStatistics extends Loaded {
  notify = $state.raw<z.infer<typeof notifyStatistics.reply>>();
  mail = $state.raw<z.infer<typeof mailApi.outcomes.reply>>();
  #watchers = 0;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    live.on(notifyActivity, () => this.#refresh());
    live.on(mailActivity, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Keeps the sums up to date until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    void this.load();
    return () => {
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      clearTimeout(this.#soon);
      this.#soon = undefined;
    };
  }

  async load(): Promise<void> {
    const isOn = (name: string): boolean => services.list.some(({ id, state }) => id === name && state !== 'off');
    await this.readingLatest(
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
    if (this.#watchers === 0) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, pauseMs);
  }
}

export const deliveryStatistics = new DeliveryStatistics();
