import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi, NotifyKeyName, type NotifyDestination, type NotifyKey } from '../../contracts/notify/api.ts';
import type { DeliveryArguments } from '../../contracts/notify/delivery.ts';
import type { FormValues } from '../../contracts/notify/forms.ts';
import { Problem } from '../../contracts/problem.ts';
import { complainedOf, readDelivery, writeDelivery } from '../keys/delivery-arguments.ts';
import { needsEngine, type EngineDestinations } from '../apprise/destinations.ts';
import { describeForms, fillForm, writeForm } from '../destinations/forms.ts';
import { planEscalation } from '../domain/escalation.ts';
import { explainChoice } from '../domain/explain-selection.ts';
import { guessFormat } from '../domain/parse-configuration.ts';
import { withRules } from '../domain/delivery-rules.ts';
import { parseTagField, selectDestinations, type TagExpression } from '../domain/tags.ts';
import { addEntry, changeEntry, removeEntry } from '../keys/edit-key.ts';
import {
  deliveryIds,
  maskedText,
  mostDestinations,
  readDestinations,
  readKey,
  servedOnly,
  type Entry,
} from '../keys/read-key.ts';
import type { StoredConfiguration, WrittenConfiguration } from '../store/configurations.ts';
import { healthOf } from '../store/health.ts';
import { testSend } from '../deliver/test-send.ts';
import type { ApiParts } from './dependencies.ts';

const done = { ok: true } as const;
/** Destinations that are tried at once by one test. */
const mostTrials = 50;

