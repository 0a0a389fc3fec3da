import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi, NotifyKeyName, type NotifyDestination, type NotifyKey } from '../../contracts/notify-api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { mostDestinations, type Aggregator, type TaggedDestination } from '../aggregator.ts';
import { deliver, type Deliveries } from '../deliveries.ts';
import { destinationId, parseDestination } from '../destinations/catalogue.ts';
import { parseTextConfiguration } from '../domain/configuration.ts';
import { tagsOfLine, withDestination, withLine, withoutLine } from '../domain/edit.ts';
import { parseTagField, selectDestinations, type TagExpression } from '../domain/tags.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import { History } from '../store/history.ts';
import type { NoticeStore } from '../store/notices.ts';

interface ApiParts {
  readonly context: Context;
  readonly aggregator: Aggregator;
  readonly configurations: ConfigurationStore;
  readonly notices: NoticeStore;
  readonly deliveries: Deliveries;
}

/** A destination of a key, as the page names it and as it is sent to. */
interface Entry extends TaggedDestination {
  readonly shown: NotifyDestination;
}

const done = { ok: true } as const;
/** Given-up deliveries that are looked through for the one that is asked for. */
const mostDead = 5000;

/** The service's part of our own API. */
export function notifyHandlers(parts: ApiParts): readonly ApiHandler[] {
  return [...keyHandlers(parts), ...noticeHandlers(parts)];
}

function keyHandlers({ context, aggregator, configurations }: ApiParts): readonly ApiHandler[] {
  const textOf = async (key: string): Promise<string> => {
    const configuration = await configurations.find(key);
    if (configuration === undefined) throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
    return configuration.text;
  };
  const save = async (key: string, text: string): Promise<NotifyKey> => {
    await configurations.save(key, text, context.clock.now());
    context.log.info('configuration saved', { key });
    return shownKey(key, text);
  };
  const chosen = async (key: string, tag: string | undefined): Promise<readonly Entry[]> =>
    selectDestinations(read(await textOf(key)).entries, expressionOf(tag));

  return [
    implement(notifyApi.keys, async () => {
      const keys = await configurations.keys();
      return { keys: await Promise.all(keys.map(async (key) => shownKey(key, await textOf(key)))) };
    }),
    implement(notifyApi.addDestination, async ({ params, body }) => {
      const key = keyOf(params['key']);
      const text = (await configurations.find(key))?.text ?? '';
      if (read(text).entries.length >= mostDestinations) {
        throw new Problem('notify.too_many', 422, `A key has ${String(mostDestinations)} destinations at most.`);
      }
      return save(key, withDestination(text, fit(body.url), body.tags));
    }),
    implement(notifyApi.changeDestination, async ({ params, body }) => {
      const key = keyOf(params['key']);
      const text = await textOf(key);
      const { destination } = found(read(text).entries, body);
      const url = body.url === undefined ? destination.url(false) : fit(body.url);
      return save(key, withLine(text, body.line, url, body.tags));
    }),
    implement(notifyApi.removeDestination, async ({ params, body }) => {
      const key = keyOf(params['key']);
      const text = await textOf(key);
      found(read(text).entries, body);
      return save(key, withoutLine(text, body.line));
    }),
    implement(notifyApi.removeKey, async ({ params }) => {
      const key = keyOf(params['key']);
      if (!(await configurations.remove(key))) {
        throw new Problem('notify.unknown_key', 404, `There is no key ${key}.`);
      }
      context.log.info('configuration removed', { key });
      return done;
    }),
    implement(notifyApi.choose, async ({ params, query }) => ({
      chosen: (await chosen(keyOf(params['key']), query.tag)).map(({ shown }) => shown),
    })),
    implement(notifyApi.test, async ({ params, body: { line, tag } }) => {
      const key = keyOf(params['key']);
      const asked = (await chosen(key, tag)).filter(({ shown }) => line === undefined || shown.line === line);
      const notice = {
        title: 'Test from Homeport',
        body: `This came through the key ${key}.`,
        ...{ type: 'info' as const, format: 'text' as const, tags: [], source: 'notify' },
      };
      // One notice each, so that every answer can be told apart.
      const answers = await Promise.all(
        asked.map(async (entry) => {
          const outcomes = await aggregator.post(key, [entry], undefined, notice);
          return outcomes.map(({ state, detail }) => ({ ...pick(entry), state, detail }));
        }),
      );
      return { results: answers.flat() };
    }),
  ];
}

