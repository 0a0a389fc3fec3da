import * as m from '#messages/mail-problems';
import { Problem } from '../../contracts/problem.ts';

/** Known causes of failed deliveries by the code of their problem. Each has a text in the language of the reader. */
const texts = {
  'mail.bad_target': m.targetInvalid,
  'mail.destination_gone': m.destinationGone,
  'mail.source_gone': m.sourceGone,
  'notify.unknown_configuration': m.unknownKey,
  'notify.bad_tag': m.tagInvalid,
} as const;

/** Code of a failed delivery, which is stored with it. */
export type DeliveryFailure = keyof typeof texts;

/** Returns the code of a failed attempt; undefined for other errors, such as the words of a destination. */
export function findDeliveryFailure(error: unknown): DeliveryFailure | undefined {
  if (!(error instanceof Problem) || !Object.hasOwn(texts, error.code)) return undefined;
  return error.code as DeliveryFailure;
}

/** Describes a failed delivery in the current language; undefined for a code of a newer version. */
export function describeDeliveryFailure(failure: string): string | undefined {
  return Object.hasOwn(texts, failure) ? texts[failure as DeliveryFailure]() : undefined;
}
