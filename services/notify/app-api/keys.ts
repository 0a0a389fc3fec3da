import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi, NotifyKeyName, type NotifyDestination, type NotifyKey } from '../../contracts/notify/api.ts';
import { DeliveryArgument, type DeliveryArguments } from '../../contracts/notify/delivery.ts';
import type { FormValues } from '../../contracts/notify/forms.ts';
import { Problem } from '../../contracts/problem.ts';
import { readDelivery, writeDelivery } from '../keys/delivery-arguments.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { describeForms, fillForm, writeForm } from '../destinations/forms.ts';
import { planEscalation } from '../domain/escalation.ts';
import { explainSelection } from '../domain/explain-selection.ts';
import { guessFormat } from '../domain/parse-configuration.ts';
import { withRules } from '../domain/delivery-rules.ts';
import { parseTagField, selectDestinations, type TagExpression } from '../domain/tags.ts';
import { addEntry, changeEntry, removeEntry } from '../keys/edit-key.ts';
import {
  deliveryIds,
  maskedText,
  maxDestinations,
  readDestinations,
  type UnusableDestination,
  readKey,
  removeDisallowed,
  type Entry,
} from '../keys/read-key.ts';
import type { StoredConfiguration, WrittenConfiguration } from '../store/configurations.ts';
import { findWorstHealth } from '../store/health.ts';
import { testSend } from '../deliver/test-send.ts';
import type { ApiDependencies } from './dependencies.ts';

const okReply = { ok: true } as const;
/** Maximum number of destinations in one test. */
const maxTestDestinations = 50;

/** Functions that the routes for keys share. */
interface KeyTools {
  /** @throws Problem `notify.unknown_key` (404) */
  readonly getConfiguration: (key: string) => Promise<StoredConfiguration>;
  /** @throws Problem `notify.locked` (403) if a setting locks all keys. */
  readonly requireUnlocked: () => void;
  readonly toKey: (configuration: StoredConfiguration) => Promise<NotifyKey>;
  readonly save: (key: string, written: WrittenConfiguration) => Promise<NotifyKey>;
}

/** Handles routes for keys, their destinations and tests. */
export function keyHandlers(dependencies: ApiDependencies): readonly ApiHandler[] {
  const tools = createKeyTools(dependencies);
  return [
    ...keyRoutes(dependencies, tools),
    ...configurationRoutes(dependencies, tools),
    ...destinationRoutes(dependencies, tools),
    ...selectionRoutes(dependencies, tools),
  ];
}

