import type { PushOffer } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { draftOf, withNames } from '../domain/offer.ts';
import { requireTopic } from '../domain/topics.ts';
import { orderedId, secretId } from './message-ids.ts';
import type { Publisher } from './publisher.ts';

interface OfferParts {
  readonly context: Context;
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  readonly reserved: ReadonlySet<string>;
  readonly messageSizeLimit: () => number;
}

/** Publishes what other services hand over; a key that was there has no second effect. */
export function receiveOffers({
  context,
  publisher,
  attachments,
  reserved,
  messageSizeLimit,
}: OfferParts): (offer: PushOffer, key: string) => Promise<void> {
  return async (offer, key) => {
    requireTopic(offer.topic, reserved);
    const draft = draftOf(offer, messageSizeLimit());
    const id = offer.file === undefined ? orderedId(context) : secretId(context);
    const messageExpires = publisher.expiryOf(draft, Math.floor(context.clock.now() / 1000));
    const kept = offer.file && (await attachments.keep(id, offer.file, { sender: offer.source, messageExpires }));
    const left = offer.file !== undefined && kept === undefined ? [offer.file.name] : [];
    const named = left.length === 0 ? draft : draftOf(withNames(offer, left), messageSizeLimit());
    let published;
    try {
      published = await publisher.publish({ ...named, ...kept }, key, id);
    } finally {
      // One that was there already keeps the file it has.
      if (kept !== undefined && published === undefined) await attachments.discard([id]);
    }
  };
}
