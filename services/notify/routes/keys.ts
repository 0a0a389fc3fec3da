import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi, NotifyKeyName, type NotifyDestination, type NotifyKey } from '../../contracts/notify-api.ts';
import type { FormValues } from '../../contracts/notify-forms.ts';
import { Problem } from '../../contracts/problem.ts';
import { mostDestinations } from '../aggregator.ts';
import { parseDestination } from '../destinations/catalogue.ts';
import { describeForms, fillForm, writeForm } from '../destinations/forms.ts';
import { looksLikeYaml } from '../domain/configuration.ts';
import { withDestination, withLine, withoutLine } from '../domain/edit.ts';
import { explainChoice } from '../domain/explain.ts';
import { parseTagField, selectDestinations, type TagExpression } from '../domain/tags.ts';
import { deliveryIds, maskedText, readKey, type Entry } from '../read-key.ts';
import { healthOf, type History } from '../store/history.ts';
import { tryDestination } from '../trial.ts';
import type { ApiParts } from './api.ts';

const done = { ok: true } as const;
/** Destinations that are tried at once by one test. */
const mostTrials = 50;

/** Keys, their destinations, and what is tried on them. */
export function keyHandlers(parts: ApiParts, history: History): readonly ApiHandler[] {
  const { context, configurations, settings } = parts;
  const textOf = async (key: string): Promise<string> => {
    const configuration = await configurations.find(key);
    if (configuration === undefined) throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
    return configuration.text;
  };
  const unlocked = (): void => {
    if (!settings.configurationLock) return;
    throw new Problem('notify.locked', 403, 'Keys are locked. The settings of Notifications unlock them.');
  };
  const shown = async (key: string, text: string): Promise<NotifyKey> => {
    const { entries, skipped } = readKey(text);
    const health = await history.health(entries.flatMap(deliveryIds));
    const destinations = entries.map((entry): NotifyDestination => ({
      ...{ line: entry.line, id: entry.id, service: entry.destination.service, url: entry.destination.url(true) },
      ...{ tags: [...entry.own], worn: entry.tags.map(({ name }) => name) },
      health: healthOf(deliveryIds(entry), health),
    }));
    return { key, format: 'text', destinations, skipped };
  };
  const save = async (key: string, text: string): Promise<NotifyKey> => {
    await configurations.save(key, text, context.clock.now());
    context.log.info('configuration saved', { key });
    parts.activity.touch();
    return shown(key, text);
  };

  return [
    implement(notifyApi.keys, async () => {
      const keys = await configurations.keys();
      return { keys: await Promise.all(keys.map(async (key) => shown(key, await textOf(key)))) };
    }),
    implement(notifyApi.createKey, async ({ body: { key, text } }) => {
      unlocked();
      if ((await configurations.find(key)) !== undefined) throw taken('key', key);
      return save(key, importable(text));
    }),
    implement(notifyApi.renameKey, async ({ params, body: { to } }) => {
      unlocked();
      const key = keyOf(params['key']);
      const text = await textOf(key);
      if (to !== key && !(await configurations.rename(key, to, context.clock.now()))) throw taken('to', to);
      context.log.info('configuration renamed', { key, to });
      parts.activity.touch();
      return shown(to, text);
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
      const text = await textOf(key);
      request.setHeader('Cache-Control', 'no-store');
      if (query.secrets === 'false') return { format: 'text', text: maskedText(text) };
      unlocked();
      context.log.info('configuration exported with its secrets', { key });
      return { format: 'text', text };
    }),
    implement(notifyApi.importKey, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      await textOf(key);
      return save(key, importable(body.text));
    }),
    implement(notifyApi.forms, () => ({ forms: describeForms() })),
    implement(notifyApi.filled, async ({ params, query: { id } }) => {
      const { entries } = readKey(await textOf(keyOf(params['key'])));
      const filled = fillForm(found(entries, { line: Number(params['line']), id }).typed);
      if (filled !== undefined) return filled;
      throw new Problem('notify.no_form', 404, 'This kind of destination has no form; write its address.');
    }),
    implement(notifyApi.addDestination, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      const text = (await configurations.find(key))?.text ?? '';
      if (readKey(text).entries.length >= mostDestinations) {
        throw new Problem('notify.too_many', 422, `A key has ${String(mostDestinations)} destinations at most.`);
      }
      const url = urlOf(body);
      if (url === undefined) throw wrong('url', 'Write the address of the destination.');
      return save(key, withDestination(text, url, body.tags));
    }),
    implement(notifyApi.changeDestination, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      const text = await textOf(key);
      const { typed } = found(readKey(text).entries, body);
      return save(key, withLine(text, body.line, urlOf(body, typed) ?? typed, body.tags));
    }),
    implement(notifyApi.removeDestination, async ({ params, body }) => {
      unlocked();
      const key = keyOf(params['key']);
      const text = await textOf(key);
      found(readKey(text).entries, body);
      return save(key, withoutLine(text, body.line));
    }),
    implement(notifyApi.choose, async ({ params, query: { tag } }) => {
      const { entries } = readKey(await textOf(keyOf(params['key'])));
      const expression = expressionOf(tag);
      const destinations = entries.map((entry) => ({
        ...{ line: entry.line, service: entry.destination.service, url: entry.destination.url(true) },
        ...{ worn: entry.tags.map(({ name }) => name), ...explainChoice(entry.tags, expression) },
      }));
      return { destinations };
    }),
    implement(notifyApi.test, async ({ params, body: { line, tag } }) => {
      const key = keyOf(params['key']);
      const { entries } = readKey(await textOf(key));
      const asked = selectDestinations(entries, expressionOf(tag)).filter(
        (entry) => line === undefined || entry.line === line,
      );
      if (asked.length > mostTrials) {
        throw new Problem('notify.too_many', 422, `At most ${String(mostTrials)} destinations are tried at once.`);
      }
      const results = await Promise.all(asked.map((entry) => tryDestination(context, parts.notices, key, entry)));
      parts.activity.touch();
      return { results };
    }),
  ];
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

function importable(text: string): string {
  if (!looksLikeYaml(text)) return text;
  throw wrong('text', 'This is YAML, which is not read yet. Write one destination a line.', 'notify.bad_format');
}

/** The address that was typed or filled in, when it is one. @throws Problem with what is wrong with it. */
function urlOf(
  body: {
    readonly url?: string | undefined;
    readonly form?: { readonly scheme: string; readonly values: FormValues } | undefined;
  },
  stored?: string,
): string | undefined {
  if (body.form !== undefined) {
    const written = writeForm(body.form, stored);
    if ('url' in written) return fit(written.url);
    const [first = ''] = Object.values(written.wrong);
    throw new Problem('notify.bad_destination', 422, first, { fields: written.wrong });
  }
  return body.url === undefined ? undefined : fit(body.url);
}

function fit(url: string): string {
  const destination = parseDestination(url);
  if (typeof destination === 'string') throw wrong('url', `This cannot be used: ${destination}.`);
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