function createKeyTools(dependencies: ApiDependencies): KeyTools {
  const { context, engine, settings } = dependencies;
  const { configurations, health } = dependencies.stores;
  const getConfiguration = async (key: string): Promise<StoredConfiguration> => {
    const configuration = await configurations.find(key);
    if (configuration === undefined) throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
    return configuration;
  };
  const requireUnlocked = (): void => {
    if (!settings.configurationLock) return;
    throw new Problem('notify.locked', 403, 'Keys are locked. The settings of Notifications unlock them.');
  };
  const configurableBy = ({ closed }: NotifyKey['options']): NotifyKey['configurableBy'] => {
    if (settings.configurationLock || settings.statefulMode === 'disabled') return 'nobody';
    const { closeKeys, requireSignIn, trustLocalPrograms } = settings;
    return closed || closeKeys || requireSignIn || !trustLocalPrograms ? 'administrators' : 'programs';
  };
  const toKey = async (configuration: StoredConfiguration): Promise<NotifyKey> => {
    const { key, format, options, secret } = configuration;
    const { entries, skipped } = removeDisallowed(await readKey(configuration, engine), dependencies.isAllowed);
    const hasEngine = entries.some(({ destination }) => destination.engine) && (await engine.isInstalled());
    const healthById = await health.findAll(entries.flatMap(deliveryIds));
    const destinations = entries.map((entry): NotifyDestination => ({
      line: entry.line,
      id: entry.id,
      service: entry.destination.service,
      url: formatMaskedUrl(entry),
      tags: [...entry.ownTags],
      effectiveTags: entry.tags.map(({ name }) => name),
      delivery: readDelivery(entry.typedUrl),
      health: findWorstHealth(deliveryIds(entry), healthById),
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
    context.log.info('configuration saved', { event: 'destinations_saved', key });
    dependencies.activity.touch();
    return toKey(await getConfiguration(key));
  };
  return { getConfiguration, requireUnlocked, toKey, save };
}

/** Routes that list, create, change and remove keys. */
function keyRoutes(dependencies: ApiDependencies, tools: KeyTools): readonly ApiHandler[] {
  const { context } = dependencies;
  const { configurations } = dependencies.stores;
  const { getConfiguration, requireUnlocked, toKey, save } = tools;
  return [
    implement(notifyApi.keys, async () => {
      const keys = await configurations.keys();
      return { keys: await Promise.all(keys.map(async (key) => toKey(await getConfiguration(key)))) };
    }),
    implement(notifyApi.createKey, async ({ body: { key, text } }) => {
      requireUnlocked();
      if ((await configurations.find(key)) !== undefined) throw createTakenProblem('key', key);
      return save(key, toWritten(text));
    }),
    implement(notifyApi.chooseOptions, async ({ params, body }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      await getConfiguration(key);
      await configurations.saveOptions(key, body, context.clock.now());
      context.log.info('key options changed', { key });
      dependencies.activity.touch();
      return toKey(await getConfiguration(key));
    }),
    implement(notifyApi.chooseSecret, async ({ params, body: { secret } }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      await getConfiguration(key);
      await configurations.saveSecret(key, secret ?? undefined, context.clock.now());
      context.log.info(secret === null ? 'key secret removed' : 'key secret set', { key });
      dependencies.activity.touch();
      return { signed: secret !== null };
    }),
    implement(notifyApi.renameKey, async ({ params, body: { to } }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      await getConfiguration(key);
      if (to !== key && !(await configurations.rename(key, to, context.clock.now())))
        throw createTakenProblem('to', to);
      context.log.info('configuration renamed', { key, to });
      dependencies.activity.touch();
      return toKey(await getConfiguration(to));
    }),
    implement(notifyApi.removeKey, async ({ params }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      if (!(await configurations.delete(key))) {
        throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
      }
      context.log.info('configuration removed', { event: 'destinations_removed', key });
      dependencies.activity.touch();
      return okReply;
    }),
  ];
}

/** Routes for the text of a configuration. */
function configurationRoutes({ context, engine }: ApiDependencies, tools: KeyTools): readonly ApiHandler[] {
  const { getConfiguration, requireUnlocked, save } = tools;
  return [
    implement(notifyApi.exportKey, async (request) => {
      const { params, query } = request;
      const key = parseKey(params['key']);
      const configuration = await getConfiguration(key);
      request.addHeader('Cache-Control', 'no-store');
      if (query.secrets === 'false') return { format: 'text', text: await maskedText(configuration, engine) };
      requireUnlocked();
      context.accounts.record({ event: 'data_exported', detail: `destinations of key ${key} with secrets` });
      return { format: configuration.format, text: configuration.text };
    }),
    implement(notifyApi.importKey, async ({ params, body }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      await getConfiguration(key);
      return save(key, toWritten(body.text));
    }),
    implement(notifyApi.preview, async ({ body: { text } }) => {
      const written = toWritten(text);
      const { entries, skipped } = await readKey(written, engine);
      const destinations = entries.map((entry) => ({
        line: entry.line,
        service: entry.destination.service,
        url: formatMaskedUrl(entry),
        effectiveTags: entry.tags.map(({ name }) => name),
      }));
      return { format: written.format, destinations, skipped };
    }),
  ];
}

/** Routes for the destinations of a key and their forms. */
function destinationRoutes(
  { stores: { configurations }, engine }: ApiDependencies,
  tools: KeyTools,
): readonly ApiHandler[] {
  const { getConfiguration, requireUnlocked, save } = tools;
  return [
    implement(notifyApi.forms, () => ({ forms: describeForms() })),
    implement(notifyApi.filled, async ({ params, query: { id } }) => {
      const { entries } = await readKey(await getConfiguration(parseKey(params['key'])), engine);
      const filled = fillForm(getEntry(entries, { line: Number(params['line']), id }).typedUrl);
      if (filled !== undefined) return filled;
      throw new Problem('notify.no_form', 404, 'This kind of destination has no form; write its address.');
    }),
    implement(notifyApi.addDestination, async ({ params, body }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      const written = (await configurations.find(key)) ?? ({ format: 'text', text: '' } as const);
      if ((await readKey(written, engine)).entries.length >= maxDestinations) {
        throw new Problem('notify.too_many', 422, `A key has ${String(maxDestinations)} destinations at most.`);
      }
      const url = await resolveUrl(body, engine);
      if (url === undefined) throw createFieldProblem('url', 'Write the address of the destination.');
      return save(key, addEntry(written, url, body.tags));
    }),
    implement(notifyApi.changeDestination, async ({ params, body }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      const configuration = await getConfiguration(key);
      const entry = getEntry((await readKey(configuration, engine)).entries, body);
      const url = (await resolveUrl(body, engine, entry.typedUrl)) ?? entry.typedUrl;
      return save(key, changeEntry(configuration, entry, url, body.tags));
    }),
    implement(notifyApi.removeDestination, async ({ params, body }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      const configuration = await getConfiguration(key);
      return save(key, removeEntry(configuration, getEntry((await readKey(configuration, engine)).entries, body)));
    }),
  ];
}

/** Routes that evaluate tags and send tests. */
function selectionRoutes(dependencies: ApiDependencies, { getConfiguration }: KeyTools): readonly ApiHandler[] {
  const { context, engine } = dependencies;
  return [
    implement(notifyApi.choose, async ({ params, query: { tag } }) => {
      const { options, ...configuration } = await getConfiguration(parseKey(params['key']));
      const { entries } = await readKey(configuration, engine);
      const expression = parseExpression(tag);
      const chosen = selectDestinations(entries, expression, options.withoutTag);
      const chainLevels = planEscalation(chosen, expression);
      const destinations = entries.map((entry) => ({
        line: entry.line,
        service: entry.destination.service,
        url: entry.destination.url(true),
        effectiveTags: entry.tags.map(({ name }) => name),
        ...explainSelection(entry.tags, expression, options.withoutTag, chainLevels[chosen.indexOf(entry)]),
      }));
      return { destinations };
    }),
    implement(notifyApi.test, async ({ params, body: { line, tag } }) => {
      const key = parseKey(params['key']);
      const { entries } = await readKey(await getConfiguration(key), engine);
      const selectedEntries = selectDestinations(entries, parseExpression(tag)).filter(
        (entry) => line === undefined || entry.line === line,
      );
      if (selectedEntries.length > maxTestDestinations) {
        throw new Problem(
          'notify.too_many',
          422,
          `At most ${String(maxTestDestinations)} destinations are tried at once.`,
        );
      }
      const results = await Promise.all(
        selectedEntries.map((entry) => testSend(context, dependencies.stores, key, entry)),
      );
      dependencies.activity.touch();
      return { results };
    }),
  ];
}

function formatMaskedUrl({ destination, ruleArguments }: Entry): string {
  return withRules(destination.url(true), ruleArguments);
}

function createTakenProblem(field: string, key: string): Problem {
  const message = `There is a key ${key} already.`;
  return new Problem('notify.key_taken', 409, message, { fields: { [field]: message } });
}

function getEntry(entries: readonly Entry[], { line, id }: { readonly line: number; readonly id: string }): Entry {
  const entry = entries.find((each) => each.line === line && each.id === id);
  if (entry !== undefined) return entry;
  throw new Problem('notify.changed_meanwhile', 409, 'This destination was changed meanwhile. Read the list again.');
}

function parseKey(text: string | undefined): string {
  const key = NotifyKeyName.safeParse(text);
  if (key.success) return key.data;
  throw createFieldProblem('key', 'Use letters, digits, - and _ only, 128 at most.', 'notify.bad_key');
}

function toWritten(text: string): WrittenConfiguration {
  return { format: guessFormat(text), text };
}

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
async function resolveUrl(
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
    if (unusable !== undefined)
      throw createFieldProblem(`delivery.${name}`, `This cannot be used: ${unusable.reason}.`);
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
    const message = 'This address needs the Apprise engine. Install it on the page Engines, then add it again.';
    throw createFieldProblem('url', message, 'notify.needs_engine');
  }
  if (unusable !== undefined) throw createFieldProblem('url', `This cannot be used: ${unusable.reason}.`);
  if (/[\r\n]/.test(url)) throw createFieldProblem('url', 'Write it in one line.');
  return url;
}

function parseExpression(tag: string | undefined): TagExpression | undefined {
  const field = parseTagField(tag?.trim() === '' ? undefined : tag);
  if (field.kind === 'none') return undefined;
  if (field.kind === 'expression') return field.expression;
  throw createFieldProblem('tag', 'Write tags with commas (or) and spaces (and) between them.', 'notify.bad_tag');
}

function createFieldProblem(field: string, message: string, code = 'notify.bad_destination'): Problem {
  return new Problem(code, 422, message, { fields: { [field]: message } });
}