function noticeHandlers({ context, notices, deliveries }: ApiParts): readonly ApiHandler[] {
  const { jobs } = context;
  const history = new History(context.db);
  const dead = async (): Promise<ReadonlyMap<string, string>> => {
    const list = await jobs.list({ state: 'dead', kind: deliver.name, limit: mostDead });
    return new Map(list.map(({ key, id }) => [key ?? '', id]));
  };
  const jobOf = async ({ notice, destination }: { notice: string; destination: string }): Promise<string> => {
    const id = (await dead()).get(`${notice}:${destination}`);
    if (id !== undefined) return id;
    throw new Problem('notify.not_given_up', 404, 'This delivery is not among the given-up ones any more.');
  };
  return [
    implement(notifyApi.notices, async ({ query: { before, limit, state } }) => {
      const [list, given, waiting] = await Promise.all([
        history.list({ before, state, limit }),
        dead(),
        notices.countWaiting(),
      ]);
      return {
        notices: list.map((notice) => ({
          ...notice,
          deliveries: notice.deliveries.map((each) => ({
            ...each,
            givenUp: each.state === 'dead' && given.has(`${notice.id}:${each.destination}`),
          })),
        })),
        givenUp: given.size,
        waiting,
      };
    }),
    implement(notifyApi.retry, async ({ body }) => {
      await jobs.retry(await jobOf(body));
      return done;
    }),
    implement(notifyApi.drop, async ({ body }) => {
      await jobs.drop(await jobOf(body));
      context.log.info('given-up notification dropped', { failing: deliveries.failing });
      return done;
    }),
  ];
}

function read(text: string): { readonly entries: readonly Entry[]; readonly skipped: NotifyKey['skipped'] } {
  const { entries, skipped } = parseTextConfiguration(text);
  const useless: NotifyKey['skipped'] = [...skipped];
  const usable = entries.flatMap(({ url, tags, line }): Entry[] => {
    const destination = parseDestination(url);
    if (typeof destination === 'string') {
      useless.push({ line, reason: destination });
      return [];
    }
    const shown = {
      ...{ line, id: destinationId(destination), service: destination.service, url: destination.url(true) },
      ...{ tags: [...tagsOfLine(text, line)], worn: tags.map(({ name }) => name) },
    };
    return [{ destination, tags, shown }];
  });
  return { entries: usable, skipped: useless.sort((a, b) => a.line - b.line) };
}

function shownKey(key: string, text: string): NotifyKey {
  const { entries, skipped } = read(text);
  return { key, destinations: entries.map(({ shown }) => shown), skipped };
}

function pick({ shown: { line, url } }: Entry): { line: number; url: string } {
  return { line, url };
}

function found(entries: readonly Entry[], { line, id }: { readonly line: number; readonly id: string }): Entry {
  const entry = entries.find(({ shown }) => shown.line === line && shown.id === id);
  if (entry !== undefined) return entry;
  throw new Problem('notify.changed_meanwhile', 409, 'This destination was changed meanwhile. Read the list again.');
}

function keyOf(text: string | undefined): string {
  const key = NotifyKeyName.safeParse(text);
  if (key.success) return key.data;
  const message = 'Use letters, digits, - and _ only, 128 at most.';
  throw new Problem('notify.bad_key', 422, message, { fields: { key: message } });
}

/** The address as it was typed, when it is one. @throws Problem with what is wrong with it. */
function fit(url: string): string {
  const destination = parseDestination(url);
  if (typeof destination !== 'string' && !/[\r\n]/.test(url)) return url;
  const message = typeof destination === 'string' ? `This cannot be used: ${destination}.` : 'Write it in one line.';
  throw new Problem('notify.bad_destination', 422, message, { fields: { url: message } });
}

function expressionOf(tag: string | undefined): TagExpression | undefined {
  const field = parseTagField(tag?.trim() === '' ? undefined : tag);
  if (field.kind === 'none') return undefined;
  if (field.kind === 'expression') return field.expression;
  const message = 'Write tags with commas (or) and spaces (and) between them.';
  throw new Problem('notify.bad_tag', 422, message, { fields: { tag: message } });
}
