import type { Fetch } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import type { SealedDestinations } from '../keys/sealed-destinations.ts';
import type { Settings } from '../settings.ts';
import type { NotifyStores } from '../store/stores.ts';
import { Deliveries } from './deliveries.ts';
import { DeliverySender } from './delivery-sender.ts';

interface DeliveryOptions {
  readonly settings: Readonly<Settings>;
  readonly stores: NotifyStores;
  readonly sealed: SealedDestinations;
  /** Called after each attempt whose result was recorded. */
  readonly onChange: () => void;
}

/** Creates the deliveries, which follow redirects if the setting allows it. */
export function createDeliveries(
  context: Context,
  { settings, stores, sealed, onChange }: DeliveryOptions,
): Deliveries {
  const sendingContext = { ...context, fetch: withRedirects(context.fetch, () => settings.redirects) };
  return new Deliveries(context, stores, new DeliverySender(sendingContext, stores, sealed, settings), onChange);
}

/** Wraps `fetch` so that the setting can disable redirects. */
function withRedirects(fetch: Context['fetch'], follows: () => boolean): Context['fetch'] {
  const once: Fetch = (url, options) => fetch(url, follows() ? options : { ...options, maxRedirects: 0 });
  return Object.assign(once, { stream: fetch.stream });
}
