import * as m from '#messages/notify-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi, NotifyKeyName } from '../../contracts/notify/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { describeForms, fillForm } from '../destinations/forms.ts';
import { planEscalation } from '../domain/escalation.ts';
import { explainSelection } from '../domain/explain-selection.ts';
import { guessFormat } from '../domain/parse-configuration.ts';
import { parseTagField, selectDestinations, type TagExpression } from '../domain/tags.ts';
import { addEntry, changeEntry, removeEntry } from '../keys/edit-key.ts';
import { maskedText, maxDestinations, readKey, type Entry } from '../keys/read-key.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';
import { testSend } from '../deliver/test-send.ts';
import type { ApiDependencies } from './dependencies.ts';
import { type KeyTools, createKeyTools, formatMaskedUrl } from './key-tools.ts';
import { resolveUrl, createFieldProblem } from './destination-drafts.ts';

const okReply = { ok: true } as const;

/** Maximum number of destinations in one test. */
const maxTestDestinations = 50;

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
        throw new Problem('notify.unknown_key', 404, m.keyUnknown({ key }));
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
      throw new Problem('notify.no_form', 404, m.destinationWithoutForm());
    }),
    implement(notifyApi.addDestination, async ({ params, body }) => {
      requireUnlocked();
      const key = parseKey(params['key']);
      const written = (await configurations.find(key)) ?? ({ format: 'text', text: '' } as const);
      if ((await readKey(written, engine)).entries.length >= maxDestinations) {
        throw new Problem('notify.too_many', 422, m.tooManyDestinations({ limit: maxDestinations }));
      }
      const url = await resolveUrl(body, engine);
      if (url === undefined) throw createFieldProblem('url', m.addressMissing());
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
        throw new Problem('notify.too_many', 422, m.tooManyTests({ limit: maxTestDestinations }));
      }
      const results = await Promise.all(
        selectedEntries.map((entry) => testSend(context, dependencies.stores, key, entry)),
      );
      dependencies.activity.touch();
      return { results };
    }),
  ];
}

function createTakenProblem(field: string, key: string): Problem {
  const message = m.keyTaken({ key });
  return new Problem('notify.key_taken', 409, message, { fields: { [field]: message } });
}

function getEntry(entries: readonly Entry[], { line, id }: { readonly line: number; readonly id: string }): Entry {
  const entry = entries.find((each) => each.line === line && each.id === id);
  if (entry !== undefined) return entry;
  throw new Problem('notify.changed_meanwhile', 409, m.destinationChanged());
}

function parseKey(text: string | undefined): string {
  const key = NotifyKeyName.safeParse(text);
  if (key.success) return key.data;
  throw createFieldProblem('key', m.keyInvalid(), 'notify.bad_key');
}

function toWritten(text: string): WrittenConfiguration {
  return { format: guessFormat(text), text };
}

function parseExpression(tag: string | undefined): TagExpression | undefined {
  const field = parseTagField(tag?.trim() === '' ? undefined : tag);
  if (field.kind === 'none') return undefined;
  if (field.kind === 'expression') return field.expression;
  throw createFieldProblem('tag', m.tagExpressionInvalid(), 'notify.bad_tag');
}