/** Keys, their destinations, and what is tried on them. */
export function keyHandlers(parts: ApiParts): readonly ApiHandler[] {
  const { context, configurations, engine, settings } = parts;
  const find = async (key: string): Promise<StoredConfiguration> => {
    const configuration = await configurations.find(key);
    if (configuration === undefined) throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
    return configuration;
  };
  const unlocked = (): void => {
    if (!settings.configurationLock) return;
    throw new Problem('notify.locked', 403, 'Keys are locked. The settings of Notifications unlock them.');
  };
  const configurableBy = ({ closed }: NotifyKey['options']): NotifyKey['configurableBy'] => {
    if (settings.configurationLock || settings.statefulMode === 'disabled') return 'nobody';
    const { closeKeys, requireSignIn, trustLocalPrograms } = settings;
    return closed || closeKeys || requireSignIn || !trustLocalPrograms ? 'administrators' : 'programs';
  };
  const shown = async (configuration: StoredConfiguration): Promise<NotifyKey> => {
    const { key, format, options, secret } = configuration;
    const { entries, skipped } = servedOnly(await readKey(configuration, engine), parts.isServed);
    const hasEngine = entries.some(({ destination }) => destination.engine) && (await engine.ready());
    const health = await parts.health.of(entries.flatMap(deliveryIds));
    const destinations = entries.map((entry): NotifyDestination => ({
      ...{ line: entry.line, id: entry.id, service: entry.destination.service, url: shownUrl(entry) },
      ...{ tags: [...entry.own], effectiveTags: entry.tags.map(({ name }) => name) },
      ...{ delivery: readDelivery(entry.typed), health: healthOf(deliveryIds(entry), health) },
      ignored: [...(entry.destination.ignored ?? [])],
      needsEngine: entry.destination.engine === true && !hasEngine,
    }));
    return {
      key,
      format,
      options,
      signed: secret !== undefined,
      configurableBy: configurableBy(options),
      destinations,
      skipped,
    };
  };
  const save = async (key: string, written: WrittenConfiguration): Promise<NotifyKey> => {
    await configurations.save(key, written, context.clock.now());
    context.log.info('configuration saved', { key });
    parts.activity.touch();
    return shown(await find(key));
  };

  return [
    implement(notifyApi.keys, async () => {
      const keys = await configurations.keys();
      return { keys: await Promise.all(keys.map(async (key) => shown(await find(key)))) };
    }),
    implement(notifyApi.createKey, async ({ body: { key, text } }) => {
      unlocked();
      if ((await configurations.find(key)) !== undefined) throw taken('key', key);
      return save(key, importable(text));
    }),
    implement(notifyApi.chooseOptions, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      await find(key);
      await configurations.choose(key, body, context.clock.now());
      context.log.info('options of a key changed', { key });
      parts.activity.touch();
      return shown(await find(key));
    }),
    implement(notifyApi.chooseSecret, async ({ params, body: { secret } }) => {
      unlocked();
      const key = keyOf(params['key']);
      await find(key);
      await configurations.chooseSecret(key, secret ?? undefined, context.clock.now());
      context.log.info(secret === null ? 'secret of a key removed' : 'secret of a key set', { key });
      parts.activity.touch();
      return { signed: secret !== null };
    }),
    implement(notifyApi.renameKey, async ({ params, body: { to } }) => {
      unlocked();
      const key = keyOf(params['key']);
      await find(key);
      if (to !== key && !(await configurations.rename(key, to, context.clock.now()))) throw taken('to', to);
      context.log.info('configuration renamed', { key, to });
      parts.activity.touch();
      return shown(await find(to));
    }),
    implement(notifyApi.removeKey, async ({ params }) => {
      unlocked();
      const key = keyOf(params['key']);
      if (!(await configurations.remove(key))) {
        throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
      }
      context.log.info('configuration removed', { key });
      parts.activity.touch();
      return done;
    }),
    implement(notifyApi.exportKey, async (request) => {
      const { params, query } = request;
      const key = keyOf(params['key']);
      const configuration = await find(key);
      request.setHeader('Cache-Control', 'no-store');
      if (query.secrets === 'false') return { format: 'text', text: await maskedText(configuration, engine) };
      unlocked();
      context.accounts.record({ event: 'data_exported', detail: `destinations of key ${key} with secrets` });
      return { format: configuration.format, text: configuration.text };
    }),
    implement(notifyApi.importKey, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      await find(key);
      return save(key, importable(body.text));
    }),
    implement(notifyApi.preview, async ({ body: { text } }) => {
      const written = importable(text);
      const { entries, skipped } = await readKey(written, engine);
      const destinations = entries.map((entry) => ({
        ...{ line: entry.line, service: entry.destination.service, url: shownUrl(entry) },
        effectiveTags: entry.tags.map(({ name }) => name),
      }));
      return { format: written.format, destinations, skipped };
    }),
    implement(notifyApi.forms, () => ({ forms: describeForms() })),
    implement(notifyApi.filled, async ({ params, query: { id } }) => {
      const { entries } = await readKey(await find(keyOf(params['key'])), engine);
      const filled = fillForm(found(entries, { line: Number(params['line']), id }).typed);
      if (filled !== undefined) return filled;
      throw new Problem('notify.no_form', 404, 'This kind of destination has no form; write its address.');
    }),
    implement(notifyApi.addDestination, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      const written = (await configurations.find(key)) ?? ({ format: 'text', text: '' } as const);
      if ((await readKey(written, engine)).entries.length >= mostDestinations) {
        throw new Problem('notify.too_many', 422, `A key has ${String(mostDestinations)} destinations at most.`);
      }
      const url = await urlOf(body, engine);
      if (url === undefined) throw wrong('url', 'Write the address of the destination.');
      return save(key, addEntry(written, url, body.tags));
    }),
    implement(notifyApi.changeDestination, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      const configuration = await find(key);
      const entry = found((await readKey(configuration, engine)).entries, body);
      const url = (await urlOf(body, engine, entry.typed)) ?? entry.typed;
      return save(key, changeEntry(configuration, entry, url, body.tags));
    }),
    implement(notifyApi.removeDestination, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      const configuration = await find(key);
      return save(key, removeEntry(configuration, found((await readKey(configuration, engine)).entries, body)));
    }),
    implement(notifyApi.choose, async ({ params, query: { tag } }) => {
      const { options, ...configuration } = await find(keyOf(params['key']));
      const { entries } = await readKey(configuration, engine);
      const expression = expressionOf(tag);
      const chosen = selectDestinations(entries, expression, options.withoutTag);
      const rungs = planEscalation(chosen, expression);
      const destinations = entries.map((entry) => ({
        ...{ line: entry.line, service: entry.destination.service, url: entry.destination.url(true) },
        effectiveTags: entry.tags.map(({ name }) => name),
        ...explainChoice(entry.tags, expression, options.withoutTag, rungs[chosen.indexOf(entry)]),
      }));
      return { destinations };
    }),
    implement(notifyApi.test, async ({ params, body: { line, tag } }) => {
      const key = keyOf(params['key']);
      const { entries } = await readKey(await find(key), engine);
      const asked = selectDestinations(entries, expressionOf(tag)).filter(
        (entry) => line === undefined || entry.line === line,
      );
      if (asked.length > mostTrials) {
        throw new Problem('notify.too_many', 422, `At most ${String(mostTrials)} destinations are tried at once.`);
      }
      const results = await Promise.all(asked.map((entry) => testSend(context, parts, key, entry)));
      parts.activity.touch();
      return { results };
    }),
  ];
}

