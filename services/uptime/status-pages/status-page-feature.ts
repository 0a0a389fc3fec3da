import type { Context } from '../../contracts/service.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';
import { PageMessageQueue } from '../notifications/page-message-queue.ts';
import { PageNotifier } from '../notifications/page-notifier.ts';
import { SubscriberMail } from '../notifications/subscriber-mail.ts';
import { Subscribers } from '../notifications/subscribers.ts';
import type { Settings } from '../settings.ts';
import { StatusPages } from '../store/status-pages.ts';
import { HostNames } from './host-names.ts';

const hourMs = 3_600_000;

interface StatusPageOptions {
  readonly settings: Readonly<Pick<Settings, 'subscriberMail'>>;
  readonly publicUrl: () => string;
  readonly maintenances: Pick<Maintenances, 'all'>;
  /** Called when pages were loaded, changed or removed. */
  readonly onChange: () => void;
}

/** Status pages with their followers, who receive messages, and their host names. */
export class StatusPageFeature implements Disposable {
  readonly pages: StatusPages;
  readonly subscribers: Subscribers;
  readonly subscriberMail: SubscriberMail;
  readonly notifier: PageNotifier;
  readonly #context: Context;
  readonly #resources = new DisposableStack();

  constructor(context: Context, { settings, publicUrl, maintenances, onChange }: StatusPageOptions) {
    this.#context = context;
    this.subscribers = new Subscribers(context);
    this.subscriberMail = new SubscriberMail({
      context,
      subscribers: this.subscribers,
      mailAddress: () => settings.subscriberMail,
    });
    const messages = new PageMessageQueue({ context, publicUrl, mail: this.subscriberMail });
    const hostNames = new HostNames(context.hosts);
    this.pages = new StatusPages(context, {
      onNote: (transaction, page, note) => messages.announceNote(transaction, page, note),
      onChange: (pages) => {
        onChange();
        hostNames.claim(pages);
      },
    });
    this.notifier = new PageNotifier({
      context,
      pages: this.pages,
      findPagesOfWindow: (id) => maintenances.all().find((one) => one.id === id)?.statusPages ?? [],
      messages,
    });
  }

  /** Loads the pages and their subscribers. */
  async load(): Promise<void> {
    await this.pages.start();
    await this.subscribers.start();
  }

  /** Functions that load tables again after another host has changed them. */
  readonly loaders = {
    status_pages: (): Promise<void> => this.pages.start(),
    page_subscribers: (): Promise<void> => this.subscribers.start(),
  };

  /** Begins to send messages, and to remove expired subscribers. */
  start(): void {
    const { clock, log } = this.#context;
    this.#resources.use(this.notifier.handle());
    this.#resources.use(this.subscriberMail.handle());
    const logFailure = (error: unknown): void => log.error('expired subscribers could not be removed', { error });
    this.#resources.use(clock.every(hourMs, () => void this.#removeExpiredSubscribers().catch(logFailure)));
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
  }

  #removeExpiredSubscribers(): Promise<void> {
    return this.subscribers.removeOld(new Set(this.pages.all().map(({ id }) => id)));
  }
}
