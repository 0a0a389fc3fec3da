import { settingsChanged } from '../../../services/contracts/control/api.ts';
import { serviceStatusChanged } from '../../../services/contracts/control/service-status.ts';
import { gatewayChanged } from '../../../services/contracts/gateway/api.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import type { DataLock } from './data-lock.ts';

interface PageAddresses {
  readonly addresses: {
    readonly address: (serviceId: string) => string | undefined;
    readonly appPages: { listOneTimeLinkPages(): readonly string[] };
  };
  readonly messaging: { readonly bus: Bus };
}

/** Stores the addresses of the pages beside the lock for commands and a second start, also when they change later. */
export class AnnouncedPages implements Disposable {
  readonly #lock: DataLock;
  readonly #addresses: PageAddresses['addresses'];
  readonly #subscriptions = new DisposableStack();
  #announced = '';

  constructor(lock: DataLock, { addresses, messaging: { bus } }: PageAddresses) {
    this.#lock = lock;
    this.#addresses = addresses;
    const announce = (): void => this.announce();
    this.#subscriptions.use(bus.subscribe(serviceStatusChanged, announce));
    this.#subscriptions.use(bus.subscribe(gatewayChanged, announce));
    this.#subscriptions.use(bus.subscribe(settingsChanged, announce));
  }

  /** Stores the current addresses if they changed. */
  announce(): void {
    const page = this.#addresses.address('control');
    const oneTimeLinkPages = this.#addresses.appPages.listOneTimeLinkPages();
    const current = JSON.stringify([page, oneTimeLinkPages]);
    if (page === undefined || current === this.#announced) return;
    this.#lock.announce(page, oneTimeLinkPages);
    this.#announced = current;
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]();
  }
}
