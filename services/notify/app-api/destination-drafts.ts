import * as m from '#messages/notify-problems';
import { DeliveryArgument, type DeliveryArguments } from '../../contracts/notify/delivery.ts';
import type { FormValues } from '../../contracts/notify/forms.ts';
import { Problem } from '../../contracts/problem.ts';
import { readDelivery, writeDelivery } from '../keys/delivery-arguments.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { writeForm } from '../destinations/forms.ts';
import { readDestinations, type UnusableDestination } from '../keys/read-key.ts';

interface DestinationDraft {
  readonly url?: string | undefined;
  readonly form?: { readonly scheme: string; readonly values: FormValues } | undefined;
  readonly delivery?: DeliveryArguments | undefined;
}

/**
 * Returns the URL of a draft, or the stored one, with the delivery options of the draft.
 *
 * @throws Problem with the invalid field.
 */
export async function resolveUrl(
  draft: DestinationDraft,
  engine: EngineDestinations,
  storedUrl?: string,
): Promise<string | undefined> {
  const url = await resolveAddress(draft, engine, storedUrl);
  if (url === undefined || draft.delivery === undefined) return url;
  const urlWithOptions = writeDelivery(url, draft.delivery);
  if ((await findUnusable(urlWithOptions, engine)) !== undefined) await validateOptions(url, draft.delivery, engine);
  return await validateUrl(urlWithOptions, engine);
}

/** Checks each delivery option separately. @throws Problem for the first one that makes a valid URL unusable. */
async function validateOptions(url: string, options: DeliveryArguments, engine: EngineDestinations): Promise<void> {
  const withoutOptions = writeDelivery(url, Object.fromEntries(DeliveryArgument.options.map((name) => [name, ''])));
  if ((await findUnusable(withoutOptions, engine)) !== undefined) return;
  for (const [name, value] of Object.entries({ ...readDelivery(url), ...options })) {
    const unusable = await findUnusable(writeDelivery(withoutOptions, { [name]: value }), engine);
    if (unusable !== undefined) throw createFieldProblem(`delivery.${name}`, unusable.reason);
  }
}

/** Returns why a URL cannot be used; undefined if it can. */
async function findUnusable(url: string, engine: EngineDestinations): Promise<UnusableDestination | undefined> {
  const [result] = await readDestinations([url], engine);
  return result !== undefined && 'reason' in result ? result : undefined;
}

async function resolveAddress(
  { form, url }: DestinationDraft,
  engine: EngineDestinations,
  storedUrl?: string,
): Promise<string | undefined> {
  if (form !== undefined) {
    const written = writeForm(form, storedUrl);
    if ('url' in written) return await validateUrl(written.url, engine);
    const [first = ''] = Object.values(written.wrong);
    throw new Problem('notify.bad_destination', 422, first, { fields: written.wrong });
  }
  return url === undefined ? storedUrl : await validateUrl(url, engine);
}

async function validateUrl(url: string, engine: EngineDestinations): Promise<string> {
  const unusable = await findUnusable(url, engine);
  if (unusable?.needsEngine === true) {
    throw createFieldProblem('url', m.engineMissing(), 'notify.needs_engine');
  }
  if (unusable !== undefined) throw createFieldProblem('url', unusable.reason);
  if (/[\r\n]/.test(url)) throw createFieldProblem('url', m.lineBreak());
  return url;
}

export function createFieldProblem(field: string, message: string, code = 'notify.bad_destination'): Problem {
  return new Problem(code, 422, message, { fields: { [field]: message } });
}