function shownUrl({ destination, written }: Entry): string {
  return withRules(destination.url(true), written);
}

function taken(field: string, key: string): Problem {
  const message = `There is a key ${key} already.`;
  return new Problem('notify.key_taken', 409, message, { fields: { [field]: message } });
}

function found(entries: readonly Entry[], { line, id }: { readonly line: number; readonly id: string }): Entry {
  const entry = entries.find((each) => each.line === line && each.id === id);
  if (entry !== undefined) return entry;
  throw new Problem('notify.changed_meanwhile', 409, 'This destination was changed meanwhile. Read the list again.');
}

function keyOf(text: string | undefined): string {
  const key = NotifyKeyName.safeParse(text);
  if (key.success) return key.data;
  throw wrong('key', 'Use letters, digits, - and _ only, 128 at most.', 'notify.bad_key');
}

function importable(text: string): WrittenConfiguration {
  return { format: guessFormat(text), text };
}

interface Draft {
  readonly url?: string | undefined;
  readonly form?: { readonly scheme: string; readonly values: FormValues } | undefined;
  readonly delivery?: DeliveryArguments | undefined;
}

/** The address that was typed or filled in, else the stored one, told as it is wished. @throws Problem with what is wrong with it. */
async function urlOf(draft: Draft, engine: EngineDestinations, stored?: string): Promise<string | undefined> {
  const url = await addressOf(draft, engine, stored);
  if (url === undefined || draft.delivery === undefined) return url;
  const told = writeDelivery(url, draft.delivery);
  const [read = ''] = await readDestinations([told], engine);
  const name = typeof read === 'string' ? complainedOf(read) : undefined;
  if (typeof read === 'string' && name !== undefined) throw wrong(`delivery.${name}`, `This cannot be used: ${read}.`);
  return await fit(told, engine);
}

async function addressOf(
  { form, url }: Draft,
  engine: EngineDestinations,
  stored?: string,
): Promise<string | undefined> {
  if (form !== undefined) {
    const written = writeForm(form, stored);
    if ('url' in written) return await fit(written.url, engine);
    const [first = ''] = Object.values(written.wrong);
    throw new Problem('notify.bad_destination', 422, first, { fields: written.wrong });
  }
  return url === undefined ? stored : await fit(url, engine);
}

async function fit(url: string, engine: EngineDestinations): Promise<string> {
  const [read = ''] = await readDestinations([url], engine);
  if (read === needsEngine) {
    const message = 'This address needs the Apprise engine. Install it on the page Engines, then add it again.';
    throw wrong('url', message, 'notify.needs_engine');
  }
  if (typeof read === 'string') throw wrong('url', `This cannot be used: ${read}.`);
  if (/[\r\n]/.test(url)) throw wrong('url', 'Write it in one line.');
  return url;
}

function expressionOf(tag: string | undefined): TagExpression | undefined {
  const field = parseTagField(tag?.trim() === '' ? undefined : tag);
  if (field.kind === 'none') return undefined;
  if (field.kind === 'expression') return field.expression;
  throw wrong('tag', 'Write tags with commas (or) and spaces (and) between them.', 'notify.bad_tag');
}

function wrong(field: string, message: string, code = 'notify.bad_destination'): Problem {
  return new Problem(code, 422, message, { fields: { [field]: message } });
}
