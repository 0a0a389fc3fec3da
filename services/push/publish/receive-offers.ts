import type { PushOffer } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { buildOfferDraft, withNames } from '../domain/offer.ts';
import { requireTopic } from '../domain/topics.ts';
import { createOrderedId, createSecretId } from './message-ids.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import type { Delivery } from './delivery.ts';

interface OfferDependencies {
  readonly context: Context;
  readonly delivery: Pick<Delivery, 'attachments' | 'publisher'>;
  readonly derivedSettings: Pick<DerivedSettings, 'messageSizeLimit' | 'reservedTopics'>;
}

/** Publishes messages handed over by other services; repeated keys have no effect. */
export function receiveOffers({
  context,
  delivery: { publisher, attachments },
  derivedSettings: { messageSizeLimit, reservedTopics: reserved },
}: OfferDependencies): (offer: PushOffer, key: string) => Promise<void> {
  return async (offer, key) => {
    requireTopic(offer.topic, reserved);
    const draft = buildOfferDraft(offer, messageSizeLimit());
    const id = offer.file === undefined ? createOrderedId(context) : createSecretId(context);
    const messageExpires = publisher.getExpiry(draft, Math.floor(context.clock.now() / 1000));
    const stored = offer.file && (await attachments.store(id, offer.file, { sender: offer.source, messageExpires }));
    const omitted = offer.file !== undefined && stored === undefined ? [offer.file.name] : [];
    const draftWithNames =
      omitted.length === 0
        ? draft
        : await context.inHostLanguage(() => buildOfferDraft(withNames(offer, omitted), messageSizeLimit()));
    let published;
    try {
      published = await publisher.publish({ ...draftWithNames, ...stored }, key, id);
    } finally {
      // The repeated message keeps the file stored before.
      if (stored !== undefined && published === undefined) await attachments.deleteFiles([id]);
    }
  };
}
