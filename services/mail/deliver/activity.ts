import type { Bus } from '../../contracts/bus.ts';
import { mailWorked } from '../../contracts/mail/api.ts';
import type { Clock } from '../../contracts/service.ts';

/** How often the pages are told at most, in ms. */
const pauseMs = 500;

/** Tells the pages that something happened, however many mails come. */
export class Activity implements Disposable {
  readonly #parts: { readonly bus: Bus; readonly clock: Clock };
  #soon: Disposable | undefined;

  constructor(parts: { readonly bus: Bus; readonly clock: Clock }) {
    this.#parts = parts;
  }

  note(): void {
    const { bus, clock } = this.#parts;
    this.#soon ??= clock.after(pauseMs, () => {
      this.#soon = undefined;
      bus.publish(mailWorked, { time: clock.now() });
    });
  }

  [Symbol.dispose](): void {
    this.#soon?.[Symbol.dispose]();
  }
}
